// Copies of many segments, thread by thread on the host.

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "gpu/cuda/kernels.h"
#include "gpu/cuda/launch_plan.h"
#include "gpu/rounding.h"

using namespace vsim;
using namespace vsim::gpu::cuda;
using core::DType;
using gpu::device::CopySegment;

namespace {

struct Segments {
  std::vector<CopySegment> list;
  std::int64_t longest = 0, elements = 0;
  std::int64_t sourceElements = 0, targetElements = 0;
};

/// Segments that follow each other in the source with gaps, and in the target in another order, with gaps
/// too.
Segments randomSegments(std::mt19937& random, std::size_t count, std::int64_t most) {
  Segments made;
  for (std::size_t i = 0; i < count; ++i) {
    const auto length =
        random() % 7 == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)) + 1;
    made.list.push_back({.from = made.sourceElements, .to = 0, .count = length});
    made.sourceElements += length + static_cast<std::int64_t>(random() % 5);
    made.longest = std::max(made.longest, length);
    made.elements += length;
  }
  std::shuffle(made.list.begin(), made.list.end(), random);
  for (CopySegment& segment : made.list) {
    segment.to = made.targetElements;
    made.targetElements += segment.count + static_cast<std::int64_t>(random() % 3);
  }
  return made;
}

void check(std::mt19937& random, const Segments& segments, DType type) {
  const auto bytes = static_cast<std::size_t>(core::bytesOf(type));
  const std::size_t sourceSkew = random() % 4 * bytes, targetSkew = random() % 4 * bytes;
  std::vector<std::uint8_t> source(static_cast<std::size_t>(segments.sourceElements + 8) * bytes + 64),
      target(static_cast<std::size_t>(segments.targetElements + 8) * bytes + 64, 0xa5);
  for (std::uint8_t& byte : source) byte = static_cast<std::uint8_t>(random());
  const auto align = [bytes](std::vector<std::uint8_t>& memory, std::size_t skew) {
    return memory.data() + (16 - reinterpret_cast<std::uintptr_t>(memory.data()) % 16) % 16 + skew +
           0 * bytes;
  };
  std::uint8_t *const from = align(source, sourceSkew), *const to = align(target, targetSkew);
  std::vector<std::uint8_t> expected = target;
  std::uint8_t* const expectedTo = expected.data() + (to - target.data());
  for (const CopySegment& s : segments.list)
    if (s.count > 0)
      std::memcpy(expectedTo + static_cast<std::size_t>(s.to) * bytes,
                  from + static_cast<std::size_t>(s.from) * bytes, static_cast<std::size_t>(s.count) * bytes);
  const gpu::device::CopyCall call{.source = from,
                                   .target = to,
                                   .sourceType = type,
                                   .targetType = type,
                                   .segments = segments.list.data(),
                                   .segmentCount = static_cast<std::int64_t>(segments.list.size()),
                                   .longest = segments.longest,
                                   .elements = segments.elements};
  REQUIRE(launchCopy({nullptr, 2}, call) == 0);
  CHECK(target == expected);
}

}  // namespace

TEST_CASE("cuda copies: bytes arrive, and nothing else changes") {
  std::mt19937 random(41);
  for (const DType type : {DType::uint8, DType::bf16, DType::fp32, DType::int64})
    for (const std::size_t count : {std::size_t{1}, std::size_t{5}, std::size_t{60}}) {
      check(random, randomSegments(random, count, 50), type);
      check(random, randomSegments(random, count, 9000), type);
    }
}

TEST_CASE("cuda copies: one giant among many dwarfs is cut evenly") {
  std::mt19937 random(43);
  Segments uneven = randomSegments(random, 2500, 20);  // three tiles
  uneven.list.push_back({.from = uneven.sourceElements, .to = uneven.targetElements, .count = 120'000});
  std::swap(uneven.list.back(), uneven.list[700]);
  uneven.sourceElements += 120'000;
  uneven.targetElements += 120'000;
  uneven.elements += 120'000;
  uneven.longest = 120'000;
  REQUIRE(planCopy(2501, uneven.longest, uneven.elements, 8192, 2).balanced);
  check(random, uneven, DType::bf16);
  check(random, uneven, DType::fp32);
}

TEST_CASE("cuda copies: one launch to several buffers, counted from the first, in both kinds of plans") {
  std::mt19937 random(61);
  for (const bool uneven : {false, true})
    for (int round = 0; round < 4; ++round) {
      // Buffers apart from each other, some before the first one.
      std::vector<std::vector<std::uint16_t>> buffers;
      std::vector<float> source(60'000);
      for (float& value : source) value = static_cast<float>(random() % 1000) / 8.0F;
      std::vector<CopySegment> segments;
      std::int64_t from = 0, longest = 0;
      for (int b = 0; b < 12; ++b) {
        const std::int64_t count = uneven && b == 5 ? 30'000 : static_cast<std::int64_t>(random() % 900) + 1;
        buffers.emplace_back(static_cast<std::size_t>(count) + 2, 0xa5a5);
        segments.push_back({.from = from, .to = 0, .count = count});
        from += count;
        longest = std::max(longest, count);
      }
      std::shuffle(buffers.begin(), buffers.end(), random);
      std::shuffle(segments.begin(), segments.end(), random);
      std::ranges::sort(buffers, {}, &std::vector<std::uint16_t>::size);
      std::ranges::sort(segments, {}, &CopySegment::count);
      const auto base = reinterpret_cast<std::intptr_t>(buffers[6].data());
      for (std::size_t b = 0; b < buffers.size(); ++b)
        segments[b].to = (reinterpret_cast<std::intptr_t>(buffers[b].data()) - base) / 2 + 1;
      const gpu::device::CopyCall call{.source = source.data(),
                                       .target = buffers[6].data(),
                                       .sourceType = DType::fp32,
                                       .targetType = DType::bf16,
                                       .segments = segments.data(),
                                       .segmentCount = static_cast<std::int64_t>(segments.size()),
                                       .longest = longest,
                                       .elements = from};
      REQUIRE(launchCopy({nullptr, 2}, call) == 0);
      for (std::size_t b = 0; b < buffers.size(); ++b) {
        const auto& buffer = buffers[b];
        CHECK(buffer.front() == 0xa5a5);
        CHECK(buffer.back() == 0xa5a5);
        for (std::int64_t i = 0; i < segments[b].count; ++i) {
          const float value = source[static_cast<std::size_t>(segments[b].from + i)];
          const auto bits = std::bit_cast<std::uint32_t>(gpu::roundTo(DType::bf16, value)) >> 16U;
          REQUIRE(buffer[static_cast<std::size_t>(i) + 1] == bits);
        }
      }
    }
}

TEST_CASE("cuda copies: conversions round to nearest even") {
  std::mt19937 random(47);
  for (const DType narrow : {DType::bf16, DType::fp16})
    for (const std::int64_t most : {40, 6000}) {
      const Segments segments = randomSegments(random, 20, most);
      std::vector<float> wide(static_cast<std::size_t>(segments.sourceElements) + 1);
      for (float& value : wide) value = static_cast<float>(random() % 100'000) / 777.0F - 60.0F;
      std::vector<std::uint16_t> half(static_cast<std::size_t>(segments.targetElements) + 1, 0xa5a5);
      std::vector<float> back(wide.size(), -1);
      gpu::device::CopyCall call{.source = wide.data(),
                                 .target = half.data(),
                                 .sourceType = DType::fp32,
                                 .targetType = narrow,
                                 .segments = segments.list.data(),
                                 .segmentCount = static_cast<std::int64_t>(segments.list.size()),
                                 .longest = segments.longest,
                                 .elements = segments.elements};
      REQUIRE(launchCopy({nullptr, 2}, call) == 0);
      std::vector<CopySegment> reverse = segments.list;
      for (CopySegment& segment : reverse) std::swap(segment.from, segment.to);
      call.source = half.data();
      call.target = back.data();
      std::swap(call.sourceType, call.targetType);
      call.segments = reverse.data();
      REQUIRE(launchCopy({nullptr, 2}, call) == 0);
      std::vector<float> expected(back.size(), -1);
      for (const CopySegment& s : segments.list)
        for (std::int64_t i = s.from; i < s.from + s.count; ++i)
          expected[static_cast<std::size_t>(i)] = gpu::roundTo(narrow, wide[static_cast<std::size_t>(i)]);
      CHECK(back == expected);
    }
  gpu::device::CopyCall none{
      .sourceType = DType::bf16, .targetType = DType::fp16, .segmentCount = 1, .elements = 1};
  CHECK(launchCopy({nullptr, 2}, none) == kUnsupportedTypes);
  none.segmentCount = 0;
  CHECK(launchCopy({nullptr, 2}, none) == 0);
}

TEST_CASE("cuda copies: plans cover everything, also beyond 2^31 elements") {
  const std::int64_t huge = (std::int64_t{5} << 32U) + 7;
  const CopyPlan one = planCopy(1, huge, huge, 8192, 132);
  CHECK_FALSE(one.balanced);
  CHECK(one.chunks * one.chunk >= huge);
  CHECK(one.blocks == one.chunks);
  const CopyPlan many = planCopy(100'000, huge, huge + 100'000, 8192, 132);
  CHECK(many.balanced);
  CHECK(many.blocks <= 132 * kBalancedBlocksPerProcessor);
  std::mt19937_64 random(53);
  for (int round = 0; round < 2000; ++round) {
    const auto elements = static_cast<std::int64_t>(random() >> (1 + random() % 60));
    const auto parts = static_cast<std::int64_t>(1 + random() % 2000);
    REQUIRE(partBegin(elements, parts, 0) == 0);
    REQUIRE(partBegin(elements, parts, parts) == elements);
    const auto part = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(parts));
    const std::int64_t length = partBegin(elements, parts, part + 1) - partBegin(elements, parts, part);
    REQUIRE((length == elements / parts || length == elements / parts + 1));
  }
}
