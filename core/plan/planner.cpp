#include "core/plan/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/checked.h"
#include "core/plan/bounds_search.h"
#include "core/plan/reduced_problem.h"
#include "core/plan/shard_size_search.h"

// Method. Whether a tensor may start at a position depends only on the position's offset in its shard. For a
// fixed shard size S the earliest valid start is therefore best for every tensor in turn: the later ones only
// gain. One pass over the tensors, each O(1) whatever the number of shards it spans, decides S;
// smallestShardSize() finds the least.

namespace vsim::core {
namespace {

struct Item {
  std::int64_t elements = 0, block = 1;
  bool wholeShards = false;  // may fill a shard from boundary to boundary
};

/// Places tensors one after the other at their earliest valid starts.
class Placer {
 public:
  Placer(std::int64_t shardElements, std::int64_t devices) : size_(shardElements), devices_(devices) {}

  /// False when no shard is left or the tensor has no valid start at all. Afterwards startShard() and
  /// startOffset() say where it begins.
  bool place(const Item& item) {
    const bool placed = placeFrom(item, offset_) || (++shard_, placeFrom(item, 0));
    return placed && shard_ < devices_;
  }
  [[nodiscard]] std::int64_t startShard() const { return startShard_; }
  [[nodiscard]] std::int64_t startOffset() const { return startOffset_; }

 private:
  bool placeFrom(const Item& item, std::int64_t from) {
    const std::int64_t room = size_ - from;
    startShard_ = shard_;
    if (item.elements <= room) {
      startOffset_ = from;
      offset_ = from + item.elements;
      return true;
    }
    if (item.block > room) return false;
    // Across the boundary with a head of whole blocks. With fewer blocks in the head more is left for the
    // next shard, so this one is the only candidate.
    const std::int64_t head = room - room % item.block;
    const std::int64_t rest = item.elements - head;
    startOffset_ = size_ - head;
    if (rest <= size_) {
      ++shard_;
      offset_ = rest;
      return true;
    }
    if (!item.wholeShards) return false;
    const std::int64_t between = (rest - 1) / size_;
    shard_ += 1 + between;
    offset_ = rest - between * size_;
    return true;
  }

  std::int64_t size_, devices_;
  std::int64_t shard_ = 0, offset_ = 0;  // end of what is placed: offset_ in (0, size_] except at the start
  std::int64_t startShard_ = 0, startOffset_ = 0;
};

class GivenOrder {
 public:
  explicit GivenOrder(const ReducedProblem& problem) : devices_(problem.devices) {
    items_.reserve(problem.tensors.size());
    for (const ReducedTensor& tensor : problem.tensors) items_.push_back({tensor.elements, tensor.block});
  }
  void enterClass(std::int64_t d) {
    for (Item& item : items_) item.wholeShards = d % item.block == 0;
  }
  bool operator()(std::int64_t shardElements) const {
    Placer placer(shardElements, devices_);
    return std::all_of(items_.begin(), items_.end(), [&](const Item& item) { return placer.place(item); });
  }
  /// Starts at a size that fits.
  [[nodiscard]] std::vector<std::int64_t> starts(std::int64_t shardElements) {
    enterClass(shardElements);
    Placer placer(shardElements, devices_);
    std::vector<std::int64_t> starts;
    starts.reserve(items_.size());
    for (const Item& item : items_) {
      VSIM_CHECK(placer.place(item), "a shard size that was found feasible is not");
      starts.push_back(placer.startShard() * shardElements + placer.startOffset());
    }
    return starts;
  }

 private:
  std::vector<Item> items_;
  std::int64_t devices_;
};

struct ProblemKey {
  const LayoutProblem* problem;
  bool operator<(const ProblemKey& other) const {
    const LayoutProblem &a = *problem, &b = *other.problem;
    const auto sizes = [](const LayoutProblem& p) {
      return std::tuple(p.devices, p.unit, p.align, p.tensors.size());
    };
    if (sizes(a) != sizes(b)) return sizes(a) < sizes(b);
    return std::lexicographical_compare(a.tensors.begin(), a.tensors.end(), b.tensors.begin(),
                                        b.tensors.end(), [](const PlanTensor& x, const PlanTensor& y) {
                                          return x.elements != y.elements ? x.elements < y.elements
                                                                          : x.block < y.block;
                                        });
  }
};

}  // namespace

Result<Layout> planGivenOrder(const LayoutProblem& problem) {
  if (auto error = problemError(problem)) return tl::unexpected(std::move(*error));
  const ReducedProblem reduced = reduce(problem);
  Layout layout{.devices = problem.devices};
  for (const PlanTensor& tensor : problem.tensors) layout.unitElements += tensor.elements;
  if (reduced.volume == 0) {
    layout.offsets.assign(problem.tensors.size(), 0);
    return layout;
  }

  const std::int64_t everything = roundUp(reduced.volume, reduced.unit);
  const std::int64_t placeable = placeableBound(reduced, everything);
  GivenOrder fits(reduced);
  const std::int64_t best = smallestShardSize(reduced, placeable, everything, fits);
  const std::int64_t bound = best == placeable ? placeable : blocksBound(reduced, placeable, best);

  const auto total = checkedMultiply(best * problem.align, problem.devices);
  if (!total || *total > std::int64_t{1} << 62)
    return fail(
        fmt::format("{} shards of {} elements exceed 2^62 elements", problem.devices, best * problem.align));
  layout.shardElements = best * problem.align;
  layout.lowerBound = bound * problem.align;
  layout.offsets = fits.starts(best);
  for (std::int64_t& start : layout.offsets) start *= problem.align;
  return layout;
}

Result<std::vector<Layout>> planAll(std::span<const LayoutProblem> problems) {
  std::vector<Layout> layouts;
  layouts.reserve(problems.size());
  std::map<ProblemKey, std::size_t> known;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const auto [entry, isNew] = known.try_emplace(ProblemKey{&problems[i]}, i);
    if (!isNew) {
      // Shapes are no part of the key: a repeated problem still has to be a sound one.
      if (auto error = problemError(problems[i])) return tl::unexpected(std::move(*error));
      layouts.push_back(layouts[entry->second]);
      continue;
    }
    auto layout = planGivenOrder(problems[i]);
    if (!layout) return tl::unexpected(std::move(layout.error()));
    layouts.push_back(std::move(*layout));
  }
  return layouts;
}

}  // namespace vsim::core
