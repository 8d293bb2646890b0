#pragma once

#include <cstdint>
#include <span>

#include "core/dbuffer/dbuffer.h"

namespace vsim::core {

/// Group operations on host memory: what a device kernel must compute. Spans of one call have equal length.

void zeroGroup(std::span<float> x);
void scaleGroup(std::span<float> x, float factor);
void addGroup(std::span<const float> x, std::span<float> y);
void axpyGroup(float a, std::span<const float> x, std::span<float> y);
void copyGroup(std::span<const float> x, std::span<float> y);
/// bf16 as the upper half of fp32, rounded to nearest even; NaN stays NaN.
void castGroup(std::span<const float> x, std::span<std::uint16_t> bf16);
void castGroup(std::span<const std::uint16_t> bf16, std::span<float> y);
/// Sum of squares, added in double precision.
[[nodiscard]] double squaredNormOfGroup(std::span<const float> x);

/// Copies the rank's parts of the flat `tensors` (one span a tensor, in the buffer's order) into its `shard`
/// of shardElements(); padding is set to zero.
void packShard(const DBuffer& buffer, std::int64_t rank, std::span<const std::span<const float>> tensors,
               std::span<float> shard);
/// The reverse: the rank's parts from its shard into the tensors.
void unpackShard(const DBuffer& buffer, std::int64_t rank, std::span<const float> shard,
                 std::span<const std::span<float>> tensors);

}  // namespace vsim::core
