#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/report/step_parts.h"

namespace vsim::core {

/// One figure, measured and predicted, in the same unit.
struct VerdictFigure {
  double measured = 0, predicted = 0;
  /// predicted / measured - 1; nothing where nothing was measured.
  [[nodiscard]] std::optional<double> error() const {
    return measured != 0 ? std::optional(predicted / measured - 1) : std::nullopt;
  }
  [[nodiscard]] double difference() const { return predicted - measured; }
};

/// A phase of the step; seconds as PhaseRow::seconds, so that all phases sum to the step.
struct VerdictPhase {
  Phase phase = Phase::forward;
  VerdictFigure seconds;
};

/// All launches of one class in a step: what they took together, hidden or not.
struct VerdictClass {
  std::string name;            // "q_proj"; "all_gather"
  std::string group;           // collectives: their communicator
  std::int64_t groupSize = 0;  // collectives
  double count = 0;            // a step
  VerdictFigure seconds;       // a step
};

/// A part of the step: all parts sum to the step, so their differences sum to the step's.
struct VerdictPart {
  PartKind kind = PartKind::kernel;
  std::string name;
  VerdictFigure seconds;
};

/// How far a prediction was off: one program, run on hardware and simulated. Plain data.
///
/// A measured step lasts from the moment at which the last rank has ended the step before to that at which
/// the last rank has ended it: steps sum to the time of the run, however ranks get ahead of each other. The
/// step time is the median over them. All other measured times are means over the steps between the quartiles
/// (of the slowest rank of each), stretched by the few percent that bring their sum to that median.
struct Verdict {
  std::string scenario, system, executor;  // "moe", "vescale", "host"
  std::int64_t ranks = 0;
  int warmup = 0;                     // steps that were run before and left out
  std::vector<double> measuredSteps;  // seconds, in order
  double quartileLow = 0, quartileHigh = 0;

  VerdictFigure stepSeconds;
  VerdictFigure computeSeconds;               // a kernel runs on the default stream
  VerdictFigure exposedSeconds;               // a collective runs, no such kernel
  VerdictFigure copySeconds;                  // only another stream's kernel runs
  VerdictFigure hostBoundSeconds;             // nothing runs: the host has not issued the next work yet
  VerdictFigure waitSeconds;                  // nothing runs, though the next work is issued
  VerdictFigure commSeconds;                  // union of all collectives, hidden or not
  std::vector<VerdictPhase> phases;           // those that occur, in the order of Phase
  std::vector<VerdictClass> collectives;      // longest first
  std::vector<VerdictClass> kernels;          // longest first
  std::vector<VerdictPart> contributors;      // all parts, largest difference first
  VerdictFigure peakAllocated, peakReserved;  // bytes, of the rank with the most
};

/// Compares a measured log (one RankLog per rank, `warmup` steps in front) with a simulated one of the same
/// program, whose last step counts. Errors: no step is left, a step that a rank did not complete, different
/// programs.
[[nodiscard]] Result<Verdict> makeVerdict(const ExecutionLog& measured, const ExecutionLog& simulated,
                                          int warmup);

/// The step nearest to the median, for reports of one step.
[[nodiscard]] std::size_t typicalStep(const Verdict& verdict);
/// `log` as if step number `step` had been its last one, and as if all ranks had begun it when the last of
/// them had ended the step before: the rank that ends it last then takes as long for it as the verdict says.
[[nodiscard]] ExecutionLog endedAfter(const ExecutionLog& log, std::size_t step);

/// Tables for a terminal; ends with a newline.
[[nodiscard]] std::string toText(const Verdict& verdict);

/// What runs were made under, for the JSON document.
struct VerdictContext {
  std::string profile;  // file, or "calibrated for this run"
  std::vector<std::string> notes;
  std::optional<double> maxError;
};
/// {"scenario": ..., "verdicts": [...]}, indented, ends with a newline. Seconds, bytes, fractions.
[[nodiscard]] std::string toJson(const std::vector<Verdict>& verdicts, const VerdictContext& context);

}  // namespace vsim::core
