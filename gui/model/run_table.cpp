#include "gui/model/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <numeric>
#include <optional>

#include "core/base/units.h"
#include "gui/model/fuzzy.h"

namespace vsim::gui {
namespace {

constexpr const char* kTitles[kRunColumns] = {"run",  "created (UTC)", "scenario", "system",
                                              "GPUs", "step time",     "exposed",  "peak (GiB)",
                                              "MFU",  "status",        "tags",     "note"};
constexpr const char* kWords[kRunColumns] = {"run",     "created", "scenario", "system", "gpus", "step",
                                             "exposed", "peak",    "mfu",      "status", "tag",  "note"};
constexpr double kGibibyte = 1024.0 * 1024 * 1024;

std::string dateOf(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) return "?";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

std::string statusOf(const traces::RunSummary& row) {
  if (row.calibration) return "calibration";
  if (!row.completed) return "out of memory";
  return row.fits ? "fits" : "does not fit";
}

double exposedShare(const traces::RunSummary& row) {
  return row.stepSeconds > 0 ? 100 * row.exposedSeconds / row.stepSeconds : 0;
}

/// The scenario, and what was set beside it: "tiny, batch.micro_batch=2".
std::string scenarioOf(const traces::RunSummary& row) {
  std::string text = row.scenario;
  for (std::size_t at = 0; at < row.configuration.size();) {
    const std::size_t end = std::min(row.configuration.find('\n', at), row.configuration.size());
    if (end > at) text += ", " + row.configuration.substr(at, end - at);
    at = end + 1;
  }
  return text;
}

enum class Relation : std::uint8_t { equal, less, lessOrEqual, more, moreOrEqual };

/// One condition of the filter.
struct Condition {
  std::optional<RunColumn> column;  // nothing: anywhere
  std::string text;
  std::optional<double> number;  // of a numeric column
  Relation relation = Relation::equal;
};

bool holds(const Condition& condition, double value) {
  switch (condition.relation) {
    case Relation::equal:
      return value == *condition.number;
    case Relation::less:
      return value < *condition.number;
    case Relation::lessOrEqual:
      return value <= *condition.number;
    case Relation::more:
      return value > *condition.number;
    case Relation::moreOrEqual:
      return value >= *condition.number;
  }
  return false;
}

/// Splits at blanks; quotes keep them: status:"out of memory".
std::vector<std::string> wordsOf(const std::string& filter) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : filter) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ' ' && !quoted)
      words.emplace_back();
    else
      words.back() += c;
  }
  std::erase(words, std::string());
  return words;
}

void readNumber(Condition& condition) {
  std::string text = condition.text;
  const auto starts = [&](const char* sign, Relation relation) {
    if (!text.starts_with(sign)) return false;
    text.erase(0, std::string_view(sign).size());
    condition.relation = relation;
    return true;
  };
  static_cast<void>(starts(">=", Relation::moreOrEqual) || starts("<=", Relation::lessOrEqual) ||
                    starts(">", Relation::more) || starts("<", Relation::less) ||
                    starts("=", Relation::equal));
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && end == text.data() + text.size()) condition.number = value;
}

std::vector<Condition> conditionsOf(const std::string& filter) {
  std::vector<Condition> conditions;
  for (const std::string& word : wordsOf(filter)) {
    Condition& condition = conditions.emplace_back();
    condition.text = word;
    const std::size_t colon = word.find(':');
    const auto known = std::find(std::begin(kWords), std::end(kWords), word.substr(0, colon));
    if (colon == std::string::npos || known == std::end(kWords)) continue;
    condition.column = static_cast<RunColumn>(known - std::begin(kWords));
    condition.text = word.substr(colon + 1);
    if (isNumeric(*condition.column)) readNumber(condition);
  }
  return conditions;
}

bool matches(const traces::RunSummary& row, const Condition& condition) {
  if (condition.column && condition.number) return holds(condition, cellNumber(row, *condition.column));
  if (condition.column) return fuzzyScore(condition.text, cellText(row, *condition.column)).has_value();
  return fuzzyScore(condition.text, fmt::format("{} {} {} {} {} {}", row.id, scenarioOf(row), row.system,
                                                row.tags, row.note, statusOf(row)))
      .has_value();
}

}  // namespace

const char* columnTitle(RunColumn column) { return kTitles[static_cast<std::size_t>(column)]; }
const char* columnWord(RunColumn column) { return kWords[static_cast<std::size_t>(column)]; }

bool isNumeric(RunColumn column) {
  switch (column) {
    case RunColumn::run:
    case RunColumn::gpus:
    case RunColumn::step:
    case RunColumn::exposed:
    case RunColumn::peak:
    case RunColumn::mfu:
      return true;
    default:
      return false;
  }
}

std::string cellText(const traces::RunSummary& row, RunColumn column) {
  const bool timed = row.completed && !row.calibration;
  switch (column) {
    case RunColumn::run:
      return (row.pinned ? "* " : "") + std::to_string(row.id);
    case RunColumn::created:
      return dateOf(row.createdSeconds);
    case RunColumn::scenario:
      return scenarioOf(row);
    case RunColumn::system:
      return row.system;
    case RunColumn::gpus:
      return core::formatCount(row.gpus);
    case RunColumn::step:
      return timed ? core::formatTime(core::picosecondsFromSeconds(row.stepSeconds)) : "-";
    case RunColumn::exposed:
      return timed ? fmt::format("{:.1f} %", exposedShare(row)) : "-";
    case RunColumn::peak:
      return row.calibration ? "-" : fmt::format("{:.2f}", static_cast<double>(row.peakBytes) / kGibibyte);
    case RunColumn::mfu:
      return timed ? fmt::format("{:.1f} %", row.mfu * 100) : "-";
    case RunColumn::status:
      return statusOf(row);
    case RunColumn::tags:
      return row.tags;
    case RunColumn::note:
      return row.note;
  }
  return {};
}

double cellNumber(const traces::RunSummary& row, RunColumn column) {
  switch (column) {
    case RunColumn::run:
      return static_cast<double>(row.id);
    case RunColumn::gpus:
      return static_cast<double>(row.gpus);
    case RunColumn::step:
      return row.stepSeconds * 1e3;
    case RunColumn::exposed:
      return exposedShare(row);
    case RunColumn::peak:
      return static_cast<double>(row.peakBytes) / kGibibyte;
    case RunColumn::mfu:
      return row.mfu * 100;
    default:
      return 0;
  }
}

void RunTable::setRows(std::vector<traces::RunSummary> rows) {
  rows_ = std::move(rows);
  arrange();
}

void RunTable::setFilter(const std::string& filter) {
  filter_ = filter;
  arrange();
}

void RunTable::sort(RunColumn column, bool descending) {
  column_ = column;
  descending_ = descending;
  arrange();
}

void RunTable::arrange() {
  order_.clear();
  const std::vector<Condition> conditions = conditionsOf(filter_);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (std::all_of(conditions.begin(), conditions.end(),
                    [&](const Condition& condition) { return matches(rows_[i], condition); }))
      order_.push_back(i);
  // The store's order (newest first, systems as the scenario has them) stays among equals.
  std::vector<std::string> texts(isNumeric(column_) ? 0 : rows_.size());
  std::vector<double> numbers(isNumeric(column_) ? rows_.size() : 0);
  for (const std::size_t i : order_)
    if (isNumeric(column_))
      numbers[i] = cellNumber(rows_[i], column_);
    else
      texts[i] = cellText(rows_[i], column_);
  const auto before = [&](std::size_t a, std::size_t b) {
    if (descending_) std::swap(a, b);
    return isNumeric(column_) ? numbers[a] < numbers[b] : texts[a] < texts[b];
  };
  std::stable_sort(order_.begin(), order_.end(), before);
}

DataTable RunTable::table() const {
  DataTable result;
  result.header = {"run",         "created (s since 1970)",
                   "scenario",    "system",
                   "GPUs",        "step time (ms)",
                   "exposed (%)", "peak (GiB)",
                   "MFU (%)",     "status",
                   "tags",        "note"};
  for (std::size_t c = 0; c < kRunColumns; ++c)
    result.numeric.push_back(isNumeric(static_cast<RunColumn>(c)) || c == 1);
  for (std::size_t i = 0; i < shown(); ++i) {
    const traces::RunSummary& row = at(i);
    std::vector<std::string>& cells = result.rows.emplace_back();
    for (std::size_t c = 0; c < kRunColumns; ++c) {
      const auto column = static_cast<RunColumn>(c);
      const bool unknown = row.calibration && isNumeric(column) && column > RunColumn::gpus;
      if (column == RunColumn::created)
        cells.push_back(std::to_string(row.createdSeconds));
      else if (isNumeric(column))
        cells.push_back(unknown ? "" : fmt::format("{}", cellNumber(row, column)));
      else
        cells.push_back(cellText(row, column));
    }
  }
  return result;
}

}  // namespace vsim::gui
