#pragma once

#include <numeric>
#include <random>
#include <vector>

#include "core/mesh/sharding.h"

namespace vsim::test {

inline core::DeviceMesh meshOf(const std::vector<std::int64_t>& sizes) {
  std::vector<core::MeshDim> dims;
  for (const std::int64_t size : sizes) dims.push_back({"m" + std::to_string(dims.size()), size});
  return *core::DeviceMesh::make(dims);
}

inline std::int64_t elementsOf(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

/// Units of a random cut of `parts` parts for `ranks` ranks: one owner, equal units or any.
inline std::vector<std::int64_t> randomUnits(std::mt19937& random, std::int64_t parts, std::int64_t ranks) {
  std::vector<std::int64_t> units(static_cast<std::size_t>(ranks), 0);
  const auto kind = random() % 4;
  if (kind == 0 || parts == 0) {
    units[random() % units.size()] = 1;
  } else if (kind == 1 && parts % ranks == 0) {
    for (auto& unit : units) unit = 1;
  } else {
    for (std::int64_t part = 0; part < parts; ++part) ++units[random() % units.size()];
  }
  return units;
}

/// A ragged placement of `shape`, the local tensor of every inner rank, on a mesh dimension of `ranks`.
inline core::RaggedShard randomRagged(std::mt19937& random, const std::vector<std::int64_t>& shape,
                                      std::int64_t ranks) {
  std::vector<int> dims(random() % (shape.size() + 1));
  std::iota(dims.begin(), dims.end(), 0);
  if (dims.empty()) {
    std::vector<std::int64_t> owner(static_cast<std::size_t>(ranks), 0);
    owner[random() % owner.size()] = 1;
    return *core::RaggedShard::make({}, owner);
  }
  const std::int64_t parts =
      std::accumulate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(dims.size()),
                      std::int64_t{1}, std::multiplies<>{});
  return *core::RaggedShard::make(dims, randomUnits(random, parts, ranks));
}

enum class Partials { allowed, none };

/// Any placement of a tensor on a mesh that can be made: plain ones anywhere, a ragged one where the others
/// leave equal blocks.
inline core::Sharding randomSharding(std::mt19937& random, const core::DeviceMesh& mesh,
                                     const std::vector<std::int64_t>& shape, Partials partials) {
  while (true) {
    std::vector<core::Placement> placements;
    for (std::size_t i = 0; i < mesh.dims().size(); ++i) {
      const auto kind = random() % 5;
      if (kind < 2 && !shape.empty())
        placements.emplace_back(core::Shard{static_cast<int>(random() % shape.size())});
      else if (kind == 2 && partials == Partials::allowed)
        placements.emplace_back(core::Partial{});
      else
        placements.emplace_back(core::Replicate{});
    }
    const auto plain = core::Sharding::make(mesh, shape, placements);
    if (random() % 2 == 0) return *plain;
    const std::size_t at = random() % mesh.dims().size();
    for (std::size_t i = 0; i <= at; ++i) placements[i] = core::Replicate{};
    const auto around = core::Sharding::make(mesh, shape, placements);
    const auto ragged = randomRagged(random, around->localBlock(0).size, mesh.dims()[at].size);
    std::int64_t split = 1;
    for (std::size_t i = at + 1; i < placements.size(); ++i)
      if (placements[i] == core::Placement{core::Shard{0}}) split *= mesh.dims()[i].size;
    if (random() % 2 == 0)
      placements[at] = ragged;
    else
      placements[at] = core::StridedRaggedShard{ragged, split};
    if (auto made = core::Sharding::make(mesh, shape, placements)) return *made;
  }
}

/// The flat global positions of what a rank holds, in the order of its local tensor: straight from the
/// definition.
inline std::vector<std::int64_t> globalPositions(const core::Sharding& sharding, std::int64_t rank) {
  const core::TensorBlock block = sharding.localBlock(rank);
  const core::Interval run = sharding.localInterval(rank);
  std::vector<std::int64_t> positions;
  for (std::int64_t flat = run.begin; flat < run.end; ++flat) {
    std::int64_t rest = flat, position = 0, stride = 1;
    for (std::size_t d = block.size.size(); d-- > 0;) {
      position += (block.offset[d] + rest % block.size[d]) * stride;
      rest /= block.size[d];
      stride *= sharding.shape()[d];
    }
    positions.push_back(position);
  }
  return positions;
}

inline std::vector<std::int64_t> randomShape(std::mt19937& random, std::size_t mostDims,
                                             std::int64_t mostSize) {
  std::vector<std::int64_t> shape;
  for (std::size_t d = 0, n = random() % (mostDims + 1); d < n; ++d)
    shape.push_back(random() % 20 == 0 ? 0 : 1 + static_cast<std::int64_t>(random()) % mostSize);
  return shape;
}

inline core::DeviceMesh randomMesh(std::mt19937& random, std::size_t mostDims, std::int64_t mostSize) {
  std::vector<std::int64_t> sizes;
  for (std::size_t d = 0, n = 1 + random() % mostDims; d < n; ++d)
    sizes.push_back(1 + static_cast<std::int64_t>(random()) % mostSize);
  return meshOf(sizes);
}

}  // namespace vsim::test
