#include "core/program/data_moves.h"

#include <algorithm>

namespace vsim::core {

std::vector<Segment> gatheredSegments(const Unit& unit, const UnitTensor& tensor) {
  std::vector<Segment> segments;
  if (tensor.elements == 0) return segments;
  if (unit.contiguous) {
    segments.push_back({0, tensor.offset, tensor.elements});
    return segments;
  }
  const std::int64_t slot = tensor.shardRows * tensor.rowElements;
  for (std::int64_t rank = 0; rank < unit.devices && rank * slot < tensor.elements; ++rank)
    segments.push_back({rank * slot, rank * unit.shardElements + tensor.shardOffset,
                        std::min(slot, tensor.elements - rank * slot)});
  return segments;
}

std::vector<Segment> shardSegments(const Unit& unit, const UnitTensor& tensor, std::int64_t rank) {
  const std::int64_t begin = rank * unit.shardElements, end = begin + unit.shardElements;
  std::vector<Segment> segments;
  for (const Segment& all : gatheredSegments(unit, tensor)) {
    const std::int64_t from = std::max(all.to, begin), to = std::min(all.to + all.count, end);
    if (from < to) segments.push_back({all.from + from - all.to, from - begin, to - from});
  }
  return segments;
}

std::vector<Segment> copyOutSegments(const Unit& unit, const UnitTensor& tensor) {
  const std::int64_t slot = tensor.shardRows * tensor.rowElements;
  std::vector<Segment> segments;
  for (std::int64_t rank = 0; rank < unit.devices && slot > 0; ++rank)
    segments.push_back({rank * unit.shardElements + tensor.shardOffset, rank * slot, slot});
  return segments;
}

std::int64_t elementsOf(const std::vector<UnitTensor>& table, TensorRange range) {
  std::int64_t total = 0;
  for (Index t = range.first; t < range.first + range.count; ++t) total += table[t].elements;
  return total;
}

}  // namespace vsim::core
