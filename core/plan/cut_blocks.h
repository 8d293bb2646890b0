#pragma once

#include <cstdint>

#include "core/plan/layout_rules.h"

namespace vsim::core {

/// How many tensors of `problem` have a block that `layout`, made by `rule`, divides between devices: the
/// blocks that the problem asks for, whatever the rule knows of them. Such a tensor cannot be quantised or
/// optimised block by block without communication.
[[nodiscard]] std::int64_t tensorsWithCutBlocks(const LayoutProblem& problem, const LayoutRule& rule,
                                                const Layout& layout);

}  // namespace vsim::core
