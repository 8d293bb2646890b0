#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace vsim::gpu {

/// Pieces of work that one thread hands to another, in order: callables of any type, kept in place one behind
/// the other in chunks that are used over again, so that a piece costs neither an allocation nor a lock.
/// push() and pushed() belong to one thread, has() and runNext() to another; both may be at it at once. What
/// has not run when the queue goes is destroyed unrun.
class WorkQueue {
 public:
  WorkQueue() : writing_(new Chunk), reading_(writing_) {}
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  template <class Work>
  void push(Work&& work) {
    using Kept = std::decay_t<Work>;
    static_assert(alignof(Kept) <= kAlignment, "work of ordinary alignment");
    static_assert(sizeof(Kept) <= kChunk / 8, "work that large is better kept on the heap");
    constexpr std::size_t kSize = kHeader + (sizeof(Kept) + kAlignment - 1) / kAlignment * kAlignment;
    std::byte* const place = reserve(kSize);
    new (place + kHeader) Kept(std::forward<Work>(work));
    new (place) Record{&act<Kept>, kSize};
    written_ += kSize;
    // Sequentially consistent: whoever goes to sleep says so first and looks for work afterwards, whoever
    // pushes looks afterwards whether somebody sleeps.
    pushed_.store(++issued_);
  }
  /// Pieces pushed so far.
  [[nodiscard]] std::uint64_t pushed() const { return issued_; }

  /// More than `ran` pieces have been pushed.
  [[nodiscard]] bool has(std::uint64_t ran) const { return pushed_.load() > ran; }
  /// Runs and destroys the oldest piece, which must be there; it is gone after an exception as well.
  void runNext();

 private:
  enum class Act { run, destroy };
  using Actor = void (*)(void* work, Act act);
  /// Before each piece; without an actor: the next piece is in the next chunk.
  struct Record {
    Actor actor = nullptr;
    std::size_t size = 0;
  };
  static constexpr std::size_t kAlignment = alignof(std::max_align_t), kChunk = 32 * 1024;
  static constexpr std::size_t kHeader = std::max(sizeof(Record), kAlignment);
  struct Chunk {
    Chunk* next = nullptr;
    alignas(std::max_align_t) std::byte bytes[kChunk];
  };

  template <class Kept>
  static void act(void* place, Act what) {
    Kept* const work = std::launder(static_cast<Kept*>(place));
    struct Destroy {
      Kept* work;
      ~Destroy() { std::destroy_at(work); }
    } const destroy{work};
    if (what == Act::run) (*work)();
  }

  /// Where `size` bytes fit, with room for one more header behind them.
  std::byte* reserve(std::size_t size) {
    if (written_ + size + kHeader > kChunk) nextChunk();
    return writing_->bytes + written_;
  }
  void nextChunk();
  void consume(Act act);

  // One cache line for each side and one for what they share.
  alignas(64) Chunk* writing_;
  std::size_t written_ = 0;
  std::uint64_t issued_ = 0;
  alignas(64) std::atomic<std::uint64_t> pushed_ = 0;
  std::atomic<Chunk*> spare_ = nullptr;
  alignas(64) Chunk* reading_;
  std::size_t read_ = 0;
  std::uint64_t consumed_ = 0;
};

}  // namespace vsim::gpu
