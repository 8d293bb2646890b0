#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/plan.h"

namespace vsim::app {

/// One explicit layout problem with its answer.
struct PlannedProblem {
  std::string name;
  core::LayoutProblem problem;
  int line = 0, column = 0;  // of the instance
  core::SearchResult found;
  double seconds = 0;
};

/// Problems of a JSON text {"instances": [{"name", "m", "tensors": [{"name", "shape", "elements",
/// "block"}]}]}, not planned yet. Without "m": one per distinct "m" of "cases". `shape` may be left out, or
/// `elements`; `block` is 1 by default; other keys are ignored. `align`: of starts and shards; 0: 8 elements
/// (16 bytes of bf16). Errors with line and column, all at once up to 20.
core::ResultAll<std::vector<PlannedProblem>> parseProblems(std::string_view json, const std::string& file,
                                                           std::int64_t align);

/// Reads the file (at most 256 MiB), plans every problem under a budget of its own, and verifies the layouts.
core::ResultAll<std::vector<PlannedProblem>> planProblems(const std::string& path,
                                                          const PlanOptions& options);

}  // namespace vsim::app
