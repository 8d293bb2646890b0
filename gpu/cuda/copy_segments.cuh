#pragma once

// Many pieces of one buffer to places in another, in one launch (planCopy says how blocks find theirs).

#include "gpu/cuda/launch_plan.h"
#include "gpu/cuda/numbers.cuh"
#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

template <class S, class T>
struct Convert {
  VSIM_ON_DEVICE static T value(S from) {
    T out;
    fromFloat(toFloat(from), out);
    return out;
  }
};
template <class S>
struct Convert<S, S> {  // elements of one type are moved as they are
  VSIM_ON_DEVICE static S value(S from) { return from; }
};

/// Widest pack of S and T: 16 bytes of the larger.
template <class S, class T>
inline constexpr int kCopyWidth = static_cast<int>(kPackBytes /
                                                   (sizeof(S) > sizeof(T) ? sizeof(S) : sizeof(T)));

/// Threads `thread` of `threads` copy `count` elements; both pointers reach alignment at the same element.
template <int kWidth, class S, class T>
VSIM_ON_DEVICE void copyPacks(const S* from, T* to, std::int64_t count, int thread, int threads) {
  constexpr int kUnroll = 4;
  const auto phase = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % kWidth);
  std::int64_t head = (kWidth - phase) % kWidth;
  if (head > count) head = count;
  const std::int64_t packs = (count - head) / kWidth;
  for (std::int64_t i = thread; i < head; i += threads) to[i] = Convert<S, T>::value(from[i]);
  from += head;
  to += head;
  for (std::int64_t begin = thread; begin < packs; begin += std::int64_t{threads} * kUnroll) {
    Pack<S, kWidth> in[kUnroll];
    VSIM_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t pack = begin + std::int64_t{threads} * u;
      if (pack < packs) in[u] = loadPack<kWidth>(from + pack * kWidth);
    }
    VSIM_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t pack = begin + std::int64_t{threads} * u;
      Pack<T, kWidth> out;
      VSIM_UNROLL
      for (int n = 0; n < kWidth; ++n) out.at[n] = Convert<S, T>::value(in[u].at[n]);
      if (pack < packs) storePack<kWidth>(to + pack * kWidth, out);
    }
  }
  for (std::int64_t i = packs * kWidth + thread; i < count - head; i += threads)
    to[i] = Convert<S, T>::value(from[i]);
}

/// With the widest packs that the two addresses share.
template <class S, class T>
VSIM_ON_DEVICE void copyRun(const S* from, T* to, std::int64_t count, int thread, int threads) {
  constexpr int kWidest = kCopyWidth<S, T>;
  const auto source = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) / sizeof(S) % kWidest);
  const auto target = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % kWidest);
  const unsigned apart = (source - target) % kWidest;  // kWidest is a power of two
  if (apart == 0) {
    copyPacks<kWidest>(from, to, count, thread, threads);
    return;
  }
  if constexpr (kWidest >= 4) {
    if (apart % (kWidest / 2) == 0) {
      copyPacks<kWidest / 2>(from, to, count, thread, threads);
      return;
    }
  }
  if constexpr (kWidest >= 8) {
    if (apart % (kWidest / 4) == 0) {
      copyPacks<kWidest / 4>(from, to, count, thread, threads);
      return;
    }
  }
  copyPacks<1>(from, to, count, thread, threads);
}

template <class S, class T>
__global__ void __launch_bounds__(kThreads)
    evenCopyKernel(const S* source, T* target, const device::CopySegment* segments, CopyPlan plan) {
  const device::CopySegment segment = segments[blockIdx.x / plan.chunks];
  const std::int64_t begin = blockIdx.x % plan.chunks * plan.chunk;
  const std::int64_t left = segment.count - begin;
  if (left <= 0) return;
  copyRun(source + segment.from + begin, target + segment.to + begin, left < plan.chunk ? left : plan.chunk,
          static_cast<int>(threadIdx.x), kThreads);
}

/// Segments that a block looks at in one go.
inline constexpr int kSegmentsOfTile = 4 * kThreads;
/// Pieces up to this many elements are copied by one warp: a block would wait for each in turn.
inline constexpr std::int64_t kWarpPiece = 2048;

/// ends[i]: elements of segments tile .. tile + i; zero-length past the last segment.
VSIM_ON_DEVICE void scanTile(const device::CopySegment* segments, std::int64_t segmentCount,
                             std::int64_t tile, std::int64_t* ends, std::int64_t* sums) {
  constexpr int kOfThread = kSegmentsOfTile / kThreads;
  const int thread = static_cast<int>(threadIdx.x);
  std::int64_t own = 0;
  for (int i = 0; i < kOfThread; ++i) {
    const std::int64_t segment = tile + thread * kOfThread + i;
    own += segment < segmentCount ? segments[segment].count : 0;
    ends[thread * kOfThread + i] = own;
  }
  sums[thread] = own;
  __syncthreads();
  for (int distance = 1; distance < kThreads; distance *= 2) {
    const std::int64_t before = thread >= distance ? sums[thread - distance] : 0;
    __syncthreads();
    sums[thread] += before;
    __syncthreads();
  }
  const std::int64_t before = thread > 0 ? sums[thread - 1] : 0;
  for (int i = 0; i < kOfThread; ++i) ends[thread * kOfThread + i] += before;
  __syncthreads();
}

/// First i with ends[i] > position, or kSegmentsOfTile.
VSIM_ON_DEVICE int firstBehind(const std::int64_t* ends, std::int64_t position) {
  int low = 0, high = kSegmentsOfTile;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (ends[middle] > position)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Elements [begin, end) of all segments in a row. `elements`: of all segments; the last block takes what
/// they have beyond it.
template <class S, class T>
__global__ void __launch_bounds__(kThreads)
    balancedCopyKernel(const S* source, T* target, const device::CopySegment* segments,
                       std::int64_t segmentCount, std::int64_t elements) {
  __shared__ std::int64_t ends[kSegmentsOfTile];
  __shared__ std::int64_t sums[kThreads];
  const std::int64_t begin = partBegin(elements, gridDim.x, blockIdx.x);
  const std::int64_t end =
      blockIdx.x + 1 == gridDim.x ? INT64_MAX : partBegin(elements, gridDim.x, blockIdx.x + std::int64_t{1});
  const int thread = static_cast<int>(threadIdx.x), warp = thread / kLanes;
  std::int64_t before = 0;  // elements of the tiles before
  for (std::int64_t tile = 0; tile < segmentCount && before < end; tile += kSegmentsOfTile) {
    scanTile(segments, segmentCount, tile, ends, sums);
    const std::int64_t ofTile = ends[kSegmentsOfTile - 1];
    if (before + ofTile > begin) {
      for (int i = firstBehind(ends, begin - before); i < kSegmentsOfTile; ++i) {
        const std::int64_t segmentBegin = before + (i > 0 ? ends[i - 1] : 0);
        if (segmentBegin >= end || tile + i >= segmentCount) break;
        const std::int64_t first = segmentBegin > begin ? segmentBegin : begin;
        const std::int64_t last = before + ends[i] < end ? before + ends[i] : end;
        const std::int64_t count = last - first;
        const bool small = count <= kWarpPiece;
        if (count <= 0 || (small && i % (kThreads / kLanes) != warp)) continue;
        const device::CopySegment segment = segments[tile + i];
        const std::int64_t offset = first - segmentBegin;
        copyRun(source + segment.from + offset, target + segment.to + offset, count,
                small ? thread % kLanes : thread, small ? kLanes : kThreads);
      }
    }
    before += ofTile;
    __syncthreads();  // before the next tile takes the shared memory
  }
}

}  // namespace vsim::gpu::cuda
