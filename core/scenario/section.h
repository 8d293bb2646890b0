#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/scenario/document.h"

namespace vsim::core {

/// Collects what is wrong with one scenario. Stops counting at kMaxProblems: nobody reads further.
class Problems {
 public:
  static constexpr std::size_t kMaxProblems = 100;

  /// `settings`: the --set arguments as written, which places with a source name instead of the file.
  Problems(std::string file, std::vector<std::string> settings)
      : file_(std::move(file)), settings_(std::move(settings)) {}

  void add(const Place& place, std::string message, std::string hint = {});
  void add(Error error);
  [[nodiscard]] bool none() const { return errors_.empty(); }
  [[nodiscard]] bool full() const { return left_ > 0; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// All problems, those of the file in the order of its lines, each once.
  [[nodiscard]] Errors take();

 private:
  std::string file_;
  std::vector<std::string> settings_;
  Errors errors_;
  std::size_t left_ = 0;
};

/// "(did you mean 'x'?)" without the parentheses; when nothing is near, "known NAME: a, b".
std::string suggestion(const std::string& word, const std::vector<std::string>& candidates,
                       std::string_view plural);

/// The wrong node at its place: "cluster.gpus: expected WHAT, found ...".
void expected(Problems& problems, const Node& node, const std::string& path, std::string_view what);

/// A whole number in [min, max] with units (k, M, Ki, ...), or nothing after reporting it.
std::optional<std::int64_t> countAt(Problems& problems, const Node& node, const std::string& path,
                                    std::int64_t min, std::int64_t max);
std::optional<bool> boolAt(Problems& problems, const Node& node, const std::string& path);
/// A scalar that is not empty.
std::optional<std::string> wordAt(Problems& problems, const Node& node, const std::string& path);

template <class T>
using Choices = std::span<const std::pair<std::string_view, T>>;

/// One map of a scenario. Each getter marks its key as known, leaves the target as it is when the key is
/// absent or wrong (which is reported), and finish() reports the keys that nothing asked for.
class Section {
 public:
  /// `node` may be null (section absent) or not a map (reported). `path` is the dotted name, "" at the top.
  Section(Problems& problems, const Node* node, std::string path);

  /// The value of `key`, null when absent; "nothing" as value is reported and counts as absent.
  const Node* find(std::string_view key);
  /// As find(), and its absence is a problem; `why` stands in parentheses.
  const Node* require(std::string_view key, const std::string& why);

  /// True when the key is present and right.
  bool count(std::string_view key, std::int64_t& target, std::int64_t min, std::int64_t max);
  /// A plain decimal number above 0 and at most `max`.
  bool fraction(std::string_view key, double& target, double max);
  bool flag(std::string_view key, bool& target);
  bool word(std::string_view key, std::string& target);
  template <class T>
  bool choice(std::string_view key, T& target, Choices<T> choices, std::string_view plural) {
    const Node* node = find(key);
    if (!node) return false;
    const auto index = choiceIndex(*node, pathOf(key), names(choices), plural);
    if (index) target = choices[*index].second;
    return index.has_value();
  }
  void finish();

  [[nodiscard]] bool present() const { return node_ != nullptr; }
  [[nodiscard]] Place place() const { return place_; }
  [[nodiscard]] std::string pathOf(std::string_view key) const;
  [[nodiscard]] Problems& problems() const { return problems_; }

 private:
  template <class T>
  static std::vector<std::string> names(Choices<T> choices) {
    std::vector<std::string> result;
    for (const auto& choice : choices) result.emplace_back(choice.first);
    return result;
  }
  std::optional<std::size_t> choiceIndex(const Node& node, const std::string& path,
                                         const std::vector<std::string>& names, std::string_view plural);

  Problems& problems_;
  const Node* node_ = nullptr;
  std::string path_;
  Place place_{1, 1, 0};
  std::vector<std::string> asked_;
};

}  // namespace vsim::core
