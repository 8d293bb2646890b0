#include "core/mesh/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/base/checked.h"

namespace vsim::core {
namespace {

std::int64_t product(std::span<const std::int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>{});
}

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string raggedText(const char* name, const RaggedShard& ragged) {
  return fmt::format("{}(({}), units {}", name, fmt::join(ragged.dims(), ", "),
                     fmt::join(ragged.units(), ":"));
}

}  // namespace

Result<RaggedShard> RaggedShard::make(std::vector<int> dims, std::vector<std::int64_t> units) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != static_cast<int>(i))
      return fail(
          fmt::format("ragged dimensions ({}) are not the first ones in order", fmt::join(dims, ", ")));
  if (units.empty()) return fail("a ragged placement needs units for every rank");
  RaggedShard ragged;
  ragged.before_.reserve(units.size() + 1);
  ragged.before_.push_back(0);
  for (const std::int64_t count : units) {
    if (count < 0) return fail(fmt::format("a ragged placement with {} units", count));
    const auto sum = checkedAdd(ragged.before_.back(), count);
    if (!sum) return fail("the units of a ragged placement overflow");
    ragged.before_.push_back(*sum);
  }
  if (ragged.totalUnits() == 0) return fail("the units of a ragged placement sum to zero");
  if (dims.empty() && ragged.totalUnits() != 1)
    return fail("a ragged placement without dimensions needs exactly one owner, with one unit");
  ragged.dims_ = std::move(dims);
  ragged.units_ = std::move(units);
  return ragged;
}

Result<RaggedShard> RaggedShard::fromIntervals(std::span<const std::int64_t> shape,
                                               std::span<const Interval> intervals) {
  const std::int64_t elements = product(shape);
  std::int64_t step = 0, end = 0;
  std::ptrdiff_t owners = 0;
  for (const Interval& run : intervals) {
    if (run.begin != end || run.size() < 0) return fail("the runs of a tensor do not follow one another");
    end = run.end;
    step = std::gcd(step, run.size());
    owners += run.size() > 0;
  }
  if (end != elements) return fail(fmt::format("runs of {} elements for a tensor of {}", end, elements));
  std::vector<std::int64_t> units;
  units.reserve(intervals.size());
  if (owners <= 1) {
    for (const Interval& run : intervals) units.push_back(run.size() > 0);
    if (owners == 0 && !units.empty()) units.front() = 1;
    return make({}, std::move(units));
  }
  // The fewest leading dimensions whose remainder divides every cut.
  std::vector<int> dims;
  std::int64_t inner = elements;
  while (dims.size() < shape.size() && (dims.empty() || step % inner != 0)) {
    inner /= shape[dims.size()];
    dims.push_back(static_cast<int>(dims.size()));
  }
  for (const Interval& run : intervals) units.push_back(run.size() / step);
  return make(std::move(dims), std::move(units));
}

Result<void> RaggedShard::check(std::span<const std::int64_t> shape) const {
  if (shape.size() < dims_.size())
    return fail(
        fmt::format("{} ragged dimensions for a tensor of shape ({})", dims_.size(), fmt::join(shape, ", ")));
  const std::int64_t ragged = product(shape.first(dims_.size()));
  if (ragged % totalUnits() != 0)
    return fail(fmt::format("{} units do not divide the product {} of the ragged sizes of shape ({})",
                            totalUnits(), ragged, fmt::join(shape, ", ")));
  return {};
}

Interval RaggedShard::interval(std::span<const std::int64_t> shape, std::int64_t rank) const {
  VSIM_CHECK(rank >= 0 && rank < static_cast<std::int64_t>(units_.size()),
             "a rank outside the ragged placement");
  const std::int64_t unit =
      product(shape.first(dims_.size())) / totalUnits() * product(shape.subspan(dims_.size()));
  const auto k = static_cast<std::size_t>(rank);
  return {before_[k] * unit, before_[k + 1] * unit};
}

Result<StridedRaggedShard> makeStridedRaggedShard(std::vector<int> dims, std::vector<std::int64_t> units,
                                                  std::int64_t splitFactor) {
  if (splitFactor < 1)
    return fail(fmt::format("a strided ragged placement with split factor {}", splitFactor));
  auto ragged = RaggedShard::make(std::move(dims), std::move(units));
  if (!ragged) return tl::unexpected(ragged.error());
  return StridedRaggedShard{std::move(*ragged), splitFactor};
}

std::string text(const Placement& placement) {
  return std::visit(
      Overloaded{[](const Replicate&) -> std::string { return "Replicate"; },
                 [](const Partial&) -> std::string { return "Partial"; },
                 [](const Shard& shard) { return fmt::format("Shard({})", shard.dim); },
                 [](const RaggedShard& ragged) { return raggedText("RaggedShard", ragged) + ")"; },
                 [](const StridedRaggedShard& strided) {
                   return raggedText("StridedRaggedShard", strided.ragged) +
                          fmt::format(", split {})", strided.splitFactor);
                 }},
      placement);
}

Result<std::int64_t> blockWithInnerShard(std::span<const std::int64_t> shape, int dim, std::int64_t parts,
                                         std::int64_t block) {
  if (dim < 1 || dim >= static_cast<int>(shape.size()))
    return fail(fmt::format("an inner shard of dimension {} of a tensor with {}", dim, shape.size()));
  const auto d = static_cast<std::size_t>(dim);
  if (parts < 1 || block < 1 || shape[d] < 1 || shape[d] % parts != 0)
    return fail(fmt::format("dimension {} of size {} does not divide by {}", dim, shape[d], parts));
  // The stride of the dimension before: one whole run of dimension dim with everything inside it.
  const auto common = checkedLcm(block, product(shape.subspan(d)));
  if (!common) return fail("the granularity of a ragged cut overflows");
  return *common / parts;
}

}  // namespace vsim::core
