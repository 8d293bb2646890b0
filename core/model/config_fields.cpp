#include "core/model/config_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vsim::core {
namespace {

/// Whether two words are within two edits: a slip of the keyboard, not another field.
bool isSlip(const std::string& a, const std::string& b) {
  constexpr std::size_t kEdits = 2;
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > kEdits) return false;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back() <= kEdits;
}

}  // namespace

void ConfigFields::errorAt(int line, int column, std::string message, std::string hint) {
  errors_.push_back({.message = std::move(message),
                     .file = file_,
                     .line = line,
                     .column = column,
                     .hint = std::move(hint)});
}

void ConfigFields::error(const char* name, std::string message, std::string hint) {
  const JsonMember* member = object_.find(name);
  errorAt(member ? member->value.line : object_.line, member ? member->value.column : object_.column,
          std::move(message), std::move(hint));
}

bool ConfigFields::isUsed(const std::string& key) const {
  return std::find(used_.begin(), used_.end(), key) != used_.end();
}

const JsonMember* ConfigFields::find(Names names) {
  const JsonMember* found = nullptr;
  for (const char* name : names) {
    const JsonMember* member = object_.find(name);
    if (!member) {
      absent_.emplace_back(name);
      continue;
    }
    used_.emplace_back(name);
    if (member->value.kind == JsonNode::Kind::null) continue;
    if (!found) {
      found = member;
    } else if (found->value.kind == JsonNode::Kind::integer &&
               member->value.kind == JsonNode::Kind::integer &&
               found->value.integer != member->value.integer) {
      errorAt(member->value.line, member->value.column,
              fmt::format("\"{}\" and \"{}\" are the same setting with two values, {} and {}", found->key,
                          name, found->value.text, member->value.text));
    }
  }
  return found;
}

const JsonMember* ConfigFields::findTyped(Names names, JsonNode::Kind kind) {
  const JsonMember* member = find(names);
  if (!member || member->value.kind == kind) return member;
  errorAt(
      member->value.line, member->value.column,
      fmt::format("\"{}\" must be {}, not {}", member->key, describe(kind), describe(member->value.kind)));
  return nullptr;
}

std::int64_t ConfigFields::checked(const JsonNode& value, const std::string& name, std::int64_t least,
                                   std::int64_t most) {
  const auto fail = [&](std::string message, std::string hint = {}) {
    errorAt(value.line, value.column, std::move(message), std::move(hint));
    return least;
  };
  if (value.kind == JsonNode::Kind::string)
    return fail(
        fmt::format("\"{}\" must be a number, not text", name),
        value.text.find_first_not_of("0123456789") == std::string::npos ? "write it without quotes" : "");
  if (value.kind != JsonNode::Kind::integer && value.kind != JsonNode::Kind::real)
    return fail(fmt::format("\"{}\" must be a number, not {}", name, describe(value.kind)));
  if (value.kind == JsonNode::Kind::real) {
    // Digits alone that did not fit 64 bits, or an exponent that makes it too large.
    double number = 0.0;
    try {
      number = std::stod(value.text);
    } catch (const std::out_of_range&) {
      number = value.text.front() == '-' ? -HUGE_VAL : HUGE_VAL;
    }
    if (number > static_cast<double>(most))
      return fail(fmt::format("\"{}\" is {}: too large", name, value.text), fmt::format("at most {}", most));
    return fail(fmt::format("\"{}\" is {}: must be a whole number", name, value.text));
  }
  if (value.integer < least)
    return fail(fmt::format("\"{}\" is {}: must be at least {}", name, value.integer, least));
  if (value.integer > most)
    return fail(fmt::format("\"{}\" is {}: too large", name, value.integer), fmt::format("at most {}", most));
  return value.integer;
}

std::int64_t ConfigFields::count(Names names, std::int64_t limit) {
  const std::size_t before = absent_.size();
  if (const JsonMember* member = find(names)) return checked(member->value, member->key, 1, limit);
  const char* name = *names.begin();
  if (const JsonMember* null = object_.find(name)) {
    errorAt(null->value.line, null->value.column, fmt::format("\"{}\" is null: must be a number", name));
  } else {
    absent_.resize(before);
    missing_.emplace_back(name);
  }
  return 1;
}

std::int64_t ConfigFields::countOr(Names names, std::int64_t limit, std::int64_t absent) {
  const JsonMember* member = find(names);
  return member ? checked(member->value, member->key, 1, limit) : absent;
}

std::int64_t ConfigFields::numberOr(Names names, std::int64_t limit, std::int64_t absent) {
  const JsonMember* member = find(names);
  return member ? checked(member->value, member->key, 0, limit) : absent;
}

bool ConfigFields::flagOr(Names names, bool absent) {
  const JsonMember* member = findTyped(names, JsonNode::Kind::boolean);
  return member ? member->value.boolean : absent;
}

std::string ConfigFields::textOr(Names names, const std::string& absent) {
  const JsonMember* member = findTyped(names, JsonNode::Kind::string);
  return member ? member->value.text : absent;
}

std::optional<std::vector<std::int64_t>> ConfigFields::numbers(Names names, std::int64_t limit) {
  const JsonMember* member = findTyped(names, JsonNode::Kind::array);
  if (!member) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const JsonNode& item : member->value.items) result.push_back(checked(item, member->key, 0, limit));
  return result;
}

std::optional<std::vector<std::string>> ConfigFields::texts(Names names) {
  const JsonMember* member = findTyped(names, JsonNode::Kind::array);
  if (!member) return std::nullopt;
  std::vector<std::string> result;
  for (const JsonNode& item : member->value.items) {
    if (item.kind != JsonNode::Kind::string)
      errorAt(item.line, item.column,
              fmt::format("\"{}\" must be a list of texts, not of {}", member->key, describe(item.kind)));
    result.push_back(item.text);
  }
  return result;
}

const JsonNode* ConfigFields::object(Names names) {
  const JsonMember* member = findTyped(names, JsonNode::Kind::object);
  return member ? &member->value : nullptr;
}

void ConfigFields::absorb(ConfigFields& nested) {
  nested.finish();
  errors_.insert(errors_.end(), nested.errors_.begin(), nested.errors_.end());
}

std::vector<std::string> ConfigFields::finish() {
  std::vector<std::string> ignored;
  for (const JsonMember& member : object_.members) {
    if (isUsed(member.key)) continue;
    std::string meant = nearest(member.key, missing_);
    if (meant.empty()) {
      for (const std::string& candidate : absent_)
        if (isSlip(member.key, candidate)) meant = candidate;
    } else {
      std::erase(missing_, meant);
    }
    if (meant.empty())
      ignored.push_back(member.key);
    else
      errorAt(member.line, member.column, fmt::format("unknown field \"{}\"", member.key),
              fmt::format("did you mean \"{}\"?", meant));
  }
  for (const std::string& name : missing_)
    errorAt(object_.line, object_.column, fmt::format("field \"{}\" is missing", name));
  return ignored;
}

}  // namespace vsim::core
