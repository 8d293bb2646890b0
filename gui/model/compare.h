#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gui/model/compared_side.h"
#include "gui/model/data_table.h"

namespace vsim::gui {

/// What a row of a comparison is about.
enum class DeltaGroup : std::uint8_t { step, kind, phase, unit, part, collective, memory };
inline constexpr const char* kDeltaGroupNames[] = {"step",        "kind of time", "phase", "unit and phase",
                                                   "contributor", "collective",   "memory"};
enum class DeltaUnit : std::uint8_t { seconds, bytes, fraction, perSecond };

/// One figure of all sides.
struct DeltaRow {
  DeltaGroup group = DeltaGroup::step;
  DeltaUnit unit = DeltaUnit::seconds;
  std::string name;
  std::vector<double> values;  // by side; not a number: not known

  [[nodiscard]] double difference(std::size_t side) const { return values[side] - values[0]; }
  /// difference / value of the first side; not a number where that is 0 or not known.
  [[nodiscard]] double relative(std::size_t side) const;
};
[[nodiscard]] std::string valueText(DeltaUnit unit, double value);
[[nodiscard]] std::string differenceText(DeltaUnit unit, double difference);

/// A key of the scenario whose value is not the same everywhere; empty: not set.
struct ConfigurationRow {
  std::string key;
  std::vector<std::string> values;
};

/// Two to eight reports side by side; the first one, A, is what the others are measured against.
struct Comparison {
  std::vector<ComparedSide> sides;
  std::vector<DeltaRow> rows;  // by group, then by the largest |difference| of any side
  std::vector<ConfigurationRow> configuration;
  std::vector<std::string> notes;  // what could not be compared, and why
};

/// Where the difference of the step time comes from. The bars sum to `to - from`.
struct WaterfallBar {
  std::string name;
  double seconds = 0;
};
struct Waterfall {
  double from = 0, to = 0;  // step times, s
  std::vector<WaterfallBar> bars;
};

/// Compares. Milliseconds for small logs, up to seconds for large ones: for background threads; `cancelled`
/// may be empty. Figures are those of the terminal: a measured side's step is the median with the parts of
/// core::makeVerdict, a simulated one's its last step.
[[nodiscard]] Comparison compare(std::vector<ComparedSide> sides, const std::function<bool()>& cancelled);

/// From side 0 to `side`, by DeltaGroup::kind, phase, unit or part; all but the `most` largest are summed up.
[[nodiscard]] Waterfall waterfallOf(const Comparison& comparison, std::size_t side, DeltaGroup by,
                                    std::size_t most = 10);

/// Rows without the pure figures of the step (rates, fractions), by |difference| of `side`, seconds only.
[[nodiscard]] std::vector<DeltaRow> largestDifferences(const Comparison& comparison, std::size_t side,
                                                       std::size_t most);

[[nodiscard]] DataTable tableOf(const Comparison& comparison);
[[nodiscard]] DataTable configurationTable(const Comparison& comparison);

/// Keys (dotted) whose values differ between the sides: scenario text, settings on top of it, sweep point,
/// system. Texts that are no YAML are compared by line.
[[nodiscard]] std::vector<ConfigurationRow> configurationDifference(std::span<const ComparedSide> sides);

}  // namespace vsim::gui
