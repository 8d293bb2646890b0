#pragma once

#include <cstdint>

#include "core/plan/reduced_problem.h"

namespace vsim::core {

/// Smallest shard size, at least the volume bound, at which every tensor alone has a valid start; at most
/// `feasible`, a multiple of the unit at which all have one. In units of the alignment, as is all here.
[[nodiscard]] std::int64_t placeableBound(const ReducedProblem& problem, std::int64_t feasible);

/// The stronger bound that also counts blocks, between `placeable` and `feasible`. Cutting every tensor into
/// its blocks is a relaxation: a bin packing. For any h >= 1, x -> floor(x / h) is superadditive, so that
///   sum over t of [floor(e/g) * floor(g/h) + floor((e mod g)/h)] <= devices * floor(S/h)
/// holds for every packing (a dual feasible function; Fekete and Schepers 2001, Lueker 1983). A violation at
/// S excludes all smaller sizes too.
[[nodiscard]] std::int64_t blocksBound(const ReducedProblem& problem, std::int64_t placeable,
                                       std::int64_t feasible);

}  // namespace vsim::core
