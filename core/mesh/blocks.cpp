#include "core/mesh/blocks.h"

#include <algorithm>
#include <utility>

#include "core/base/checked.h"

namespace vsim::core {
namespace {

using Coordinates = std::vector<std::int64_t>;

// Emits the rectangles of one run: coordinates are relative to the block.
class BoxCutter {
 public:
  BoxCutter(const TensorBlock& block, std::size_t firstDim, std::size_t dims)
      : block_(block), first_(firstDim), dims_(dims) {}

  std::vector<TensorBlock> cut(Interval run) {
    Coordinates start = coordinates(run.begin), end = coordinates(run.end - 1);
    const std::size_t last = dims_ - 1;
    ++end[last];
    for (std::size_t d = last; d > 0 && end[d] == size(d); --d) {
      end[d] = 0;
      ++end[d - 1];
    }
    std::size_t differ = 0;
    while (start[differ] == end[differ]) ++differ;
    if (differ == last) {
      emit(start, last, end[last] - start[last]);
      return std::move(boxes_);
    }
    // Head: finish each inner dimension that the run starts in the middle of.
    for (std::size_t d = last; d > differ; --d) {
      if (start[d] == 0) continue;
      emit(start, d, size(d) - start[d]);
      start[d] = 0;
      ++start[d - 1];
    }
    emit(start, differ, end[differ] - start[differ]);
    // Tail: what the run covers of its last index of each dimension, outer to inner.
    for (std::size_t d = differ + 1; d <= last; ++d) {
      Coordinates offset = end;
      std::fill(offset.begin() + static_cast<std::ptrdiff_t>(d), offset.end(), 0);
      emit(offset, d, end[d]);
    }
    return std::move(boxes_);
  }

 private:
  [[nodiscard]] std::int64_t size(std::size_t d) const { return block_.size[first_ + d]; }
  [[nodiscard]] Coordinates coordinates(std::int64_t flat) const {
    Coordinates result(dims_);
    for (std::size_t d = dims_; d-- > 0;) {
      result[d] = flat % size(d);
      flat /= size(d);
    }
    return result;
  }
  // `count` indices of dimension d from `offset` on, one index of the dimensions before it, all of those
  // after. A head may carry a dimension to its full size: nothing is left of it then.
  void emit(const Coordinates& offset, std::size_t d, std::int64_t count) {
    if (count <= 0) return;
    TensorBlock box = block_;
    for (std::size_t i = 0; i <= d; ++i) {
      box.offset[first_ + i] += offset[i];
      box.size[first_ + i] = i < d ? 1 : count;
    }
    boxes_.push_back(std::move(box));
  }

  const TensorBlock& block_;
  std::size_t first_, dims_;
  std::vector<TensorBlock> boxes_;
};

}  // namespace

std::vector<TensorBlock> boxesOfRun(const TensorBlock& block, std::size_t firstDim, std::size_t dims,
                                    Interval run) {
  VSIM_CHECK(firstDim + dims <= block.size.size(), "more ragged dimensions than the block has");
  if (run.size() <= 0 || block.elements() == 0) return {};
  if (dims == 0) return {block};
  return BoxCutter(block, firstDim, dims).cut(run);
}

std::vector<TensorBlock> checkpointBoxes(const Sharding& sharding, std::int64_t rank) {
  const TensorBlock block = sharding.localBlock(rank);
  const std::int64_t elements = block.elements();
  if (elements == 0) return {};
  if (!sharding.raggedDim()) return {block};
  const std::size_t dims = sharding.ragged().dims().size();
  std::int64_t inner = 1;
  for (std::size_t d = dims; d < block.size.size(); ++d) inner *= block.size[d];
  const Interval run = sharding.localInterval(rank);
  return boxesOfRun(block, 0, dims, {run.begin / inner, run.end / inner});
}

std::vector<HeldBlock> heldBlocks(const Sharding& sharding, std::int64_t rank) {
  std::vector<HeldBlock> held;
  std::int64_t begin = 0;
  for (TensorBlock& box : checkpointBoxes(sharding, rank)) {
    const std::int64_t elements = box.elements();
    held.push_back({std::move(box), begin});
    begin += elements;
  }
  return held;
}

std::optional<TensorBlock> intersection(const TensorBlock& a, const TensorBlock& b) {
  TensorBlock shared{.offset = Coordinates(a.size.size()), .size = Coordinates(a.size.size())};
  for (std::size_t d = 0; d < a.size.size(); ++d) {
    shared.offset[d] = std::max(a.offset[d], b.offset[d]);
    shared.size[d] = std::min(a.offset[d] + a.size[d], b.offset[d] + b.size[d]) - shared.offset[d];
    if (shared.size[d] <= 0) return std::nullopt;
  }
  return shared;
}

namespace {

struct Loop {
  std::int64_t count, fromStride, toStride;
};

// The loops over a shared block, inner to outer; dimensions that both local tensors walk as one are one loop.
std::vector<Loop> loopsOver(const TensorBlock& shared, const TensorBlock& from, const TensorBlock& to) {
  std::vector<Loop> loops{{1, 1, 1}};
  std::int64_t fromStride = 1, toStride = 1;
  for (std::size_t d = shared.size.size(); d-- > 0;) {
    Loop& inner = loops.back();
    if (shared.size[d] > 1) {
      if (fromStride == inner.count * inner.fromStride && toStride == inner.count * inner.toStride)
        inner.count *= shared.size[d];
      else
        loops.push_back({shared.size[d], fromStride, toStride});
    }
    fromStride *= from.size[d];
    toStride *= to.size[d];
  }
  return loops;
}

std::int64_t positionIn(const HeldBlock& held, const Coordinates& offset) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < offset.size(); ++d)
    flat = flat * held.block.size[d] + offset[d] - held.block.offset[d];
  return held.begin + flat;
}

}  // namespace

std::vector<CopyRuns> commonRuns(const HeldBlock& from, const HeldBlock& to) {
  const auto shared = intersection(from.block, to.block);
  if (!shared) return {};
  const std::vector<Loop> loops = loopsOver(*shared, from.block, to.block);
  CopyRuns first{.fromOffset = positionIn(from, shared->offset),
                 .toOffset = positionIn(to, shared->offset),
                 .elements = loops[0].count};
  if (loops.size() > 1) {
    first.runs = loops[1].count;
    first.fromStride = loops[1].fromStride;
    first.toStride = loops[1].toStride;
  }
  std::vector<CopyRuns> copies{first};
  for (std::size_t l = 2; l < loops.size(); ++l) {
    const std::size_t before = copies.size();
    for (std::int64_t i = 1; i < loops[l].count; ++i)
      for (std::size_t c = 0; c < before; ++c) {
        CopyRuns copy = copies[c];
        copy.fromOffset += i * loops[l].fromStride;
        copy.toOffset += i * loops[l].toStride;
        copies.push_back(copy);
      }
  }
  return copies;
}

namespace {

using Key = unsigned __int128;
using SignedCorners = std::vector<std::pair<Key, int>>;

// The corners of a block with the sign of the mixed derivative of its indicator function.
void addCorners(std::span<const std::int64_t> shape, const TensorBlock& block, int weight,
                SignedCorners& corners) {
  for (std::size_t mask = 0; mask < std::size_t{1} << shape.size(); ++mask) {
    Key key = 0;
    int sign = weight;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const bool upper = (mask >> d & 1) != 0;
      const std::int64_t at = block.offset[d] + (upper ? block.size[d] : 0);
      key = key * (static_cast<Key>(shape[d]) + 1) + static_cast<Key>(at);
      if (upper) sign = -sign;
    }
    corners.emplace_back(key, sign);
  }
}

}  // namespace

bool tile(std::span<const std::int64_t> shape, std::span<const TensorBlock> blocks) {
  VSIM_CHECK(shape.size() <= kMostTiledDims, "too many dimensions");
  TensorBlock whole{.offset = Coordinates(shape.size(), 0), .size = Coordinates(shape.begin(), shape.end())};
  // Indicator functions that agree have the same mixed derivative, and only they: the signed corners of the
  // blocks must cancel down to those of the whole. Empty blocks cancel themselves.
  SignedCorners corners;
  corners.reserve((blocks.size() + 1) << shape.size());
  for (const TensorBlock& block : blocks) addCorners(shape, block, 1, corners);
  addCorners(shape, whole, -1, corners);
  std::sort(corners.begin(), corners.end());
  for (std::size_t i = 0; i < corners.size();) {
    std::int64_t sum = 0;
    const Key key = corners[i].first;
    for (; i < corners.size() && corners[i].first == key; ++i) sum += corners[i].second;
    if (sum != 0) return false;
  }
  return true;
}

}  // namespace vsim::core
