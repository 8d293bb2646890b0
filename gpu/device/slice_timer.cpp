#include "gpu/device/slice_timer.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace vsim::gpu::device {

using core::Picoseconds;
using core::Slice;

SliceTimer::SliceTimer(const RankContext& context, std::size_t streams)
    : context_(context), pool_(context, true), pending_(streams) {}

void SliceTimer::synchronizeClocks(Stream stream) {
  constexpr int kTries = 8;  // the one that took least is the best known
  const std::lock_guard lock(mutex_);
  Event best = nullptr;
  Picoseconds bestBegin = 0, bestTaken = 0;
  for (int i = 0; i < kTries; ++i) {
    const Event event = pool_.take();
    const Picoseconds begin = context_.control.now();
    context_.check(context_.api.record(event, stream));
    for (bool done = false; !done;) {
      context_.check(context_.api.query(event, done));
      context_.checkStopped();
    }
    const Picoseconds taken = context_.control.now() - begin;
    if (best != nullptr && taken >= bestTaken) {
      pool_.giveBack(event);
      continue;
    }
    if (best != nullptr) pool_.giveBack(best);
    best = event;
    bestBegin = begin;
    bestTaken = taken;
  }
  double device = 0;
  if (base_ != nullptr) {
    context_.check(context_.api.elapsed(base_, best, device));
    device += baseTime_;
    pool_.giveBack(base_);
  }
  base_ = best;
  baseTime_ = device;
  moments_.push_back({bestBegin, device});
}

void SliceTimer::begin(const Slice& slice, Stream stream) {
  const std::lock_guard lock(mutex_);
  const Event event = pool_.take();
  slices_.push_back(slice);
  spans_.emplace_back();
  pending_[slice.stream].push_back({slices_.size() - 1, event, nullptr});
  open_ = slice.stream;
  context_.check(context_.api.record(event, stream));
}

void SliceTimer::end(Stream stream) {
  const std::lock_guard lock(mutex_);
  Pending& pending = pending_[open_].back();
  const Event event = pool_.take();
  context_.check(context_.api.record(event, stream));
  pending.end = event;
}

bool SliceTimer::harvest() {
  const std::lock_guard lock(mutex_);
  bool any = false;
  for (std::deque<Pending>& stream : pending_) {
    while (!stream.empty() && stream.front().end != nullptr) {
      bool done = false;
      context_.check(context_.api.query(stream.front().end, done));
      if (!done) break;
      read(stream.front());
      stream.pop_front();
      any = true;
    }
  }
  return any;
}

void SliceTimer::read(const Pending& pending) {
  // Devices tell times as floats: the base moves on before they become coarse.
  constexpr double kBaseLife = 1000;  // ms
  double begin = 0, end = 0;
  context_.check(context_.api.elapsed(base_, pending.begin, begin));
  context_.check(context_.api.elapsed(base_, pending.end, end));
  spans_[pending.slice] = {baseTime_ + begin, baseTime_ + end};
  pool_.giveBack(pending.begin);
  if (end > kBaseLife) {
    pool_.giveBack(base_);
    base_ = pending.end;
    baseTime_ += end;
  } else {
    pool_.giveBack(pending.end);
  }
}

std::vector<Slice> SliceTimer::oldest() const {
  const std::lock_guard lock(mutex_);
  std::vector<Slice> result;
  for (const std::deque<Pending>& stream : pending_)
    if (!stream.empty()) result.push_back(slices_[stream.front().slice]);
  return result;
}

Picoseconds SliceTimer::hostTime(double device) const {
  const Moment &a = moments_.front(), &b = moments_.back();
  constexpr double kPicosecondsPerMillisecond = 1e9;
  const double rate = b.device > a.device ? static_cast<double>(b.host - a.host) / (b.device - a.device)
                                          : kPicosecondsPerMillisecond;
  return a.host + static_cast<Picoseconds>(std::floor((device - a.device) * rate));
}

std::vector<Slice> SliceTimer::take() {
  const std::lock_guard lock(mutex_);
  VSIM_CHECK(moments_.size() >= 2, "device times are read after the last moment of both clocks");
  std::vector<Slice> result(slices_.begin(), slices_.end());
  for (std::size_t i = 0; i < result.size(); ++i) {
    // What the clocks' error brings before its cause did not begin there.
    result[i].begin = std::max(hostTime(spans_[i].begin), result[i].issued);
    result[i].end = std::max(hostTime(spans_[i].end), result[i].begin);
  }
  slices_.clear();
  spans_.clear();
  return result;
}

}  // namespace vsim::gpu::device
