#pragma once

#include <cstdint>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/units.h"
#include "core/mesh/placement.h"
#include "core/plan/layout.h"

namespace vsim::core {

/// A run of one tensor that lies on one rank. Positions and sizes in elements.
struct TensorPart {
  std::size_t tensor = 0;         // index in the problem's order
  std::int64_t tensorOffset = 0;  // in the flat tensor
  std::int64_t shardOffset = 0;   // in the rank's shard
  std::int64_t elements = 0;
};

/// The distributed buffer of a communication unit (veScale-FSDP, arXiv 2602.22437): one buffer of devices *
/// shardElements elements of which every rank keeps its own slice, and where in it each tensor lies. In a
/// contiguous layout the gathered buffer *is* the tensors (views, no copies); otherwise it holds the ranks'
/// shards one after the other and has to be copied apart.
///
/// Addresses alone, no memory: the same for simulation and real buffers. Cost of making one: O(n log n) in
/// the tensors; a rank's parts are worked out when asked for, so that the number of devices does not matter.
/// Immutable.
class DBuffer {
 public:
  /// Errors: a layout that the verifier refuses, with the first reason.
  [[nodiscard]] static Result<DBuffer> make(std::vector<PlanTensor> tensors, Layout layout);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const std::vector<PlanTensor>& tensors() const { return tensors_; }
  [[nodiscard]] std::int64_t devices() const { return layout_.devices; }
  [[nodiscard]] std::int64_t shardElements() const { return layout_.shardElements; }
  [[nodiscard]] std::int64_t unshardedElements() const { return layout_.totalElements(); }
  [[nodiscard]] Bytes shardBytes(DType type) const { return shardElements() * bytesOf(type); }
  [[nodiscard]] Bytes unshardedBytes(DType type) const { return unshardedElements() * bytesOf(type); }
  /// Whether the gathered buffer can be used as the tensors without a copy.
  [[nodiscard]] bool viewsIntoGathered() const { return layout_.contiguous; }

  /// Start of the rank's slice of the gathered buffer: where an in-place all-gather reads its input and an
  /// in-place reduce-scatter leaves its output.
  [[nodiscard]] std::int64_t sliceOffset(std::int64_t rank) const { return rank * layout_.shardElements; }
  /// Start of a whole tensor in the gathered buffer. Contiguous layouts only.
  [[nodiscard]] std::int64_t tensorOffset(std::size_t tensor) const { return layout_.offsets[tensor]; }

  /// What `rank` holds, by position in its shard. O(log n + parts).
  [[nodiscard]] std::vector<TensorPart> parts(std::int64_t rank) const;
  /// The rank's share of one tensor in elements, padding left out. O(1).
  [[nodiscard]] std::int64_t localElements(std::size_t tensor, std::int64_t rank) const;
  /// Elements of the rank's shard that belong to tensors; the rest is padding and stays zero.
  [[nodiscard]] std::int64_t usedElements(std::int64_t rank) const;
  /// Indices of the tensors that lie whole on `rank`: views of their full shape, no other rank holds any of
  /// them. Tensors without elements are none's.
  [[nodiscard]] std::vector<std::size_t> wholeTensors(std::int64_t rank) const;
  /// Ranks [first, last) that hold elements of the tensor. Contiguous: O(1).
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> owners(std::size_t tensor) const;
  /// The tensor's placement on the unit's mesh dimension. Contiguous layouts only.
  [[nodiscard]] RaggedShard placement(std::size_t tensor) const;

  /// Does every rank's slice start at a multiple of `bytes` when the buffer does? NCCL moves a whole transfer
  /// element by element when one pointer is off 16 bytes.
  [[nodiscard]] bool slicesAligned(DType type, Bytes bytes = 16) const;
  /// Does every tensor's part start at a multiple of `bytes` on every rank? (Needed for vector loads.)
  [[nodiscard]] bool tensorsAligned(DType type, Bytes bytes = 16) const;

 private:
  DBuffer(std::vector<PlanTensor> tensors, Layout layout);
  [[nodiscard]] std::vector<TensorPart> contiguousParts(std::int64_t rank) const;
  [[nodiscard]] std::vector<TensorPart> slotParts(std::int64_t rank) const;

  std::vector<PlanTensor> tensors_;
  Layout layout_;
  std::vector<std::size_t> order_;  // tensors with elements by ascending offset
};

}  // namespace vsim::core
