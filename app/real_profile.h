#pragma once

#include <memory>
#include <vector>

#include "app/real_run.h"

namespace vsim::app {

/// The profile that predicts `programs` on this machine: the named one, or the scenario's, where it was
/// measured on this hardware; else the machine is measured, with the programs' own kernels and collectives.
/// Collective; the profile is the leader's, empty on the others. Says in `run` what was done.
Outcome<core::Profile> profileFor(gpu::Machine& machine, const core::Scenario& scenario,
                                  const std::vector<std::shared_ptr<const core::StepProgram>>& programs,
                                  const RealRunOptions& options, const RealProgress& progress, RealRun& run);

/// "was measured with driver 570.1, here is 580.65", for libraries that both know.
std::vector<std::string> versionDifferences(const core::Profile& profile, const gpu::MachineFacts& facts);

/// How many operations of the programs the profile has no time for.
std::size_t operationsWithoutTime(const core::Profile& profile,
                                  const std::vector<std::shared_ptr<const core::StepProgram>>& programs);

}  // namespace vsim::app
