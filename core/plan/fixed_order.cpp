#include "core/plan/fixed_order.h"

#include "core/base/checked.h"
#include "core/base/error.h"

namespace vsim::core {

/// Places tensors one after the other at their earliest valid starts.
class FixedOrder::Placer {
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

FixedOrder::FixedOrder(const ReducedProblem& problem) : devices_(problem.devices) {
  items_.reserve(problem.tensors.size());
  for (const ReducedTensor& tensor : problem.tensors) items_.push_back({tensor.elements, tensor.block});
}

FixedOrder::FixedOrder(const ReducedProblem& problem, const TensorOrder& order) : devices_(problem.devices) {
  items_.reserve(order.size());
  for (const std::uint32_t i : order)
    items_.push_back({problem.tensors[i].elements, problem.tensors[i].block});
}

void FixedOrder::enterClass(std::int64_t d) {
  for (Item& item : items_) item.wholeShards = d % item.block == 0;
}

bool FixedOrder::operator()(std::int64_t shardElements) {
  Placer placer(shardElements, devices_);
  for (const Item& item : items_) {
    ++placements_;
    if (!placer.place(item)) return false;
  }
  return true;
}

std::vector<std::int64_t> FixedOrder::starts(std::int64_t shardElements) {
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

}  // namespace vsim::core
