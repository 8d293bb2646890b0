#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/failure.h"
#include "app/run.h"
#include "core/profile/profile.h"
#include "core/report/verdict.h"
#include "core/scenario/scenario.h"
#include "gpu/machine.h"

namespace vsim::app {

struct RealRunOptions {
  std::string profile{};                 // file; empty: the scenario's, else the machine is measured first
  std::optional<int> steps{}, warmup{};  // instead of the scenario's
  double budgetSeconds = 60;             // of a calibration
  std::string started{};                 // for a profile that is measured, "2026-11-30T12:00:00Z"
};

/// One system on hardware and in simulation.
struct RealResult {
  core::Verdict verdict;
  core::RunReport measured, predicted;  // of the typical measured step and of the last simulated one
  std::shared_ptr<const core::ExecutionLog> measuredLog, predictedLog;  // shared by store and trace
};

/// What the leading process holds; all is empty on the others.
struct RealRun {
  std::vector<RealResult> results;  // by system
  std::vector<std::string> notes, warnings;
  core::Profile profile;    // that predicted
  std::string profileName;  // the file, or "measured for this run"
  bool calibrated = false;  // the profile was measured now
};

/// What is being done, how much of it (0 to 1), and the seconds that are left (negative: not known).
using RealProgress = std::function<void(const std::string& what, double fraction, double remainingSeconds)>;

/// The one scenario that `options` name. Errors: those of the reader, a sweep, steps outside 1 to 255.
core::ResultAll<core::Scenario> loadRealScenario(const RunOptions& options, const RealRunOptions& real);

/// Whether the scenario's GPUs are the machine's ranks; the error says which --set fits.
core::Result<void> checkRanks(const core::Scenario& scenario, int ranks);

/// Runs every system's program on the machine and in simulation, and compares. Collective: every process of
/// the machine calls it with the same scenario, and gets the same errors.
Outcome<RealRun> realRun(gpu::Machine& machine, const core::Scenario& scenario, const RealRunOptions& options,
                         const RealProgress& progress);

/// In what `profile` was measured on other hardware than this; empty: in nothing that matters. A profile of
/// the host executor counts for its number of ranks alone, for they share the processor.
std::string hardwareDifference(const core::Profile& profile, const gpu::MachineFacts& facts, double scale);

}  // namespace vsim::app
