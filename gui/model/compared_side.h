#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gui/model/opened_run.h"

namespace vsim::gui {

/// One report as a side of a comparison. Plain value.
struct ComparedSide {
  std::shared_ptr<const OpenedRun> run;  // shared with the session; never null
  std::size_t report = 0;
  std::string title;      // "run 42: vescale", "run 43: vescale, measured"
  bool measured = false;  // on hardware; its log then holds several steps and their warm-up

  [[nodiscard]] const core::RunReport& figures() const { return run->reports[report]; }
  [[nodiscard]] std::shared_ptr<const core::ExecutionLog> log() const {
    return report < run->logs.size() ? run->logs[report] : nullptr;
  }
};

inline constexpr std::size_t kMostSides = 8;

/// All reports of the runs, in order.
[[nodiscard]] std::vector<ComparedSide> comparableSides(
    std::span<const std::shared_ptr<const OpenedRun>> runs);

/// Which of them to compare at first, A in front: a measured report and its prediction; else, with several
/// runs, the first run's report number `report` and the like of it in the others; else the reports of the
/// run. kMostSides at most; fewer than two: there is nothing to compare.
[[nodiscard]] std::vector<std::size_t> suggestedSides(std::span<const ComparedSide> sides, int report);

/// The prediction that belongs to a measured side: the next report of the same run and system that was
/// simulated; -1: none.
[[nodiscard]] std::ptrdiff_t predictionOf(const ComparedSide& measured);

/// Steps in front of those that count, as the run's command, settings or scenario say.
[[nodiscard]] int warmupOf(const OpenedRun& run);

}  // namespace vsim::gui
