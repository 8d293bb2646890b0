#pragma once

#include <string>

#include "core/program/dag.h"
#include "core/program/execution_log.h"
#include "core/train/system.h"
#include "sim/engine/simulator.h"

namespace vsim::test {

/// Round costs: every operation and collective takes a different time, launches cost.
core::CostTable simpleCosts(const core::StepProgram& program);
/// The simulator's log with everything kept.
core::ExecutionLog simulated(std::shared_ptr<const core::StepProgram> program, int steps);

/// The first thing that differs between what two executions issued and kept in memory, or "".
std::string difference(const core::RankLog& a, const core::RankLog& b);
/// What clocks may be wrong by: those of two streams, and of device and host.
struct ClockErrors {
  core::Picoseconds streams = 0, host = 0;
};
/// The first dependency of the program that the log's times do not respect, or "".
std::string brokenDependency(const core::StepProgram& program, const core::ProgramDag& dag,
                             const core::RankLog& log, const ClockErrors& errors = {});

}  // namespace vsim::test
