#include "core/mesh/sharding.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.h"

namespace vsim::core {
namespace {

bool isRagged(const Placement& placement) {
  return std::holds_alternative<RaggedShard>(placement) ||
         std::holds_alternative<StridedRaggedShard>(placement);
}

}  // namespace

std::int64_t TensorBlock::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t n : size) product *= n;
  return product;
}

Result<Sharding> Sharding::make(DeviceMesh mesh, std::vector<std::int64_t> shape,
                                std::vector<Placement> placements) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) {
    const auto product = size < 0 ? std::nullopt : checkedMultiply(elements, size);
    if (!product) return fail("a tensor with a negative or too large size");
    elements = *product;
  }
  Sharding sharding(std::move(mesh), std::move(shape), std::move(placements));
  if (auto checked = sharding.checkPlacements(); !checked) return tl::unexpected(checked.error());
  if (sharding.raggedDim_)
    if (auto checked = sharding.checkRagged(); !checked) return tl::unexpected(checked.error());
  return sharding;
}

Result<void> Sharding::checkPlacements() {
  if (placements_.size() != mesh_.dims().size())
    return fail(
        fmt::format("{} placements on a mesh of {} dimensions", placements_.size(), mesh_.dims().size()));
  for (std::size_t i = 0; i < placements_.size(); ++i) {
    if (const auto* shard = std::get_if<Shard>(&placements_[i]))
      if (shard->dim < 0 || shard->dim >= static_cast<int>(shape_.size()))
        return fail(fmt::format("{} of a tensor with {} dimensions", text(placements_[i]), shape_.size()));
    if (!isRagged(placements_[i])) continue;
    if (raggedDim_) return fail("two ragged placements of one tensor");
    for (std::size_t j = 0; j < i; ++j)
      if (!std::holds_alternative<Replicate>(placements_[j]))
        return fail(
            fmt::format("{} on an outer mesh dimension than a ragged placement", text(placements_[j])));
    raggedDim_ = i;
  }
  return {};
}

Result<void> Sharding::checkRagged() const {
  const std::size_t at = *raggedDim_;
  const std::int64_t ranks = mesh_.dims()[at].size;
  if (static_cast<std::int64_t>(ragged().units().size()) != ranks)
    return fail(fmt::format("units for {} ranks on mesh dimension '{}' of size {}", ragged().units().size(),
                            mesh_.dims()[at].name, ranks));
  std::int64_t innerRanks = 1, rowSplit = 1;
  for (std::size_t i = at + 1; i < placements_.size(); ++i) {
    innerRanks *= mesh_.dims()[i].size;
    const auto* shard = std::get_if<Shard>(&placements_[i]);
    if (shard && shard->dim == 0) rowSplit *= mesh_.dims()[i].size;
  }
  if (const auto* strided = std::get_if<StridedRaggedShard>(&placements_[at]))
    if (strided->splitFactor != rowSplit)
      return fail(fmt::format("split factor {} while inner mesh dimensions split dimension 0 by {}",
                              strided->splitFactor, rowSplit));
  // The inner dimensions come last: ranks 0 .. innerRanks - 1 have all their coordinates.
  for (std::int64_t rank = 0; rank < innerRanks; ++rank)
    if (auto checked = ragged().check(localBlock(rank).size); !checked) return checked;
  return {};
}

const RaggedShard& Sharding::ragged() const {
  const Placement& placement = placements_[*raggedDim_];
  if (const auto* strided = std::get_if<StridedRaggedShard>(&placement)) return strided->ragged;
  return std::get<RaggedShard>(placement);
}

TensorBlock Sharding::localBlock(std::int64_t rank) const {
  TensorBlock block{.offset = std::vector<std::int64_t>(shape_.size(), 0), .size = shape_};
  for (std::size_t i = 0; i < placements_.size(); ++i) {
    const auto* shard = std::get_if<Shard>(&placements_[i]);
    if (!shard) continue;
    const auto d = static_cast<std::size_t>(shard->dim);
    const std::int64_t chunk = ceilDivide(block.size[d], mesh_.dims()[i].size);
    const std::int64_t begin = std::min(mesh_.coordinate(rank, i) * chunk, block.size[d]);
    block.offset[d] += begin;
    block.size[d] = std::min(chunk, block.size[d] - begin);
  }
  return block;
}

Interval Sharding::localInterval(std::int64_t rank) const {
  const TensorBlock block = localBlock(rank);
  if (!raggedDim_) return {0, block.elements()};
  return ragged().interval(block.size, mesh_.coordinate(rank, *raggedDim_));
}

std::optional<Interval> Sharding::globalInterval(std::int64_t rank) const {
  const TensorBlock block = localBlock(rank);
  // One run: at most one dimension is cut to more than a single index, and all inside it are whole.
  std::size_t d = 0;
  while (d < shape_.size() && block.size[d] == 1) ++d;
  for (std::size_t i = d + 1; i < shape_.size(); ++i)
    if (block.size[i] != shape_[i]) return std::nullopt;
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape_.size(); ++i) flat = flat * shape_[i] + block.offset[i];
  const Interval local = localInterval(rank);
  return Interval{flat + local.begin, flat + local.end};
}

std::vector<std::int64_t> Sharding::localShape(std::int64_t rank) const {
  if (raggedDim_) return {localInterval(rank).size()};
  return localBlock(rank).size;
}

}  // namespace vsim::core
