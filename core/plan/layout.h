#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace vsim::core {

/// One tensor to be laid out. Sizes in elements; `shape` is row-major (empty: a scalar).
struct PlanTensor {
  std::string name{};
  std::vector<std::int64_t> shape{};
  std::int64_t elements = 0;  // product of shape
  /// Granularity: a shard boundary may fall only at multiples of `block` elements from the tensor's start.
  /// The last block may be short; a block larger than the tensor keeps the tensor whole. See granularity.h.
  std::int64_t block = 1;
  /// Dimension that systems which shard every parameter on its own cut (FSDP2's placement function). Layouts
  /// of one contiguous buffer do not look at it.
  int shardDim = 0;
};

/// The tensors of one communication bucket in their given order, and the devices that share them.
struct LayoutProblem {
  std::vector<PlanTensor> tensors{};
  std::int64_t devices = 1;
  std::int64_t unit = 1;   // the shard size is a multiple of it; itself a multiple of `align`
  std::int64_t align = 1;  // every tensor starts at a multiple of it
  /// Bytes of an element in the gathered buffer. Only rules that align in bytes (FSDP1) look at it.
  std::int64_t elementBytes = 2;
};

/// Where the tensors of a problem lie. All sizes in elements.
struct Layout {
  std::int64_t devices = 1;
  std::int64_t shardElements = 0;  // S: every device holds exactly this many, padding included
  std::int64_t unitElements = 0;   // of all tensors of the communication unit, without padding
  std::int64_t lowerBound = 0;     // no layout of these tensors, in whatever order, has a smaller S
  /// Per tensor, in the problem's order. Contiguous layouts: start in the global buffer of
  /// devices * shardElements elements. Otherwise: start of the tensor's slot inside every device's shard.
  std::vector<std::int64_t> offsets{};
  /// True: a tensor is one run of the global buffer (RaggedShard, FSDP1, Megatron-FSDP). False: each device
  /// holds its slices of every tensor one after the other (FSDP2; DeepSpeed of flattened tensors), so that a
  /// gather must be copied apart.
  bool contiguous = true;

  [[nodiscard]] std::int64_t totalElements() const { return devices * shardElements; }
  /// Share of padding: total / unit - 1; 0 for an empty unit.
  [[nodiscard]] double paddingRatio() const;
  /// How far S is above the proven lower bound at most: S / lowerBound - 1; 0 for an empty unit.
  [[nodiscard]] double gapRatio() const;
};

/// What makes `problem` meaningless: counts below one, negative sizes, shapes that do not give `elements`, a
/// unit that is no multiple of the alignment, sizes beyond 2^60 elements. nullopt when it can be planned.
[[nodiscard]] std::optional<Error> problemError(const LayoutProblem& problem);

}  // namespace vsim::core
