#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/fixed_order.h"
#include "core/plan/reduced_problem.h"

namespace vsim::core {

/// Tensors of equal size and block: an order needs only say how many of each come when.
struct CountedType {
  ReducedTensor tensor;
  std::vector<std::uint32_t> members{};  // tensors of the problem; one item each, or all as one when glued
  std::int64_t count = 0;                // items
};

enum class ElementWise {
  Separate,  // tensors without blocks are types as all others
  Glued,     // all of them together are one item
  Last,      // they are not part of the sequence: they follow it, where they leave no gap
};

/// A problem as types and counts. Sequences are lists of type indices.
struct CountedProblem {
  CountedProblem(const ReducedProblem& problem, ElementWise mode);

  std::vector<CountedType> types;       // largest total volume first
  std::vector<std::uint32_t> trailing;  // tensors that follow every sequence
  std::int64_t items = 0;               // of all types
  std::int64_t volume = 0;              // elements of all types
  std::int64_t trailingVolume = 0;

  /// Count vectors: the product of (count + 1); a value above 2^40 stands for more.
  [[nodiscard]] std::int64_t states() const;
  [[nodiscard]] TensorOrder expand(const std::vector<std::uint32_t>& sequence) const;
};

/// Ends of a tensor at one shard size, as positions in the buffer of all shards.
struct PlacedType {
  std::int64_t elements = 0, block = 1, shard = 1;
  bool wholeShards = false;
  std::int64_t fresh = -1;  // end when a shard is begun: first start at or after its boundary; -1: no start

  PlacedType(const ReducedTensor& tensor, std::int64_t shardElements, bool whole)
      : elements(tensor.elements), block(tensor.block), shard(shardElements), wholeShards(whole) {
    if (elements <= shard) {
      fresh = elements;
    } else if (block <= shard && block < elements) {
      const std::int64_t rest = elements - (shard - shard % block);
      if (rest <= shard || wholeShards) fresh = shard + rest;
    }
  }
  /// Smallest end when everything before ends `offset` elements into a shard that begins at `base`.
  [[nodiscard]] std::int64_t end(std::int64_t base, std::int64_t offset) const {
    const std::int64_t room = shard - offset;
    if (elements <= room) return base + offset + elements;
    if (block <= room) {
      const std::int64_t rest = elements - (room - room % block);
      if (rest <= shard || wholeShards) return base + shard + rest;
    }
    return base + shard + fresh;
  }
};

}  // namespace vsim::core
