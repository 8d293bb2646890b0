#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace vsim::gpu::cuda {

/// How kernels are cut into blocks and memory accesses: plain arithmetic, the same on host and device.

inline constexpr int kThreads = 256;                            // of a block
inline constexpr int kLanes = 32;                               // of a warp
inline constexpr std::int64_t kMostBlocks = 2'147'483'647;      // of a grid, x
inline constexpr std::int64_t kPackBytes = 16;                  // the widest access of one thread
inline constexpr std::int64_t kReductionBlocks = 1024;          // partial sums of a reduction
inline constexpr std::int64_t kBalancedBlocksPerProcessor = 8;  // 256 threads each: 2,048 threads a processor

constexpr std::int64_t ceilDivide(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// Consecutive elements as `head` single ones, `packs` of `width` that are aligned in every operand, and the
/// rest as single ones again.
struct PackPlan {
  int width = 1;
  std::int64_t head = 0, packs = 0;
};

/// Where an operand begins, and the bytes of its elements (a power of two).
struct Operand {
  const void* address = nullptr;
  std::size_t elementBytes = 1;
};

/// Packs of `width` elements (a power of two) where all operands reach alignment at the same element, else
/// single elements.
inline PackPlan planPacks(std::int64_t elements, int width, std::initializer_list<Operand> operands) {
  const auto phaseOf = [width](const Operand& operand) {
    return reinterpret_cast<std::uintptr_t>(operand.address) / operand.elementBytes %
           static_cast<std::uintptr_t>(width);
  };
  const std::uintptr_t phase = phaseOf(*operands.begin());
  for (const Operand& operand : operands)
    if (phaseOf(operand) != phase) return {1, 0, elements};
  const std::int64_t toAligned = (width - static_cast<std::int64_t>(phase)) % width;
  const std::int64_t head = std::min(elements, toAligned);
  return {width, head, (elements - head) / width};
}

/// Blocks for `packs`, of which each thread takes `unroll`; at least one.
constexpr std::int64_t blocksFor(std::int64_t packs, int unroll) {
  const std::int64_t blocks = ceilDivide(packs, std::int64_t{kThreads} * unroll);
  return blocks < 1 ? 1 : blocks > kMostBlocks ? kMostBlocks : blocks;
}

/// How a launch copies many segments. Even: block b copies chunk b % chunks of segment b / chunks. Balanced:
/// the elements of all segments in a row are cut into `blocks` equal parts, each block looks for its own.
struct CopyPlan {
  bool balanced = false;
  std::int64_t chunk = 0;   // elements of a chunk
  std::int64_t chunks = 0;  // of every segment
  std::int64_t blocks = 0;
};

/// `segments` of at most `longest` elements and `elements` together. Even as long as no more than every
/// second block finds nothing to do.
constexpr CopyPlan planCopy(std::int64_t segments, std::int64_t longest, std::int64_t elements,
                            std::int64_t chunk, std::int64_t processors) {
  CopyPlan plan;
  plan.chunk = chunk;
  plan.chunks = std::max<std::int64_t>(1, ceilDivide(longest, chunk));
  const std::int64_t useful = std::max<std::int64_t>(1, std::max(segments, ceilDivide(elements, chunk)));
  if (plan.chunks <= kMostBlocks / std::max<std::int64_t>(1, segments) &&
      segments * plan.chunks <= 2 * useful) {
    plan.blocks = std::max<std::int64_t>(1, segments * plan.chunks);
    return plan;
  }
  plan.balanced = true;
  const std::int64_t most = std::max<std::int64_t>(1, processors) * kBalancedBlocksPerProcessor;
  plan.blocks = std::clamp<std::int64_t>(ceilDivide(elements, chunk), 1, most);
  return plan;
}

/// Where part `part` of `parts` of `elements` begins: equal parts to within one element, without overflow.
constexpr std::int64_t partBegin(std::int64_t elements, std::int64_t parts, std::int64_t part) {
  return elements / parts * part + std::min(part, elements % parts);
}

/// How a launch reads and writes so many packs of two memories, over and over, in rounds: both are done after
/// equally many. All in packs of 16 bytes.
struct TouchPlan {
  std::int64_t reads = 0, writes = 0;            // altogether
  std::int64_t readLength = 0, writeLength = 0;  // of a round
};

/// Of memories of so many packs; no more than the launch reads and writes where they suffice.
constexpr TouchPlan planTouch(std::int64_t sourcePacks, std::int64_t targetPacks, std::int64_t readBytes,
                              std::int64_t writtenBytes) {
  TouchPlan plan{.reads = ceilDivide(std::max<std::int64_t>(0, readBytes), kPackBytes),
                 .writes = ceilDivide(std::max<std::int64_t>(0, writtenBytes), kPackBytes)};
  std::int64_t rounds = 1;
  if (plan.reads > 0)
    rounds = std::max(rounds, ceilDivide(plan.reads, std::max<std::int64_t>(1, sourcePacks)));
  if (plan.writes > 0)
    rounds = std::max(rounds, ceilDivide(plan.writes, std::max<std::int64_t>(1, targetPacks)));
  plan.readLength = ceilDivide(plan.reads, rounds);
  plan.writeLength = ceilDivide(plan.writes, rounds);
  return plan;
}

}  // namespace vsim::gpu::cuda
