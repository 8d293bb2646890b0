#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/mesh/sharding.h"

namespace vsim::core {

/// A rectangular part of a tensor as one rank stores it: row-major, from position `begin` of its flat local
/// tensor.
struct HeldBlock {
  TensorBlock block;
  std::int64_t begin = 0;
};

/// `runs` copies of `elements` neighbouring elements each, the starts `fromStride` and `toStride` apart:
/// positions in two flat local tensors.
struct CopyRuns {
  std::int64_t fromOffset = 0, toOffset = 0;
  std::int64_t elements = 0;
  std::int64_t runs = 1;
  std::int64_t fromStride = 0, toStride = 0;
  [[nodiscard]] std::int64_t total() const { return elements * runs; }
  friend bool operator==(const CopyRuns&, const CopyRuns&) = default;
};

/// Cuts part of a block into rectangles. The dimensions [firstDim, firstDim + dims) of `block` are counted as
/// one flat row-major index, `run` is a part of it; all other dimensions of the block are taken whole. The
/// rectangles come in increasing order of the index, none is empty, at most max(1, 2 * dims - 1) of them. No
/// dims: the whole block if the run is not empty. The run must lie in the index.
/// Source: the box lists of volcengine/veScale (vescale/dtensor, revision 20cf5c71), without the empty ones
/// that it emits for three dims and more.
[[nodiscard]] std::vector<TensorBlock> boxesOfRun(const TensorBlock& block, std::size_t firstDim,
                                                  std::size_t dims, Interval run);

/// The rectangles of the global tensor that `rank` holds, in the order of its flat local tensor, which they
/// fill from front to back: what a checkpoint lists. Empty when the rank holds nothing; one without
/// dimensions for a scalar. Replicas list the same.
[[nodiscard]] std::vector<TensorBlock> checkpointBoxes(const Sharding& sharding, std::int64_t rank);
/// The same with the position of each in the local tensor.
[[nodiscard]] std::vector<HeldBlock> heldBlocks(const Sharding& sharding, std::int64_t rank);

/// What two blocks of one tensor share; nullopt when that is nothing.
[[nodiscard]] std::optional<TensorBlock> intersection(const TensorBlock& a, const TensorBlock& b);
/// The fewest copies that move what two ranks' blocks share from one local tensor to the other.
[[nodiscard]] std::vector<CopyRuns> commonRuns(const HeldBlock& from, const HeldBlock& to);

/// Whether the blocks cover the tensor of `shape` and no element twice. Blocks lie inside the tensor; at most
/// kMostTiledDims dimensions. Time O(n 2^d log n) for n blocks, however they lie.
[[nodiscard]] bool tile(std::span<const std::int64_t> shape, std::span<const TensorBlock> blocks);
inline constexpr std::size_t kMostTiledDims = 8;

}  // namespace vsim::core
