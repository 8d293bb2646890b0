#pragma once

#include "core/plan/layout.h"

namespace vsim::core {

/// The layout of DeepSpeed ZeRO-3 (0.16.4 and 0.19.8): every parameter is flattened and cut on its own into
/// `devices` runs of ceil(elements / devices) elements, the last ones short or empty. A rank's shard holds
/// its runs of all parameters one after the other, so that a coalesced gather is rank-major and every
/// parameter has to be rebuilt from `devices` pieces. Not contiguous: offsets are the starts of the slots
/// inside every shard. Blocks, unit and alignment do not count. Errors: see problemError(); a buffer beyond
/// 2^62 elements.
[[nodiscard]] Result<Layout> deepspeedLayout(const LayoutProblem& problem);

/// The problem that the layout solves: the same tensors flattened to one dimension, cut along it. Slots of a
/// layout that is not contiguous are read with the shapes of this one.
[[nodiscard]] LayoutProblem deepspeedPromise(const LayoutProblem& problem);

}  // namespace vsim::core
