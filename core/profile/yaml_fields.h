#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/error.h"
#include "core/profile/profile.h"

namespace vsim::core {

/// Ranks, GPUs and nodes of a profile stay below this.
inline constexpr std::int64_t kMostRanks = std::int64_t{1} << 24;

/// Typed access to the maps of one YAML file; collects what is wrong with them, each with its place.
class YamlFields {
 public:
  using Keys = std::vector<std::string>;
  using ParseQuantity = std::optional<double> (*)(std::string_view);

  explicit YamlFields(std::string path) : path_(std::move(path)) {}

  void add(const YAML::Mark& mark, std::string message, std::string hint = {});
  /// A problem of the entry that begins on `line` (from 1).
  void addAt(int line, std::string message);
  [[nodiscard]] bool full() const;

  /// `node` is a map with no other keys than `known`, none twice.
  bool checkMap(const YAML::Node& node, const std::string& what, const Keys& known);
  void require(const YAML::Node& map, const std::string& what, const Keys& keys);

  /// The value of `key`, undefined when absent.
  static YAML::Node find(const YAML::Node& map, const std::string& key);
  static bool has(const YAML::Node& map, const std::string& key) { return find(map, key).IsDefined(); }

  /// The getters answer nothing when the key is absent, or wrong, which is reported.
  std::optional<std::string> text(const YAML::Node& map, const std::string& key);
  std::optional<bool> flag(const YAML::Node& map, const std::string& key);
  /// A whole number of at least `least` and at most `most`.
  std::optional<std::int64_t> whole(const YAML::Node& map, const std::string& key, std::int64_t least,
                                    std::int64_t most);
  /// A plain number from `least` to `most`; `what` describes it in the message.
  std::optional<double> number(const YAML::Node& map, const std::string& key, double least, double most,
                               const std::string& what);
  /// A positive quantity by `parse`.
  std::optional<double> quantity(const YAML::Node& map, const std::string& key, ParseQuantity parse,
                                 const char* example);
  /// One of `names`; the index.
  template <class Names>
  std::optional<std::size_t> choice(const YAML::Node& map, const std::string& key, const Names& names) {
    const YAML::Node node = find(map, key);
    if (!node.IsDefined()) return std::nullopt;
    return choiceOf(node, key, Keys(std::begin(names), std::end(names)));
  }
  /// As choice(), of a node that is no value of a key.
  std::optional<std::size_t> choiceOf(const YAML::Node& node, const std::string& key, const Keys& known);
  std::optional<DType> dtype(const YAML::Node& map);
  Origin origin(const YAML::Node& map, const Origin& defaults, const std::string& what);
  /// The entries of list `key`; empty when absent.
  std::vector<YAML::Node> list(const YAML::Node& map, const std::string& key);

  /// At most 40 bytes, control characters as '?'.
  static std::string clip(const std::string& text);
  /// "'abc'", "a list": what stands at a node, for messages.
  static std::string shown(const YAML::Node& node);

  [[nodiscard]] const Errors& errors() const { return errors_; }
  [[nodiscard]] Errors takeErrors() { return std::move(errors_); }

 private:
  std::string path_;
  Errors errors_;
};

}  // namespace vsim::core
