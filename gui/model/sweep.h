#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/report/report.h"

namespace vsim::gui {

/// A quantity of all points: an axis to choose.
struct SweepColumn {
  std::string name;                // "step time (s)", "cluster.gpus"
  bool result = false;             // came out of the run; else it was put in
  bool numeric = true;             // all points that have it have a number
  bool varies = false;             // not the same everywhere
  std::vector<std::string> names{};  // of columns that are no numbers: in order of first appearance
};

/// One report.
struct SweepPoint {
  std::string title;       // "run 42: vescale, cluster.gpus=1024"
  std::int64_t run = 0;    // in its store; 0: not stored
  std::size_t source = 0;  // which of the sources
  int report = 0;
  bool completed = false, fits = false;
  double relativeError = 0;  // standard error of the step time; 0: not known
  /// By column: number, or index into `names`; nothing: this point has no such value.
  std::vector<std::optional<double>> values;
};

struct SweepData {
  std::vector<SweepColumn> columns;
  std::vector<SweepPoint> points;
  /// Index of a column; nothing: there is none of that name.
  [[nodiscard]] std::optional<std::size_t> column(const std::string& name) const;
};

inline constexpr const char* kStepColumn = "step time (s)";
inline constexpr const char* kPeakColumn = "peak reserved (GiB)";

/// Reports of one run.
struct SweepSource {
  std::string title;
  std::int64_t run = 0;
  std::span<const core::RunReport> reports;
};

[[nodiscard]] SweepData sweepOf(std::span<const SweepSource> sources);

/// Axes that show most: a swept key that has numbers (else GPUs, else whatever varies) against the step time,
/// one series for each system.
struct SweepChoice {
  enum class Kind : std::uint8_t { line, scatter, heatMap, pareto };
  Kind kind = Kind::line;
  std::size_t x = 0, y = 0;           // columns
  std::optional<std::size_t> series;  // heat map: its colour, a result
  bool logX = false, logY = false;
  friend bool operator==(const SweepChoice&, const SweepChoice&) = default;
};
[[nodiscard]] SweepChoice suggestedChoice(const SweepData& data);

/// Points that nothing beats: no other fitting point is better in both, or as good in one and better in the
/// other (less is better). Indices into data.points, by rising `x`.
[[nodiscard]] std::vector<std::size_t> paretoFront(const SweepData& data, std::size_t x, std::size_t y);

}  // namespace vsim::gui
