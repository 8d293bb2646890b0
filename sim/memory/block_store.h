#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/program/step_program.h"

namespace vsim::sim {

using BlockId = std::uint32_t;
inline constexpr BlockId kNoBlock = ~BlockId{0};

/// A contiguous piece of a range that the driver gave; pieces of one range are linked in address order.
struct alignas(64) Block {
  std::uint64_t address = 0;
  core::Bytes size = 0, requested = 0;
  std::uint64_t searchesAtInsertion = 0;  // age for garbage collection
  BlockId previous = kNoBlock, next = kNoBlock;
  std::uint32_t range = 0;  // index of the driver range; grows with time, so it is also the age in ties
  std::uint32_t firstUse = kNoBlock;  // list of foreign streams in UseStore
  std::uint32_t pendingEvents = 0;
  core::StreamId stream = 0;
  bool small = false, allocated = false, mapped = true, expandable = false, live = false;

  [[nodiscard]] bool isSplit() const { return previous != kNoBlock || next != kNoBlock; }
  [[nodiscard]] bool isFree() const { return !allocated && pendingEvents == 0 && firstUse == kNoBlock; }
};

/// Pool of nodes addressed by index; freed nodes are used again, so that the steady state allocates nothing.
/// References die when `take` grows the pool.
template <class Node>
class NodeStore {
 public:
  std::uint32_t take() {
    if (unused_.empty()) {
      nodes_.emplace_back();
      unused_.reserve(nodes_.capacity());
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    const std::uint32_t id = unused_.back();
    unused_.pop_back();
    nodes_[id] = Node{};
    return id;
  }
  void giveBack(std::uint32_t id) {
    nodes_[id] = Node{};
    unused_.push_back(id);
  }
  Node& operator[](std::uint32_t id) { return nodes_[id]; }
  const Node& operator[](std::uint32_t id) const { return nodes_[id]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }

 private:
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace vsim::sim
