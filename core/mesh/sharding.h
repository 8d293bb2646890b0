#pragma once

#include <optional>
#include <vector>

#include "core/mesh/device_mesh.h"
#include "core/mesh/placement.h"

namespace vsim::core {

/// A rectangular part of a tensor: `size` elements from `offset` in every dimension.
struct TensorBlock {
  std::vector<std::int64_t> offset, size;
  [[nodiscard]] std::int64_t elements() const;
};

/// A tensor on a mesh: its global shape and one placement a mesh dimension. Says what each rank holds.
/// Immutable value.
///
/// Shards cut from the outer mesh dimension to the inner one; a ragged placement cuts last, whatever its
/// place: its units describe what the other dimensions leave. Placements with a RaggedShard therefore allow
/// only Replicate before it (veScale: FSDP outer, tensor and expert parallelism inner).
class Sharding {
 public:
  /// Errors: another number of placements than mesh dimensions; shard dimensions that the tensor lacks; two
  /// ragged placements, or one after a Shard or Partial; units for another number of ranks; units that do not
  /// divide some rank's ragged sizes; a strided one whose split factor differs from the inner shards of
  /// dimension 0; sizes beyond 2^63.
  [[nodiscard]] static Result<Sharding> make(DeviceMesh mesh, std::vector<std::int64_t> shape,
                                             std::vector<Placement> placements);

  [[nodiscard]] const DeviceMesh& mesh() const { return mesh_; }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const { return shape_; }
  [[nodiscard]] const std::vector<Placement>& placements() const { return placements_; }
  /// Mesh dimension of the ragged placement, if there is one.
  [[nodiscard]] std::optional<std::size_t> raggedDim() const { return raggedDim_; }
  /// The ragged placement, strided or not; there must be one.
  [[nodiscard]] const RaggedShard& ragged() const;

  /// The block that the Shards leave to `rank`, before a ragged cut.
  [[nodiscard]] TensorBlock localBlock(std::int64_t rank) const;
  /// What `rank` holds, as a run of its flat local block: all of it without a ragged placement.
  [[nodiscard]] Interval localInterval(std::int64_t rank) const;
  /// The same as a run of the flat global tensor; nullopt when the local block is not one run of it.
  [[nodiscard]] std::optional<Interval> globalInterval(std::int64_t rank) const;
  /// Shape that `rank` sees: flat (one dimension) under a ragged placement, the local block's otherwise.
  [[nodiscard]] std::vector<std::int64_t> localShape(std::int64_t rank) const;

 private:
  Sharding(DeviceMesh mesh, std::vector<std::int64_t> shape, std::vector<Placement> placements)
      : mesh_(std::move(mesh)), shape_(std::move(shape)), placements_(std::move(placements)) {}
  [[nodiscard]] Result<void> checkPlacements();
  [[nodiscard]] Result<void> checkRagged() const;

  DeviceMesh mesh_;
  std::vector<std::int64_t> shape_;
  std::vector<Placement> placements_;
  std::optional<std::size_t> raggedDim_;
};

}  // namespace vsim::core
