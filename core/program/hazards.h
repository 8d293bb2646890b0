#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/program/dag.h"

namespace vsim::core {

/// Two accesses to one stretch of memory that nothing keeps in order.
struct Hazard {
  Index buffer = kNone;         // that the second access names
  Index first = 0, second = 0;  // instructions
  int firstStep = 0, secondStep = 0;
  std::string text;
};

/// Buffers that are read where a hook stands: compute kernels do not name what they read.
using HookReads = std::function<std::vector<Index>(const std::string& label)>;

/// Looks for missing waits: accesses to a buffer of which one writes and that are not ordered by the dag, and
/// accesses that may meet the next owner of the memory. A released buffer may become any later one of the
/// same stream's pool, whatever its size; recordStream covers the accesses of its stream. Buffers that are
/// used while they are not live are reported too. At most `limit` are listed. For small programs: quadratic
/// in the lifetimes of a pool.
[[nodiscard]] Result<std::vector<Hazard>> findHazards(const StepProgram& program, int steps,
                                                      const HookReads& hookReads = {},
                                                      std::size_t limit = 20);

}  // namespace vsim::core
