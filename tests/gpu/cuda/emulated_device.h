#pragma once

// The part of CUDA C++ that vsim's kernels use, for the host: a kernel's threads are fibers of one thread,
// blocks run one after the other, barriers and shuffles switch between fibers. Included before the sources of
// kernels.

#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __shared__ static

struct alignas(8) uint2 {
  unsigned int x, y;
};
struct alignas(16) uint4 {
  unsigned int x, y, z, w;
};

namespace vsim::test {

struct Index {
  unsigned int x = 1, y = 1, z = 1;
};

/// One block's threads as fibers.
class FiberBlock {
 public:
  static constexpr int kThreads = 256, kLanes = 32;

  static FiberBlock& instance() {
    static FiberBlock block;
    return block;
  }

  /// Runs `body` once for each thread, until all have returned.
  template <class Body>
  void run(Body body) {
    struct Call {
      static void enter(unsigned int low, unsigned int high) {
        (*reinterpret_cast<Body*>(std::uintptr_t{high} << 32U | low))();
        FiberBlock& block = instance();
        block.done_[static_cast<std::size_t>(block.now_)] = true;
        swapcontext(&block.fibers_[static_cast<std::size_t>(block.now_)], &block.scheduler_);
      }
    };
    const auto address = reinterpret_cast<std::uintptr_t>(&body);
    for (int t = 0; t < kThreads; ++t) {
      ucontext_t& fiber = fibers_[static_cast<std::size_t>(t)];
      getcontext(&fiber);
      fiber.uc_stack.ss_sp = stacks_.data() + static_cast<std::size_t>(t) * kStack;
      fiber.uc_stack.ss_size = kStack;
      fiber.uc_link = nullptr;
      makecontext(&fiber, reinterpret_cast<void (*)()>(&Call::enter), 2, static_cast<unsigned int>(address),
                  static_cast<unsigned int>(address >> 32U));
      done_[static_cast<std::size_t>(t)] = false;
    }
    for (bool left = true; left;) {
      left = false;
      for (now_ = 0; now_ < kThreads; ++now_) {
        if (done_[static_cast<std::size_t>(now_)]) continue;
        swapcontext(&scheduler_, &fibers_[static_cast<std::size_t>(now_)]);
        left = left || !done_[static_cast<std::size_t>(now_)];
      }
    }
  }

  [[nodiscard]] int thread() const { return now_; }
  void syncBlock() { wait(ofBlock_, kThreads); }
  float exchange(float value, int with) {
    const int own = now_;
    exchanged_[static_cast<std::size_t>(own)] = value;
    wait(ofWarp_[static_cast<std::size_t>(own / kLanes)], kLanes);
    const float other = exchanged_[static_cast<std::size_t>(own ^ with)];
    wait(ofWarp_[static_cast<std::size_t>(own / kLanes)], kLanes);
    return other;
  }

 private:
  static constexpr std::size_t kStack = 64 * 1024;
  struct Barrier {
    int arrived = 0;
    std::uint64_t generation = 0;
  };

  void wait(Barrier& barrier, int size) {
    const std::uint64_t generation = barrier.generation;
    if (++barrier.arrived == size) {
      barrier.arrived = 0;
      ++barrier.generation;
    }
    while (barrier.generation == generation)
      swapcontext(&fibers_[static_cast<std::size_t>(now_)], &scheduler_);
  }

  int now_ = 0;
  ucontext_t scheduler_{};
  std::vector<ucontext_t> fibers_ = std::vector<ucontext_t>(kThreads);
  std::vector<char> stacks_ = std::vector<char>(kThreads * kStack);
  std::vector<char> done_ = std::vector<char>(kThreads);
  std::vector<float> exchanged_ = std::vector<float>(kThreads);
  Barrier ofBlock_;
  std::vector<Barrier> ofWarp_ = std::vector<Barrier>(kThreads / kLanes);
};

struct ThreadIndex {
  struct X {
    operator unsigned int() const {  // NOLINT: as CUDA's
      return static_cast<unsigned int>(FiberBlock::instance().thread());
    }
  } x;
};

inline Index blockIdx, gridDim;
inline ThreadIndex threadIdx;

inline void syncThreads() { FiberBlock::instance().syncBlock(); }

}  // namespace vsim::test

using vsim::test::blockIdx;
using vsim::test::gridDim;
using vsim::test::threadIdx;
inline void __syncthreads() { vsim::test::syncThreads(); }
inline void __threadfence() {}
inline float __shfl_xor_sync(unsigned int, float value, int with) {
  return vsim::test::FiberBlock::instance().exchange(value, with);
}
inline unsigned int atomicAdd(unsigned int* where, unsigned int value) {
  const unsigned int before = *where;
  *where += value;
  return before;
}

namespace vsim::gpu::cuda {

struct LaunchContext;

/// As the one for devices: all blocks, one after the other.
template <class... Parameters, class... Arguments>
int launchKernel(const LaunchContext&, std::int64_t blocks, void (*kernel)(Parameters...),
                 const Arguments&... arguments) {
  gridDim.x = static_cast<unsigned int>(blocks);
  for (unsigned int block = 0; block < gridDim.x; ++block) {
    blockIdx.x = block;
    test::FiberBlock::instance().run([&] { kernel(arguments...); });
  }
  return 0;
}

}  // namespace vsim::gpu::cuda
