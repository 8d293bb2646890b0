#include "core/mesh/parallel_meshes.h"

#include <fmt/format.h>

#include "core/base/checked.h"

namespace vsim::core {
namespace {

// Largest divisor of n that is at most `limit`.
std::int64_t divisorUpTo(std::int64_t n, std::int64_t limit) {
  std::int64_t best = 1;
  for (std::int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    for (const std::int64_t candidate : {d, n / d})
      if (candidate <= limit && candidate > best) best = candidate;
  }
  return best;
}

}  // namespace

Result<ParallelMeshes> makeParallelMeshes(const ParallelSizes& sizes) {
  auto dense =
      DeviceMesh::make({{"dp_replicate", sizes.replicate}, {"dp_shard", sizes.fsdp}, {"tp", sizes.tensor}});
  if (!dense) return tl::unexpected(dense.error());
  if (sizes.expert < 1) return fail(fmt::format("expert parallel size {}", sizes.expert));
  const std::int64_t shared = sizes.fsdp * sizes.tensor;
  if (shared % sizes.expert != 0)
    return fail(fmt::format("{} expert ranks do not divide fsdp * tensor = {}", sizes.expert, shared),
                fmt::format("{} would", divisorUpTo(shared, sizes.expert)));
  auto sparse = DeviceMesh::make(
      {{"dp_replicate", sizes.replicate}, {"efsdp", shared / sizes.expert}, {"ep", sizes.expert}});
  if (!sparse) return tl::unexpected(sparse.error());
  return ParallelMeshes{std::move(*dense), std::move(*sparse)};
}

}  // namespace vsim::core
