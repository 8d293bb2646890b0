#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/program/execution_log.h"
#include "core/program/step_program.h"

namespace vsim::gpu {

/// What memory holds that nobody has written since it was handed out: a quiet NaN of its own.
[[nodiscard]] float poison();
[[nodiscard]] bool isPoison(float value);

/// What memory holds that nobody may read: poison, which brings such reads to light, or whatever it held
/// before, which costs no bandwidth.
enum class Leftover : std::uint8_t { poisoned, kept };

/// Real memory of one buffer: one float per element of a floating type, four bytes per float otherwise.
class HostBlock {
 public:
  HostBlock(std::size_t floats, Leftover leftover)
      : data_(floats, leftover == Leftover::poisoned ? poison() : 0.0F), leftover_(leftover) {}
  [[nodiscard]] std::span<float> data() { return data_; }
  /// Makes the contents unusable; from then on the block may be handed out again.
  void spoil();
  [[nodiscard]] bool spoiled() const { return spoiled_.load(std::memory_order_acquire); }
  void handOut() { spoiled_.store(false, std::memory_order_relaxed); }

 private:
  std::vector<float> data_;
  Leftover leftover_;
  std::atomic<bool> spoiled_ = true;
};

/// Memory of one rank in pools, one per stream, as a stream-ordered allocator keeps it; and the ledger of
/// what is live. A released block stays as it is until the next request to its pool: from then on work of
/// that stream may use the memory, so that request's place in the stream is where the block is spoiled. It is
/// handed out again once that has happened. Host thread only, apart from the blocks' contents.
class HostMemory {
 public:
  /// `limit`: of memory that is really taken.
  explicit HostMemory(const core::StepProgram& program, Leftover leftover = Leftover::poisoned,
                      core::Bytes limit = std::numeric_limits<core::Bytes>::max());

  struct Request {
    HostBlock* block = nullptr;
    std::vector<HostBlock*> spoil;  // to be spoiled in the order of the pool's stream
  };
  /// Errors: the buffer is live; there is no memory left for it.
  core::Result<Request> allocate(core::Index buffer, core::Picoseconds time);
  /// Whether the buffer's request would be served now. If not, memory of its pool may become free when its
  /// stream has spoiled what was released (see takeReleased).
  [[nodiscard]] bool fits(core::Index buffer) const;
  /// What was released to the buffer's pool since its last request, to be spoiled in the order of the pool's
  /// stream.
  [[nodiscard]] std::vector<HostBlock*> takeReleased(core::Index buffer);
  core::Result<void> release(core::Index buffer);
  /// nullptr when the buffer is not live. Blocks stay valid as long as this object.
  [[nodiscard]] HostBlock* block(core::Index buffer) const { return live_[buffer]; }
  [[nodiscard]] const std::vector<HostBlock*>& live() const { return live_; }

  void beginStep(core::Picoseconds time);
  [[nodiscard]] core::Bytes allocated() const { return allocated_; }
  [[nodiscard]] const core::MemoryPeak& peak() const { return peak_; }
  [[nodiscard]] const core::MemoryPeak& stepPeak() const { return stepPeak_; }
  /// Memory really taken from the system.
  [[nodiscard]] core::Bytes taken() const { return taken_; }

 private:
  void updatePeak(core::MemoryPeak& peak, core::Picoseconds time) const;
  HostBlock* take(core::StreamId pool, std::size_t floats);
  void keep(core::StreamId pool);

  struct Pool {
    std::vector<HostBlock*> released;
    // By size, in the order in which the stream spoils them: while the first is not, none is.
    std::map<std::size_t, std::deque<HostBlock*>> free;
  };
  const core::StepProgram& program_;
  Leftover leftover_;
  core::Bytes limit_;
  std::vector<std::unique_ptr<HostBlock>> blocks_;
  std::vector<Pool> pools_;
  std::vector<HostBlock*> live_;  // [buffer]
  std::array<core::Bytes, 9> byCategory_{};
  core::Bytes allocated_ = 0, taken_ = 0;
  core::MemoryPeak peak_, stepPeak_;
};

}  // namespace vsim::gpu
