#include "sim/engine/device.h"

#include <bit>
#include <cmath>

#include "core/base/error.h"

namespace vsim::sim {

Device::Device(std::size_t streams, std::size_t groups, std::size_t steps, std::vector<core::Slice>* slices)
    : streams_(streams),
      nextTime_(streams, kNever),
      communicators_(groups),
      waited_(streams * streams),
      stepEnd_(steps),
      slices_(slices) {
  VSIM_CHECK(streams <= kMaxStreams, "streams are kept in 64-bit sets");
}

template <class Stop>
bool Device::play(Picoseconds limit, Stop stop) {
  for (;;) {
    startReady();
    if (stop()) return true;
    std::size_t first = 0;
    Picoseconds next = kNever;
    for (std::size_t s = 0; s < nextTime_.size(); ++s) {
      if (nextTime_[s] < next) {
        next = nextTime_[s];
        first = s;
      }
    }
    if (next > limit || next == kNever) return false;
    now_ = next;
    if (running_ & bit(first)) {
      finish(first);
    } else {
      nextTime_[first] = kNever;
      check_ |= bit(first);
    }
  }
}

void Device::advance(Picoseconds limit) {
  play(limit, [] { return false; });
  forgetDone();
}

Picoseconds Device::runUntil(Mark mark, Picoseconds from) {
  advance(from);
  if (reached(mark)) return from;
  const bool stopped = play(kNever, [&] { return reached(mark); });
  VSIM_CHECK(stopped, "work that waits for itself");
  return std::max(from, now_);
}

Picoseconds Device::drain(Picoseconds from) {
  advance(kNever);
  VSIM_CHECK(backlog() == 0, "work that waits for itself");
  return std::max(from, now_);
}

std::size_t Device::backlog() const {
  std::size_t count = 0;
  for (const Stream& s : streams_) count += s.items.size() - s.head;
  return count;
}

void Device::startReady() {
  while (check_ != 0) {
    const auto stream = static_cast<std::size_t>(std::countr_zero(check_));
    check_ &= check_ - 1;
    tryStart(stream);
  }
  if (ratesChanged_) updateRates();
}

void Device::tryStart(std::size_t stream) {
  if (running_ & bit(stream)) return;
  Stream& s = streams_[stream];
  while (s.head < s.items.size()) {
    const Item& item = s.items[s.head];
    if (item.isWait) {
      Stream& other = streams_[item.waitsFor];
      if (other.done < item.position) {
        other.waiting |= bit(stream);
        return;
      }
      ++s.head;
      ++s.done;
      check_ |= s.waiting;
      s.waiting = 0;
      continue;
    }
    if (item.task.issued > now_) {
      nextTime_[stream] = item.task.issued;
      return;
    }
    if (item.task.group != core::kNone) {
      Communicator& communicator = communicators_[item.task.group];
      if (communicator.done != item.position) {
        communicator.waiting |= bit(stream);
        return;
      }
    }
    start(stream, item.task);
    return;
  }
}

void Device::start(std::size_t stream, const Task& task) {
  Stream& s = streams_[stream];
  running_ |= bit(stream);
  s.begin = now_;
  nextTime_[stream] = std::max(now_ + task.time, task.earliestEnd);
  const bool kernel = task.group == core::kNone;
  if (kernel || task.stretch > 0) {
    (kernel ? kernels_ : elastic_) |= bit(stream);
    s.updated = now_;
    s.remaining = static_cast<double>(task.time);
    s.factor = 1;
    ratesChanged_ |= (sources_ | elastic_) != 0;
  }
  if (task.slowdown > 0) {
    sources_ |= bit(stream);
    ratesChanged_ = true;
  }
}

void Device::finish(std::size_t stream) {
  Stream& s = streams_[stream];
  const Task& task = s.items[s.head].task;
  if (task.slice != core::kNone) {
    core::Slice& slice = (*slices_)[task.slice];
    slice.begin = s.begin;
    slice.end = now_;
  }
  stepEnd_[task.step] = std::max(stepEnd_[task.step], now_);
  running_ &= ~bit(stream);
  kernels_ &= ~bit(stream);
  elastic_ &= ~bit(stream);
  ratesChanged_ |= elastic_ != 0;
  if (sources_ & bit(stream)) {
    sources_ &= ~bit(stream);
    ratesChanged_ = true;
  }
  if (task.group != core::kNone) {
    Communicator& communicator = communicators_[task.group];
    ++communicator.done;
    check_ |= communicator.waiting;
    communicator.waiting = 0;
  }
  nextTime_[stream] = kNever;
  ++s.head;
  ++s.done;
  check_ |= s.waiting | bit(stream);
  s.waiting = 0;
}

// A task's progress so far counts at its old rate, the rest at the new one. Sums are taken afresh in stream
// order, so that no rounding accumulates.
void Device::updateRates() {
  ratesChanged_ = false;
  for (std::uint64_t left = kernels_; left != 0; left &= left - 1) {
    const auto stream = static_cast<std::size_t>(std::countr_zero(left));
    double factor = 1;
    for (std::uint64_t from = sources_ & ~bit(stream); from != 0; from &= from - 1) {
      const Stream& source = streams_[static_cast<std::size_t>(std::countr_zero(from))];
      factor += source.items[source.head].task.slowdown;
    }
    setFactor(stream, factor);
  }
  for (std::uint64_t left = elastic_; left != 0; left &= left - 1) {
    const auto stream = static_cast<std::size_t>(std::countr_zero(left));
    const Stream& s = streams_[stream];
    const bool beside = (kernels_ & ~bit(stream)) != 0;
    setFactor(stream, beside ? 1 + s.items[s.head].task.stretch : 1);
  }
}

void Device::setFactor(std::size_t stream, double factor) {
  Stream& s = streams_[stream];
  if (factor == s.factor) return;
  s.remaining = std::max(0.0, s.remaining - static_cast<double>(now_ - s.updated) / s.factor);
  s.updated = now_;
  s.factor = factor;
  const auto rest = static_cast<Picoseconds>(std::llround(s.remaining * factor));
  nextTime_[stream] = std::max(now_ + rest, s.items[s.head].task.earliestEnd);
}

// Keeps the queues as long as what is not done yet, at an amortised constant cost.
void Device::forgetDone() {
  constexpr std::size_t kWorthwhile = 1024;
  for (Stream& s : streams_) {
    if (s.head == s.items.size()) {
      s.items.clear();
      s.head = 0;
    } else if (s.head > kWorthwhile && 2 * s.head > s.items.size()) {
      s.items.erase(s.items.begin(), s.items.begin() + static_cast<std::ptrdiff_t>(s.head));
      s.head = 0;
    }
  }
}

}  // namespace vsim::sim
