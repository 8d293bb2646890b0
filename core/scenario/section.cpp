#include "core/scenario/section.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include "core/scenario/reader.h"

namespace vsim::core {

void Problems::add(const Place& place, std::string message, std::string hint) {
  Error error{std::move(message), file_, place.line, place.column, std::move(hint)};
  if (place.source > 0) {
    error.file = "--set " + settings_.at(static_cast<std::size_t>(place.source - 1));
    error.line = error.column = 0;
  }
  add(std::move(error));
}

void Problems::add(Error error) {
  if (errors_.size() >= kMaxProblems)
    ++left_;
  else
    errors_.push_back(std::move(error));
}

Errors Problems::take() {
  Errors errors = std::move(errors_);
  const auto order = [&](const Error& e) { return std::tuple(e.file != file_, e.line, e.column); };
  std::stable_sort(errors.begin(), errors.end(),
                   [&](const Error& a, const Error& b) { return order(a) < order(b); });
  Errors once;
  for (Error& error : errors) {
    const bool seen = std::any_of(once.begin(), once.end(),
                                  [&](const Error& other) { return other.text() == error.text(); });
    if (!seen) once.push_back(std::move(error));
  }
  if (left_ > 0) once.push_back(Error{.message = fmt::format("and {} more problems", left_), .file = file_});
  left_ = 0;
  return once;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates,
                       std::string_view plural) {
  const std::string near = word.size() <= 100 ? nearest(word, candidates) : std::string();
  if (!near.empty()) return fmt::format("did you mean '{}'?", near);
  std::string known;
  for (const std::string& candidate : candidates) known += (known.empty() ? "" : ", ") + candidate;
  return fmt::format("known {}: {}", plural, known);
}

void expected(Problems& problems, const Node& node, const std::string& path, std::string_view what) {
  problems.add(node.place, fmt::format("{}: expected {}, found {}", path, what, shownNode(node)));
}

std::optional<std::int64_t> countAt(Problems& problems, const Node& node, const std::string& path,
                                    std::int64_t min, std::int64_t max) {
  if (node.kind != NodeKind::scalar) {
    expected(problems, node, path, "a whole number");
    return std::nullopt;
  }
  const auto value = parseCount(node.value);
  if (!value) {
    problems.add(node.place, path + ": " + value.error().message, value.error().hint);
    return std::nullopt;
  }
  if (*value < min || *value > max) {
    const std::string range = *value < min ? fmt::format("at least {}", min) : fmt::format("at most {}", max);
    problems.add(node.place, fmt::format("{}: {} is impossible: {}", path, *value, range));
    return std::nullopt;
  }
  return *value;
}

std::optional<bool> boolAt(Problems& problems, const Node& node, const std::string& path) {
  if (node.kind == NodeKind::scalar) {
    for (const char* word : {"true", "True", "yes", "on"})
      if (node.value == word) return true;
    for (const char* word : {"false", "False", "no", "off"})
      if (node.value == word) return false;
  }
  expected(problems, node, path, "true or false");
  return std::nullopt;
}

std::optional<std::string> wordAt(Problems& problems, const Node& node, const std::string& path) {
  if (node.kind == NodeKind::scalar && !node.value.empty()) return node.value;
  expected(problems, node, path, "a text");
  return std::nullopt;
}

Section::Section(Problems& problems, const Node* node, std::string path)
    : problems_(problems), path_(std::move(path)) {
  if (!node) return;
  place_ = node->place;
  if (node->kind != NodeKind::map) {
    expected(problems_, *node, path_.empty() ? "the scenario" : path_, "a map of keys and values");
    return;
  }
  node_ = node;
  std::map<std::string, Place> seen;
  for (const auto& [key, value] : node->pairs) {
    if (key->kind != NodeKind::scalar) continue;
    const auto [first, added] = seen.emplace(key->value, key->place);
    if (!added)
      problems_.add(key->place, fmt::format("duplicate key {}", shownValue(key->value)),
                    fmt::format("first on line {}", first->second.line));
  }
}

std::string Section::pathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const Node* Section::find(std::string_view key) {
  const bool again = std::find(asked_.begin(), asked_.end(), key) != asked_.end();
  if (!again) asked_.emplace_back(key);
  if (!node_) return nullptr;
  for (const auto& [name, value] : node_->pairs) {
    if (name->kind != NodeKind::scalar || name->value != key) continue;
    if (value->kind != NodeKind::null) return value;
    // The parser places a missing value at the next token, so the key says better where it is missing.
    const Place& place = name->place.line > 0 ? name->place : value->place;
    if (!again) problems_.add(place, fmt::format("{} has no value", pathOf(key)));
    return nullptr;
  }
  return nullptr;
}

const Node* Section::require(std::string_view key, const std::string& why) {
  const Node* node = find(key);
  if (node || !node_) return node;
  const bool written = std::any_of(node_->pairs.begin(), node_->pairs.end(), [&](const auto& pair) {
    return pair.first->kind == NodeKind::scalar && pair.first->value == key;
  });
  if (!written) problems_.add(place_, fmt::format("{} is missing", pathOf(key)), why);
  return nullptr;
}

bool Section::count(std::string_view key, std::int64_t& target, std::int64_t min, std::int64_t max) {
  const Node* node = find(key);
  if (!node) return false;
  const auto value = countAt(problems_, *node, pathOf(key), min, max);
  if (value) target = *value;
  return value.has_value();
}

bool Section::fraction(std::string_view key, double& target, double max) {
  const Node* node = find(key);
  if (!node) return false;
  const std::string path = pathOf(key);
  double value = 0;
  const char* end = node->value.data() + node->value.size();
  const auto parsed = std::from_chars(node->value.data(), end, value);
  if (node->kind != NodeKind::scalar || parsed.ec != std::errc() || parsed.ptr != end || std::isnan(value)) {
    expected(problems_, *node, path, "a number");
    return false;
  }
  if (!(value > 0) || value > max) {
    problems_.add(node->place, fmt::format("{}: {} is impossible: above 0, at most {}", path,
                                           shownValue(node->value), max));
    return false;
  }
  target = value;
  return true;
}

bool Section::flag(std::string_view key, bool& target) {
  const Node* node = find(key);
  if (!node) return false;
  const auto value = boolAt(problems_, *node, pathOf(key));
  if (value) target = *value;
  return value.has_value();
}

bool Section::word(std::string_view key, std::string& target) {
  const Node* node = find(key);
  if (!node) return false;
  auto value = wordAt(problems_, *node, pathOf(key));
  if (value) target = std::move(*value);
  return value.has_value();
}

std::optional<std::size_t> Section::choiceIndex(const Node& node, const std::string& path,
                                                const std::vector<std::string>& names,
                                                std::string_view plural) {
  if (node.kind != NodeKind::scalar) {
    expected(problems_, node, path, "one word");
    return std::nullopt;
  }
  const auto found = std::find(names.begin(), names.end(), node.value);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  problems_.add(node.place, fmt::format("{}: {} is not known", path, shownValue(node.value)),
                suggestion(node.value, names, plural));
  return std::nullopt;
}

void Section::finish() {
  if (!node_) return;
  for (const auto& [key, value] : node_->pairs) {
    if (key->kind != NodeKind::scalar) {
      problems_.add(key->place, fmt::format("expected a key, found {}", shownNode(*key)));
    } else if (key->value == "<<") {
      problems_.add(key->place, "merge keys (<<) are not read", "write the keys out");
    } else if (std::find(asked_.begin(), asked_.end(), key->value) == asked_.end()) {
      const std::string where = path_.empty() ? "" : " in " + path_;
      problems_.add(key->place, fmt::format("unknown key {}{}", shownValue(key->value), where),
                    suggestion(key->value, asked_, "keys"));
    }
  }
}

}  // namespace vsim::core
