#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/collective.h"
#include "core/base/error.h"

namespace vsim::core {

struct MeshDim {
  std::string name;
  std::int64_t size = 1;
  friend bool operator==(const MeshDim&, const MeshDim&) = default;
};

/// The ranks of a job as a grid with named dimensions, outer to inner: rank = row-major index of its
/// coordinates, so that the last dimension's neighbours have consecutive ranks. Immutable value.
class DeviceMesh {
 public:
  /// Errors: no dimension, empty or repeated names, sizes below one, more than 2^31 ranks.
  [[nodiscard]] static Result<DeviceMesh> make(std::vector<MeshDim> dims);

  [[nodiscard]] std::int64_t ranks() const { return ranks_; }
  [[nodiscard]] std::span<const MeshDim> dims() const { return dims_; }
  /// Index of the dimension of that name. Error: unknown name.
  [[nodiscard]] Result<std::size_t> dim(std::string_view name) const;

  /// One coordinate a dimension; 0 <= rank < ranks().
  [[nodiscard]] std::vector<std::int64_t> coordinates(std::int64_t rank) const;
  [[nodiscard]] std::int64_t coordinate(std::int64_t rank, std::size_t dim) const;
  /// Inverse of coordinates(); every coordinate inside its dimension.
  [[nodiscard]] std::int64_t rank(std::span<const std::int64_t> coordinates) const;

  /// The communicator along one dimension: the ranks that differ in it alone.
  [[nodiscard]] CommGroup group(std::size_t dim) const;
  [[nodiscard]] Result<CommGroup> group(std::string_view name) const;
  /// Several dimensions as one communicator called `name`, ordered outer to inner as in the mesh. Errors:
  /// unknown or repeated dimensions; dimensions with another one of size above 1 between them: their ranks
  /// have no single stride.
  [[nodiscard]] Result<CommGroup> flattened(std::span<const std::string_view> dims, std::string name) const;

  friend bool operator==(const DeviceMesh&, const DeviceMesh&) = default;

 private:
  DeviceMesh() = default;
  std::vector<MeshDim> dims_;
  std::vector<std::int64_t> strides_;
  std::int64_t ranks_ = 1;
};

/// Position of `rank` in its group, in [0, size).
[[nodiscard]] constexpr std::int64_t indexInGroup(const CommGroup& group, std::int64_t rank) {
  return rank / group.stride % group.size;
}
/// Lowest rank of the group that `rank` belongs to.
[[nodiscard]] constexpr std::int64_t groupBase(const CommGroup& group, std::int64_t rank) {
  return rank - indexInGroup(group, rank) * group.stride;
}
/// All ranks of the group that `rank` belongs to, ascending.
[[nodiscard]] std::vector<std::int64_t> groupRanks(const CommGroup& group, std::int64_t rank);

}  // namespace vsim::core
