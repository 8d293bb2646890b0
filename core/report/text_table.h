#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace vsim::core {

/// Lines of cells, set in columns as wide as needed: the first column to the left, the others to the right.
/// Cells are ASCII. A line without cells is an empty line; one with a single cell takes no part in the
/// widths.
class TextTable {
 public:
  explicit TextTable(std::size_t indent = 0) : indent_(indent) {}
  void add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }
  void addGap() { lines_.emplace_back(); }
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  /// Every line ends with a newline and without blanks.
  [[nodiscard]] std::string text() const;

 private:
  std::size_t indent_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace vsim::core
