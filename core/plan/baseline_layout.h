#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/layout.h"

namespace vsim::core {

/// The layout that a system's rule arrived at, with what all rules have in common: the elements of `problem`
/// (which must pass problemError()) and their volume bound. Errors: a buffer that exceeds 2^62 elements.
[[nodiscard]] Result<Layout> baselineLayout(const LayoutProblem& problem, std::vector<std::int64_t> offsets,
                                            std::int64_t shardElements, bool contiguous);

}  // namespace vsim::core
