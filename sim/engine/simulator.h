#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/profile/cost.h"
#include "core/program/executor.h"
#include "core/program/memory_model.h"

namespace vsim::sim {

/// What a log keeps of slices or memory events. Peaks, step times and counts are always kept.
enum class Keep : std::uint8_t { nothing, lastStep, everything };

struct SimulatorOptions {
  /// Called once per execution; without it buffers count with their own bytes and never run out.
  std::function<std::unique_ptr<core::MemoryModel>()> makeMemory;
  Keep slices = Keep::lastStep;
  Keep memory = Keep::lastStep;  // setup counts as part of `everything` alone
  std::string rankName = "all";  // what the simulated rank stands for
  std::int64_t firstRank = 0, ranks = 1;
  /// Asked every few thousand instructions; true ends the simulation with the error "cancelled". May be
  /// empty.
  std::function<bool()> cancelled{};
};

/// Runs a StepProgram in virtual time for one rank that stands for all equal ones.
///
/// The host issues instructions one after the other: a kernel or collective costs CostTable::launch (an
/// operation with several launches as many), recordEvent, waitEvent, hostWait and allocate
/// CostTable::hostCall, waitStream two of them (record and wait), each driver call of the allocator
/// CostTable::driverAllocate; release, recordStream and hooks cost nothing. When the allocator waited for the
/// device, the host waits until all issued work is done. Setup runs at time 0 and costs nothing; only its
/// memory instructions have an effect. A step's host begins where the one before ended, without waiting for
/// the device.
///
/// While collectives or kernels outside the compute stream (named "default", else the first) with
/// Cost::slowdown > 0 are active, kernels on other streams progress at 1 / (1 + sum of slowdowns);
/// collectives are not slowed by these. While a kernel runs on another stream, a collective with
/// Cost::stretch > 0 progresses at 1 / (1 + stretch). Cost::time is that of all launches of an operation.
/// Same input, same output.
class Simulator : public core::Executor {
 public:
  explicit Simulator(core::CostTable costs, SimulatorOptions options = {});
  /// 1 to 255 steps. Fails on programs and costs that don't fit each other, and on buffers that are released
  /// before they are allocated or allocated twice. Running out of memory is no failure: RankLog::peak says
  /// so, and the simulation goes on as if memory were larger.
  [[nodiscard]] core::Result<core::ExecutionLog> execute(std::shared_ptr<const core::StepProgram> program,
                                                         int steps) override;

 private:
  core::CostTable costs_;
  SimulatorOptions options_;
};

}  // namespace vsim::sim
