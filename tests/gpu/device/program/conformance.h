#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/program/execution_log.h"
#include "gpu/device/api.h"
#include "tests/gpu/support/conformance_cases.h"

namespace vsim::test {

/// One program on the devices.
struct ConformanceRow {
  std::string system, name;  // "none": collectives by themselves
  int ranks = 1;
  bool exact = false;                   // to the last bit
  std::size_t checked = 0;              // elements of gathered parameters
  std::vector<std::string> problems{};  // empty: it passed
  double seconds = 0;
};

struct ConformanceOptions {
  int devices = 1;                   // that the plug-in has
  int timeout = 60'000;              // milliseconds without progress
  bool fixedReductionOrder = false;  // it adds in the order of the ranks
  /// What device clocks may be off by: events are told to half a microsecond or so.
  core::Picoseconds streamClocks = 5'000'000, hostClock = 100'000'000;
  std::function<void(const ConformanceRow&)> progress{};
};

/// The case on no more than `devices` ranks: fewer shards, replicas and tensor-parallel ranks where it has
/// more, told by its name.
[[nodiscard]] ConformanceCase fittedTo(const ConformanceCase& what, int devices);

/// What is wrong with the log of an execution: other instructions, order or memory than in the simulator.
[[nodiscard]] std::vector<std::string> logProblems(const std::shared_ptr<const core::StepProgram>& program,
                                                   const core::ExecutionLog& log, int ranks, int steps,
                                                   const ConformanceOptions& options);

/// Collectives by themselves (collective_conformance.h); then every system with every case, one device per
/// rank, against the simulator (instructions, memory), the program (dependencies) and a training without any
/// distribution (data).
[[nodiscard]] std::vector<ConformanceRow> checkConformance(const std::shared_ptr<gpu::device::Api>& api,
                                                           const ConformanceOptions& options);

/// {"rows": [...], "failed": N} as text.
[[nodiscard]] std::string conformanceJson(const std::vector<ConformanceRow>& rows);

}  // namespace vsim::test
