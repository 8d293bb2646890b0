#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/dtype.h"
#include "core/base/operation.h"
#include "core/base/units.h"

namespace vsim::core {

/// What is done to a whole DBuffer, or to a rank's shard of it, in one launch instead of one for each tensor.
enum class GroupOp : std::uint8_t {
  zero,   // x = 0
  scale,  // x = a x
  add,    // y = y + x
  axpy,   // y = y + a x
  cast,   // y = x in another type
  copy,   // y = x
  norm,   // sum of squares of x, one fp32 number (then all-reduced over the ranks)
};
inline constexpr std::array<std::string_view, 7> kGroupOpNames{"zero", "scale", "add", "axpy",
                                                               "cast", "copy",  "norm"};

/// One launch over `elements` consecutive elements, padding included: padding is zero before and after, and
/// adds nothing to a norm.
struct GroupOperation {
  GroupOp op = GroupOp::zero;
  std::int64_t elements = 0;
  DType from = DType::fp32;  // of x
  DType to = DType::fp32;    // of y (zero, scale: of x)
  Bytes bytesRead = 0, bytesWritten = 0;
};

/// Fills in the memory traffic. For add and axpy, y is read and written in `to`.
[[nodiscard]] GroupOperation groupOperation(GroupOp op, std::int64_t elements, DType from, DType to);
[[nodiscard]] inline GroupOperation groupOperation(GroupOp op, std::int64_t elements, DType type) {
  return groupOperation(op, elements, type, type);
}

/// The same as a memory-bound kernel of a step: name, type, bytes, one launch.
[[nodiscard]] Operation asKernel(const GroupOperation& operation);

}  // namespace vsim::core
