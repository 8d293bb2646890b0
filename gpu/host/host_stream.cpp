#include "gpu/host/host_stream.h"

#include <exception>

namespace vsim::gpu {

HostStream::HostStream(RunControl& control) : control_(control), worker_([this] { work(); }) {}

HostStream::~HostStream() { finish(); }

void HostStream::push(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
  }
  ++issued_;
  pushed_.notify_one();
}

bool HostStream::waitUntil(std::uint64_t position) {
  std::unique_lock lock(mutex_);
  return control_.wait(lock, ran_, [&] { return done_ >= position; });
}

void HostStream::finish() {
  if (!worker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    last_ = true;
  }
  pushed_.notify_one();
  worker_.join();
}

void HostStream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!control_.wait(lock, pushed_, [&] { return last_ || !queue_.empty(); })) return;
    if (queue_.empty()) return;
    const std::function<void()> next = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    try {
      next();
    } catch (const std::exception& problem) {
      control_.fail({.message = problem.what()});
    }
    lock.lock();
    if (control_.stopped()) return;  // what `next` should have made is not there: nobody may go on
    ++done_;
    control_.progressed();
    ran_.notify_all();
  }
}

}  // namespace vsim::gpu
