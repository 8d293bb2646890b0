#include "core/mesh/device_mesh.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.h"

namespace vsim::core {
namespace {
constexpr std::int64_t kMostRanks = std::int64_t{1} << 31;
}  // namespace

Result<DeviceMesh> DeviceMesh::make(std::vector<MeshDim> dims) {
  if (dims.empty()) return fail("a device mesh needs at least one dimension");
  DeviceMesh mesh;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].name.empty()) return fail(fmt::format("mesh dimension {} has no name", i));
    for (std::size_t j = 0; j < i; ++j)
      if (dims[j].name == dims[i].name) return fail(fmt::format("mesh dimension '{}' twice", dims[i].name));
    if (dims[i].size < 1)
      return fail(fmt::format("mesh dimension '{}' has size {}", dims[i].name, dims[i].size));
    const auto ranks = checkedMultiply(mesh.ranks_, dims[i].size);
    if (!ranks || *ranks > kMostRanks) return fail("a device mesh of more than 2^31 ranks");
    mesh.ranks_ = *ranks;
  }
  mesh.strides_.assign(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i > 0; --i) mesh.strides_[i - 1] = mesh.strides_[i] * dims[i].size;
  mesh.dims_ = std::move(dims);
  return mesh;
}

Result<std::size_t> DeviceMesh::dim(std::string_view name) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i].name == name) return i;
    names.push_back(dims_[i].name);
  }
  const std::string near = nearest(std::string(name), names);
  return fail(fmt::format("the mesh has no dimension '{}'", name),
              near.empty() ? "" : fmt::format("did you mean '{}'?", near));
}

std::vector<std::int64_t> DeviceMesh::coordinates(std::int64_t rank) const {
  std::vector<std::int64_t> result(dims_.size());
  for (std::size_t i = 0; i < dims_.size(); ++i) result[i] = coordinate(rank, i);
  return result;
}

std::int64_t DeviceMesh::coordinate(std::int64_t rank, std::size_t dim) const {
  return rank / strides_[dim] % dims_[dim].size;
}

std::int64_t DeviceMesh::rank(std::span<const std::int64_t> coordinates) const {
  VSIM_CHECK(coordinates.size() == dims_.size(), "one coordinate for each mesh dimension");
  std::int64_t result = 0;
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    VSIM_CHECK(coordinates[i] >= 0 && coordinates[i] < dims_[i].size, "a coordinate outside the mesh");
    result += coordinates[i] * strides_[i];
  }
  return result;
}

CommGroup DeviceMesh::group(std::size_t dim) const {
  return {.name = dims_[dim].name, .size = dims_[dim].size, .stride = strides_[dim]};
}

Result<CommGroup> DeviceMesh::group(std::string_view name) const {
  const auto index = dim(name);
  if (!index) return tl::unexpected(index.error());
  return group(*index);
}

Result<CommGroup> DeviceMesh::flattened(std::span<const std::string_view> dims, std::string name) const {
  std::vector<std::size_t> chosen;
  for (const std::string_view one : dims) {
    const auto index = dim(one);
    if (!index) return tl::unexpected(index.error());
    if (std::find(chosen.begin(), chosen.end(), *index) != chosen.end())
      return fail(fmt::format("mesh dimension '{}' twice in group '{}'", one, name));
    chosen.push_back(*index);
  }
  std::sort(chosen.begin(), chosen.end());
  // Dimensions of size 1 add no rank: they may be missing between or take part anywhere.
  CommGroup result{.name = std::move(name), .size = 1, .stride = 1};
  for (std::size_t i = chosen.size(); i-- > 0;) {
    const MeshDim& inner = dims_[chosen[i]];
    if (inner.size == 1) continue;
    if (result.size == 1) {
      result.stride = strides_[chosen[i]];
    } else if (strides_[chosen[i]] != result.stride * result.size) {
      return fail(
          fmt::format("group '{}' has no single stride: mesh dimension '{}' is not next to the others",
                      result.name, inner.name));
    }
    result.size *= inner.size;
  }
  return result;
}

std::vector<std::int64_t> groupRanks(const CommGroup& group, std::int64_t rank) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(group.size));
  std::int64_t next = groupBase(group, rank);
  for (std::int64_t& r : ranks) {
    r = next;
    next += group.stride;
  }
  return ranks;
}

}  // namespace vsim::core
