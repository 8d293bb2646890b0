#pragma once

#include <cstdint>
#include <vector>

#include "core/program/step_program.h"

namespace vsim::core {

/// A run of elements that lies at `from` in one buffer and at `to` in another.
struct Segment {
  std::int64_t from = 0, to = 0, count = 0;
};

/// Neighbouring tensors of a unit's table.
struct TensorRange {
  Index first = 0, count = 0;
};

/// Where the elements of one flat tensor lie in the unit's gathered buffer of devices * shardElements: at its
/// offset (contiguous units), or cut by rows into the ranks' slots (FSDP2). Elements of the buffer that no
/// segment names are padding. from: element of the tensor; to: element of the gathered buffer.
[[nodiscard]] std::vector<Segment> gatheredSegments(const Unit& unit, const UnitTensor& tensor);

/// The part of that which lies on one rank; to: element of the rank's shard.
[[nodiscard]] std::vector<Segment> shardSegments(const Unit& unit, const UnitTensor& tensor,
                                                 std::int64_t rank);

/// FSDP2's copy-out, padded rows included. from: element of the gathered buffer; to: element of the tensor's
/// unsharded storage of devices * shardRows rows.
[[nodiscard]] std::vector<Segment> copyOutSegments(const Unit& unit, const UnitTensor& tensor);

/// Elements of the tensors of `range` together, without padding.
[[nodiscard]] std::int64_t elementsOf(const std::vector<UnitTensor>& table, TensorRange range);

}  // namespace vsim::core
