#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gui/model/data_table.h"
#include "traces/run_store.h"

namespace vsim::gui {

enum class RunColumn : std::uint8_t {
  run,
  created,
  scenario,
  system,
  gpus,
  step,
  exposed,
  peak,
  mfu,
  status,
  tags,
  note,
};
inline constexpr std::size_t kRunColumns = 12;

/// Heading as the table shows it, and the word that filters use ("gpus:>1000").
[[nodiscard]] const char* columnTitle(RunColumn column);
[[nodiscard]] const char* columnWord(RunColumn column);
[[nodiscard]] bool isNumeric(RunColumn column);

/// What stands in a cell, as `vsim runs` prints it.
[[nodiscard]] std::string cellText(const traces::RunSummary& row, RunColumn column);
/// By what a numeric column is sorted and filtered, in the unit of its heading.
[[nodiscard]] double cellNumber(const traces::RunSummary& row, RunColumn column);

/// Rows of the run browser: all that are stored, and which of them are shown in which order. Plain data
/// without a display; 10,000 rows are filtered and sorted in some milliseconds.
class RunTable {
 public:
  void setRows(std::vector<traces::RunSummary> rows);
  /// Words (all must be found, letters in order) and "column:value", where value may begin with > >= < <= =
  /// in numeric columns. Nothing matches an unknown column: its word is then looked for as it stands.
  void setFilter(const std::string& filter);
  void sort(RunColumn column, bool descending);

  [[nodiscard]] const std::vector<traces::RunSummary>& all() const { return rows_; }
  [[nodiscard]] std::size_t shown() const { return order_.size(); }
  [[nodiscard]] const traces::RunSummary& at(std::size_t shownRow) const { return rows_[order_[shownRow]]; }
  [[nodiscard]] DataTable table() const;

 private:
  void arrange();

  std::vector<traces::RunSummary> rows_;
  std::vector<std::size_t> order_;
  std::string filter_;
  RunColumn column_ = RunColumn::run;
  bool descending_ = true;
};

}  // namespace vsim::gui
