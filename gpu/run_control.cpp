#include "gpu/run_control.h"

namespace vsim::gpu {

core::Picoseconds RunControl::now() const {
  const auto passed = std::chrono::steady_clock::now() - start_.load(std::memory_order_relaxed);
  constexpr core::Picoseconds kPerNanosecond = 1000;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count() * kPerNanosecond;
}

void RunControl::restartClock() { start_ = std::chrono::steady_clock::now(); }

bool RunControl::keep(const core::Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (error_) return false;
    error_ = error;
  }
  stopped_.store(true, std::memory_order_release);
  return true;
}

void RunControl::fail(core::Error error) {
  if (keep(error) && tell_) tell_(error);
}

void RunControl::stop(core::Error error) { keep(error); }

std::string RunControl::rankName(int rank) const {
  const auto place = static_cast<std::size_t>(rank);
  return rank < 0 || place >= hosts_.size() ? std::to_string(rank)
                                            : fmt::format("{} ({})", rank, hosts_[place]);
}

std::optional<core::Error> RunControl::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

}  // namespace vsim::gpu
