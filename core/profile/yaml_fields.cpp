#include "core/profile/yaml_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "core/profile/quantity.h"

namespace vsim::core {
namespace {

constexpr std::size_t kMostEntries = 100'000;
constexpr std::size_t kMostErrors = 100;

/// Plain digits to the last one (a double would round from 2^53), else a number with a unit prefix.
std::optional<std::int64_t> wholeFromText(const std::string& text) {
  std::int64_t digits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digits);
  if (error == std::errc() && end == text.data() + text.size()) return digits;
  const auto value = bytesFromText(text);
  if (!value || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

}  // namespace

void YamlFields::add(const YAML::Mark& mark, std::string message, std::string hint) {
  if (full()) return;
  const bool known = mark.line >= 0;
  errors_.push_back({.message = std::move(message),
                     .file = path_,
                     .line = known ? mark.line + 1 : 0,
                     .column = known ? mark.column + 1 : 0,
                     .hint = std::move(hint)});
}

void YamlFields::addAt(int line, std::string message) {
  if (full()) return;
  errors_.push_back({.message = std::move(message), .file = path_, .line = line, .column = 1});
}

bool YamlFields::full() const { return errors_.size() >= kMostErrors; }

bool YamlFields::checkMap(const YAML::Node& node, const std::string& what, const Keys& known) {
  if (!node.IsMap()) {
    add(node.Mark(), fmt::format("{} must be a map of keys and values", what));
    return false;
  }
  std::set<std::string> seen;
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) {
      add(pair.first.Mark(), fmt::format("a key of {} must be a plain word", what));
      continue;
    }
    const std::string key = pair.first.Scalar();
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string near = nearest(key, known);
      add(pair.first.Mark(), fmt::format("unknown key '{}' in {}", clip(key), what),
          near.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                       : fmt::format("did you mean '{}'?", near));
    } else if (!seen.insert(key).second) {
      add(pair.first.Mark(), fmt::format("key '{}' appears twice in {}", key, what));
    }
  }
  return true;
}

void YamlFields::require(const YAML::Node& map, const std::string& what, const Keys& keys) {
  for (const std::string& key : keys) {
    if (!has(map, key)) add(map.Mark(), fmt::format("{} needs '{}'", what, key));
  }
}

YAML::Node YamlFields::find(const YAML::Node& map, const std::string& key) {
  for (const auto& pair : map) {
    if (pair.first.IsScalar() && pair.first.Scalar() == key) return pair.second;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

std::optional<std::string> YamlFields::text(const YAML::Node& map, const std::string& key) {
  const YAML::Node node = find(map, key);
  if (!node.IsDefined()) return std::nullopt;
  if (!node.IsScalar() || node.Scalar().empty()) {
    add(node.Mark(), fmt::format("'{}' must be a text", key));
    return std::nullopt;
  }
  return node.Scalar();
}

std::optional<bool> YamlFields::flag(const YAML::Node& map, const std::string& key) {
  const YAML::Node node = find(map, key);
  if (!node.IsDefined()) return std::nullopt;
  if (node.IsScalar() && (node.Scalar() == "true" || node.Scalar() == "false"))
    return node.Scalar() == "true";
  add(node.Mark(), fmt::format("'{}' must be true or false, not {}", key, shown(node)));
  return std::nullopt;
}

std::optional<std::int64_t> YamlFields::whole(const YAML::Node& map, const std::string& key,
                                              std::int64_t least, std::int64_t most) {
  const YAML::Node node = find(map, key);
  if (!node.IsDefined()) return std::nullopt;
  const auto value = node.IsScalar() ? wholeFromText(node.Scalar()) : std::nullopt;
  if (!value) {
    add(node.Mark(), fmt::format("'{}' must be a whole number, not {}", key, shown(node)));
    return std::nullopt;
  }
  if (*value < least || *value > most) {
    add(node.Mark(), fmt::format("'{}' must be between {} and {}, not {}", key, least, most, shown(node)));
    return std::nullopt;
  }
  return value;
}

std::optional<double> YamlFields::number(const YAML::Node& map, const std::string& key, double least,
                                         double most, const std::string& what) {
  const YAML::Node node = find(map, key);
  if (!node.IsDefined()) return std::nullopt;
  double value = -1;
  if (node.IsScalar()) {
    const std::string& text = node.Scalar();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
      return value;
  }
  add(node.Mark(), fmt::format("'{}' must be {}, not {}", key, what, shown(node)));
  return std::nullopt;
}

std::optional<double> YamlFields::quantity(const YAML::Node& map, const std::string& key, ParseQuantity parse,
                                           const char* example) {
  const YAML::Node node = find(map, key);
  if (!node.IsDefined()) return std::nullopt;
  const std::optional<double> value = node.IsScalar() ? parse(node.Scalar()) : std::nullopt;
  if (!value) {
    add(node.Mark(), fmt::format("'{}' must be a number with a unit, not {}", key, shown(node)),
        fmt::format("for example {}", example));
    return std::nullopt;
  }
  if (!(*value > 0) || *value > 1e18) {
    add(node.Mark(), fmt::format("'{}' must be positive, not {}", key, shown(node)));
    return std::nullopt;
  }
  return value;
}

std::optional<std::size_t> YamlFields::choiceOf(const YAML::Node& node, const std::string& key,
                                                const Keys& known) {
  if (node.IsScalar()) {
    const auto place = std::find(known.begin(), known.end(), node.Scalar());
    if (place != known.end()) return static_cast<std::size_t>(place - known.begin());
  }
  const std::string near = node.IsScalar() ? nearest(clip(node.Scalar()), known) : std::string();
  add(node.Mark(), fmt::format("unknown {} {}", key, shown(node)),
      near.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                   : fmt::format("did you mean '{}'?", near));
  return std::nullopt;
}

std::optional<DType> YamlFields::dtype(const YAML::Node& map) {
  const auto name = text(map, "dtype");
  if (!name) return std::nullopt;
  const auto type = dtypeFromName(*name);
  if (!type)
    add(find(map, "dtype").Mark(), fmt::format("unknown dtype '{}'", clip(*name)), "fp32, bf16, fp16, fp8");
  return type;
}

Origin YamlFields::origin(const YAML::Node& map, const Origin& defaults, const std::string& what) {
  Origin result = defaults;
  result.line = map.Mark().line + 1;
  if (const auto p = choice(map, "provenance", kProvenanceNames))
    result.provenance = static_cast<Provenance>(*p);
  if (const auto source = text(map, "source")) result.source = *source;
  if (result.source.empty())
    add(map.Mark(), fmt::format("{} needs 'source' (or a source for the whole file)", what));
  if (const auto error = number(map, "error", 0, 1, "a fraction between 0 and 1"))
    result.relativeError = *error;
  return result;
}

std::vector<YAML::Node> YamlFields::list(const YAML::Node& map, const std::string& key) {
  std::vector<YAML::Node> entries;
  const YAML::Node node = find(map, key);
  if (!node.IsDefined() || node.IsNull()) return entries;
  if (!node.IsSequence()) {
    add(node.Mark(), fmt::format("'{}' must be a list", key));
    return entries;
  }
  if (node.size() > kMostEntries) {
    add(node.Mark(), fmt::format("'{}' has {} entries; at most {} are read", key, node.size(), kMostEntries));
    return entries;
  }
  for (const auto& entry : node) entries.push_back(entry);
  return entries;
}

std::string YamlFields::clip(const std::string& text) {
  std::string clipped = text.size() <= 40 ? text : text.substr(0, 37) + "...";
  for (char& c : clipped)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return clipped;
}

std::string YamlFields::shown(const YAML::Node& node) {
  if (node.IsScalar()) return "'" + clip(node.Scalar()) + "'";
  return node.IsSequence() ? "a list" : node.IsMap() ? "a map" : "nothing";
}

}  // namespace vsim::core
