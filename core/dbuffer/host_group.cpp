#include "core/dbuffer/host_group.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace vsim::core {
namespace {

void checkSizes(std::size_t a, std::size_t b) { VSIM_CHECK(a == b, "group operands of different length"); }

std::uint16_t bf16From(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<std::uint16_t>(rounded >> 16);
}

template <class T>
std::span<T> run(std::span<T> all, std::int64_t offset, std::int64_t count) {
  return all.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
}

}  // namespace

void zeroGroup(std::span<float> x) { std::fill(x.begin(), x.end(), 0.0f); }

void scaleGroup(std::span<float> x, float factor) {
  for (float& value : x) value *= factor;
}

void addGroup(std::span<const float> x, std::span<float> y) {
  checkSizes(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += x[i];
}

void axpyGroup(float a, std::span<const float> x, std::span<float> y) {
  checkSizes(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}

void copyGroup(std::span<const float> x, std::span<float> y) {
  checkSizes(x.size(), y.size());
  std::copy(x.begin(), x.end(), y.begin());
}

void castGroup(std::span<const float> x, std::span<std::uint16_t> bf16) {
  checkSizes(x.size(), bf16.size());
  std::transform(x.begin(), x.end(), bf16.begin(), bf16From);
}

void castGroup(std::span<const std::uint16_t> bf16, std::span<float> y) {
  checkSizes(bf16.size(), y.size());
  std::transform(bf16.begin(), bf16.end(), y.begin(),
                 [](std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); });
}

double squaredNormOfGroup(std::span<const float> x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

void packShard(const DBuffer& buffer, std::int64_t rank, std::span<const std::span<const float>> tensors,
               std::span<float> shard) {
  checkSizes(shard.size(), static_cast<std::size_t>(buffer.shardElements()));
  zeroGroup(shard);
  for (const TensorPart& part : buffer.parts(rank))
    copyGroup(run(tensors[part.tensor], part.tensorOffset, part.elements),
              run(shard, part.shardOffset, part.elements));
}

void unpackShard(const DBuffer& buffer, std::int64_t rank, std::span<const float> shard,
                 std::span<const std::span<float>> tensors) {
  checkSizes(shard.size(), static_cast<std::size_t>(buffer.shardElements()));
  for (const TensorPart& part : buffer.parts(rank))
    copyGroup(run(shard, part.shardOffset, part.elements),
              run(tensors[part.tensor], part.tensorOffset, part.elements));
}

}  // namespace vsim::core
