#pragma once

#include "core/mesh/device_mesh.h"

namespace vsim::core {

/// Sizes of the parallel dimensions of a job; gpus = replicate * fsdp * tensor.
struct ParallelSizes {
  std::int64_t replicate = 1, fsdp = 1, tensor = 1, expert = 1;
};

/// Two views of the same ranks. Dense parameters live on (dp_replicate, dp_shard, tp), routed experts on
/// (dp_replicate, efsdp, ep) with efsdp = fsdp * tensor / expert: the expert dimension is carved out of the
/// innermost ranks, from tensor parallelism first, then from the shard dimension (as torchtitan lays out its
/// meshes). Group names are those of CommGroup.
struct ParallelMeshes {
  DeviceMesh dense, sparse;
};

/// Errors: sizes below one, expert not a divisor of fsdp * tensor, too many ranks.
[[nodiscard]] Result<ParallelMeshes> makeParallelMeshes(const ParallelSizes& sizes);

}  // namespace vsim::core
