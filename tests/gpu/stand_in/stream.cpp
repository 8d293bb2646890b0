#include "tests/gpu/stand_in/stream.h"

namespace vsim::test {

namespace {

constexpr std::chrono::milliseconds kLook{20};  // for the end of the stand-in

}  // namespace

void Mark::reach() {
  const std::lock_guard lock(mutex_);
  time_ = std::chrono::steady_clock::now();
  reached_.store(true, std::memory_order_release);
  changed_.notify_all();
}

void Mark::wait(const std::atomic<bool>& over) {
  std::unique_lock lock(mutex_);
  while (!reached() && !over.load()) changed_.wait_for(lock, kLook);
}

StandInStream::StandInStream(int device, int maxDelay, std::uint64_t seed, const std::atomic<bool>& over)
    : device_(device),
      maxDelay_(maxDelay),
      random_(static_cast<std::uint32_t>(seed * 2654435761U + 1)),
      over_(over),
      thread_([this] { work(); }) {}

StandInStream::~StandInStream() {
  finish();
  thread_.join();
}

void StandInStream::push(std::function<void()> piece) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(piece));
    ++pushed_;
  }
  changed_.notify_all();
}

void StandInStream::synchronize() {
  std::unique_lock lock(mutex_);
  const std::uint64_t target = pushed_;
  while (done_ < target && !over_.load()) changed_.wait_for(lock, kLook);
}

void StandInStream::finish() {
  {
    const std::lock_guard lock(mutex_);
    last_ = true;
  }
  changed_.notify_all();
}

void StandInStream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    while (queue_.empty() && !last_ && !over_.load()) changed_.wait_for(lock, kLook);
    if (queue_.empty() || over_.load()) return;
    const std::function<void()> piece = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    if (maxDelay_ > 0) {
      std::uniform_int_distribution<int> microseconds(0, maxDelay_ - 1);
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random_)));
    }
    piece();
    lock.lock();
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace vsim::test
