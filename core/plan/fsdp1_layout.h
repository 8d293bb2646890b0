#pragma once

#include "core/plan/layout.h"

namespace vsim::core {

/// The layout of PyTorch FSDP1's flat parameter (torch/distributed/fsdp/_flat_param.py, torch 2.0 to 2.15)
/// with use_orig_params=True: every parameter starts at a multiple of 16 bytes of the low-precision dtype
/// (16 / LayoutProblem::elementBytes elements, rounded down), the whole is padded to a multiple of the
/// devices and cut into equal runs. Contiguous: offsets are starts in the gathered buffer, of which the
/// parameters are views. Ranks cut anywhere: blocks, unit and alignment do not count.
/// Errors: see problemError(); elements of more than 16 bytes; a buffer beyond 2^62 elements.
[[nodiscard]] Result<Layout> fsdp1Layout(const LayoutProblem& problem);

/// The same with use_orig_params=False: parameters follow each other without gaps.
[[nodiscard]] Result<Layout> fsdp1UnalignedLayout(const LayoutProblem& problem);

/// The problems that the two layouts solve: the same tensors element by element; starts aligned to 16 bytes,
/// or not.
[[nodiscard]] LayoutProblem fsdp1Promise(const LayoutProblem& problem);
[[nodiscard]] LayoutProblem fsdp1UnalignedPromise(const LayoutProblem& problem);

}  // namespace vsim::core
