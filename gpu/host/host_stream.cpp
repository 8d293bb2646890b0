#include "gpu/host/host_stream.h"

#include <algorithm>
#include <exception>

namespace vsim::gpu {

HostStream::HostStream(RunControl& control) : control_(control), worker_([this] { work(); }) {}

HostStream::~HostStream() { finish(); }

void HostStream::wake() {
  if (!asleep_.exchange(false)) return;    // on its way already
  { const std::lock_guard lock(mutex_); }  // between its last look and its sleep it holds the mutex
  pushed_.notify_one();
}

bool HostStream::waitUntil(std::uint64_t position) {
  const auto there = [&] { return reached(position); };
  if (there() || waiterSpin_.until([&] { return there() || control_.stopped(); })) return there();
  return waiterSpin_.asleep([&] {
    std::unique_lock lock(mutex_);
    return control_.wait(lock, ran_, [&] {
      // First says what it waits for, then looks: the worker does it the other way round.
      wanted_.store(std::min(wanted_.load(), position));
      return done_.load() >= position;
    });
  });
}

void HostStream::wakeWaiters() {
  {
    const std::lock_guard lock(mutex_);
    wanted_.store(kNobody);  // who wants more says so again
  }
  ran_.notify_all();
}

void HostStream::finish() {
  if (!worker_.joinable()) return;
  last_.store(true);
  wake();
  worker_.join();
}

bool HostStream::awaitWork() {
  const std::uint64_t ran = done_.load(std::memory_order_relaxed);
  const auto there = [&] { return queue_.has(ran) || last_.load() || control_.stopped(); };
  if (!there() && !workerSpin_.until(there)) {
    workerSpin_.asleep([&] {
      std::unique_lock lock(mutex_);
      control_.wait(lock, pushed_, [&] {
        asleep_.store(true);
        return there();
      });
      asleep_.store(false);
      return true;
    });
  }
  return queue_.has(ran) && !control_.stopped();
}

void HostStream::work() {
  while (awaitWork()) {
    try {
      queue_.runNext();
    } catch (const std::exception& problem) {
      control_.fail({.message = problem.what()});
    }
    if (control_.stopped()) return;  // what it should have made is not there: nobody may go on
    const std::uint64_t done = done_.load(std::memory_order_relaxed) + 1;
    done_.store(done);
    control_.progressed();
    if (wanted_.load() <= done) wakeWaiters();
  }
}

}  // namespace vsim::gpu
