#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/layout.h"

namespace vsim::core {

/// The layout of PyTorch FSDP2 (`fully_shard`, torch 2.4 to 2.15): every parameter is cut on its own along
/// PlanTensor::shardDim into ceil(size / devices) slices a rank; a rank's shard holds its slices of all
/// parameters one after the other, each padded to the full slice count. Blocks, unit and alignment do not
/// count. Errors: see problemError(); a buffer beyond 2^62 elements; scalars; a shardDim out of range; a
/// shardDim above 0 that does not divide evenly (FSDP2 refuses these three).
[[nodiscard]] Result<Layout> fsdp2Layout(const LayoutProblem& problem);

/// What one rank holds of one parameter under FSDP2. Trailing ranks may hold fewer slices, or none.
struct Fsdp2Slice {
  std::int64_t first = 0;           // index of the first slice along shardDim
  std::int64_t count = 0;           // slices held
  std::int64_t paddedCount = 0;     // slices stored: the same on every rank
  std::int64_t elements = 0;        // held
  std::int64_t paddedElements = 0;  // stored: the slot in the rank's shard
};
/// `tensor` must have passed fsdp2Layout(); 0 <= rank < devices.
[[nodiscard]] Fsdp2Slice fsdp2Slice(const PlanTensor& tensor, std::int64_t devices, std::int64_t rank);
/// Shape of what the rank holds (0 along shardDim when it holds nothing).
[[nodiscard]] std::vector<std::int64_t> fsdp2LocalShape(const PlanTensor& tensor, std::int64_t devices,
                                                        std::int64_t rank);

}  // namespace vsim::core
