#include "gpu/run_control.h"

namespace vsim::gpu {

core::Picoseconds RunControl::now() const {
  const auto passed = std::chrono::steady_clock::now() - start_;
  constexpr core::Picoseconds kPerNanosecond = 1000;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count() * kPerNanosecond;
}

void RunControl::fail(core::Error error) {
  {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  stopped_.store(true, std::memory_order_release);
}

std::optional<core::Error> RunControl::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

}  // namespace vsim::gpu
