#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/planned_system.h"
#include "core/dbuffer/dbuffer.h"

namespace vsim::gui {

/// Neighbouring devices whose shards hold the same tensors at the same places.
struct PlanRow {
  std::int64_t firstDevice = 0, devices = 1;
  [[nodiscard]] std::int64_t lastDevice() const { return firstDevice + devices - 1; }
};

/// A stretch of a row that belongs to one tensor, or to none. Elements of the shard, half open.
struct PlanPiece {
  std::int64_t begin = 0, end = 0;
  std::int64_t tensor = -1;       // index in the bucket; -1: padding
  std::int64_t tensorOffset = 0;  // of `begin` in the flat tensor, on the row's first device
  [[nodiscard]] std::int64_t elements() const { return end - begin; }
  [[nodiscard]] bool padding() const { return tensor < 0; }
};

/// What is to be known of a bucket's layout. Sizes in elements unless they say otherwise.
struct PlanFacts {
  std::int64_t shardElements = 0, bucketElements = 0, paddingElements = 0;
  std::int64_t elementBytes = 4;                   // of a stored parameter
  std::int64_t mostUsed = 0, leastUsed = 0;        // of a shard, without padding
  std::int64_t splitTensors = 0;                   // that lie on more than one device
  std::int64_t cutTensors = 0;                     // with a block on two devices
  std::int64_t cutBlocks = 0;                      // such blocks
  std::int64_t copiesBefore = 0, copiesAfter = 0;  // tensors copied: before a reduction, after a gather
};

/// Where everything of one bucket lies, on all devices, in a form that can be drawn: rows of equal devices
/// and their pieces, made when asked for. Immutable.
class PlanMap {
 public:
  /// `rule`: of core::layoutRule, which made the bucket's layout; `elementBytes`: of a stored parameter.
  /// Takes O(tensors + devices), for layouts that cut every tensor O(devices * tensors). Errors: an unknown
  /// rule; a layout that the verifier refuses.
  [[nodiscard]] static core::Result<PlanMap> make(const app::PlannedBucket& bucket, const std::string& rule,
                                                  std::int64_t elementBytes);

  [[nodiscard]] const core::DBuffer& buffer() const { return buffer_; }
  [[nodiscard]] const core::PlanTensor& tensor(std::int64_t index) const {
    return tensors_[static_cast<std::size_t>(index)];
  }
  /// As the model has them, with the blocks that the bucket asks for.
  [[nodiscard]] std::span<const core::PlanTensor> tensors() const { return tensors_; }
  [[nodiscard]] std::int64_t align() const { return align_; }
  [[nodiscard]] std::span<const PlanRow> rows() const { return rows_; }
  [[nodiscard]] std::size_t rowOf(std::int64_t device) const;
  /// Everything between 0 and the shard's end, padding too, in order and without gaps.
  [[nodiscard]] std::vector<PlanPiece> pieces(std::size_t row) const;
  [[nodiscard]] const PlanFacts& facts() const { return facts_; }

  /// Index of the tensor of that name; -1: none.
  [[nodiscard]] std::int64_t tensorNamed(const std::string& name) const;
  /// Blocks of the tensor that lie on more than one device.
  [[nodiscard]] std::int64_t cutBlocks(std::int64_t tensor) const {
    return cutBlocks_[static_cast<std::size_t>(tensor)];
  }
  /// Granularity in elements, not above the tensor's size.
  [[nodiscard]] std::int64_t block(std::int64_t tensor) const;
  /// Whether the tensor goes on beyond the piece's end on another device, or begins on one before it.
  [[nodiscard]] bool goesOn(const PlanPiece& piece) const;
  [[nodiscard]] bool cameFrom(const PlanPiece& piece) const;

 private:
  PlanMap(core::DBuffer buffer, std::vector<core::PlanTensor> tensors, std::int64_t align)
      : buffer_(std::move(buffer)), tensors_(std::move(tensors)), align_(align) {}
  void foldContiguous();
  void foldSlots();
  void countCuts();
  void countUse(std::int64_t elementBytes);

  core::DBuffer buffer_;
  std::vector<core::PlanTensor> tensors_;
  std::int64_t align_ = 1;
  std::vector<PlanRow> rows_;
  std::vector<std::int64_t> cutBlocks_;
  PlanFacts facts_;
};

/// The piece that covers `element`; pieces must be one row's. O(log n). size(): beyond the end.
[[nodiscard]] std::size_t pieceAt(std::span<const PlanPiece> pieces, std::int64_t element);

/// What a pointer over `element` of the row is told, one fact a line.
[[nodiscard]] std::string describePiece(const PlanMap& map, const PlanRow& row, const PlanPiece& piece,
                                        std::int64_t element, const std::string& dtype);

}  // namespace vsim::gui
