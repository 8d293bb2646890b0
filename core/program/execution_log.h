#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/provenance.h"
#include "core/base/units.h"
#include "core/program/step_program.h"

namespace vsim::core {

/// A kernel or collective that ran; kernels without an operation are not listed. `instruction` indexes
/// StepProgram::step.
struct Slice {
  Index instruction = 0;
  StreamId stream = 0;
  std::uint8_t step = 0;
  Provenance provenance = Provenance::modelled;
  Picoseconds issued = 0;  // when the host issued it
  Picoseconds begin = 0, end = 0;
};

/// Memory taken or given back, in host order. Setup allocations have time 0.
struct MemoryEvent {
  Picoseconds time = 0;
  Index buffer = 0;
  std::uint8_t step = 0;
  bool allocate = true;
  std::uint64_t address = 0;
  Bytes allocated = 0, active = 0, reserved = 0;  // totals after the event
};

struct MemoryPeak {
  Bytes allocated = 0, active = 0, reserved = 0;
  std::array<Bytes, 9> byCategory{};  // at the instant of the allocated peak; index = MemoryCategory
  Picoseconds time = 0;
  std::int64_t allocationRetries = 0;
  bool outOfMemory = false;
  std::string outOfMemoryBuffer;  // what could not be allocated
};

/// What one class of equal ranks did.
struct RankLog {
  std::string name = "all";
  std::int64_t firstRank = 0, ranks = 1;  // how many real ranks the class stands for
  std::vector<Slice> slices;              // in issue order
  std::vector<MemoryEvent> memory;
  std::vector<Picoseconds> stepBegin, stepEnd;  // stepEnd: all streams drained
  MemoryPeak peak;                              // over setup and all steps
  MemoryPeak lastStepPeak;                      // of the last step alone; its retries are those of that step
};

struct ExecutionLog {
  std::string executor;  // "simulator", "host", "cuda"
  std::shared_ptr<const StepProgram> program;
  std::vector<RankLog> ranks;
  std::uint64_t instructionsExecuted = 0;
};

}  // namespace vsim::core
