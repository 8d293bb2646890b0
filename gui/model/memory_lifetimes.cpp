#include "gui/model/memory_lifetimes.h"

#include <algorithm>

namespace vsim::gui {

using core::Bytes;
using core::Index;

Lifetimes::Lifetimes(const MemoryCurve& curve, const std::atomic<bool>* cancelled) : curve_(curve) {
  constexpr std::int32_t kNone = -1;
  const auto events = curve.events();
  std::vector<std::int32_t> live(curve.log().program->buffers.size(), kNone);  // in `found`
  std::vector<bool> seen(live.size());
  std::vector<Lifetime> found;
  found.reserve(events.size() / 2 + 1);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i % 65536 == 0 && cancelled != nullptr && *cancelled) return;
    const core::MemoryEvent& e = events[i];
    const auto at = static_cast<std::int32_t>(i);
    if (e.buffer >= live.size()) continue;  // the check tells of it
    std::int32_t& open = live[e.buffer];
    if (open != kNone) found[static_cast<std::size_t>(open)].end = at;
    if (e.allocate) {
      open = static_cast<std::int32_t>(found.size());
      found.push_back({.buffer = e.buffer, .begin = at});
    } else {
      if (open == kNone && !seen[e.buffer]) all_.push_back({.buffer = e.buffer, .begin = -1, .end = at});
      open = kNone;
    }
    seen[e.buffer] = true;
  }
  all_.insert(all_.end(), found.begin(), found.end());
  first_.assign(live.size(), kNone);
  for (std::size_t i = all_.size(); i-- > 0;) {
    all_[i].nextOfBuffer = first_[all_[i].buffer];
    first_[all_[i].buffer] = static_cast<std::int32_t>(i);
  }
  latestEnd_.assign((all_.size() + kBlock - 1) / kBlock, -1);
  for (std::size_t i = 0; i < all_.size(); ++i)
    latestEnd_[i / kBlock] = std::max(latestEnd_[i / kBlock], all_[i].end);
  // Without a buffer that is not live at the peak, the peak is the same.
  peak_ = curve.extent(-1, curve.size()).allocated.most;
  peakWithout_.assign(live.size(), peak_);
  for (const std::int64_t i : liveAfter(curve.peak())) {
    if (cancelled != nullptr && *cancelled) return;
    const Index buffer = all_[static_cast<std::size_t>(i)].buffer;
    peakWithout_[buffer] = findPeakWithout(buffer);
  }
}

Bytes Lifetimes::charge(std::int64_t lifetime) const {
  const Lifetime& l = all_[static_cast<std::size_t>(lifetime)];
  return l.begin >= 0 ? curve_.change(l.begin) : -curve_.change(l.end);
}

std::int64_t Lifetimes::firstOf(Index buffer) const { return buffer < first_.size() ? first_[buffer] : -1; }

std::vector<std::int64_t> Lifetimes::liveAfter(std::int64_t event) const {
  std::vector<std::int64_t> live;
  for (std::size_t block = 0; block < latestEnd_.size(); ++block) {
    if (all_[block * kBlock].begin > event) break;
    if (latestEnd_[block] <= event) continue;
    const std::size_t end = std::min(all_.size(), (block + 1) * kBlock);
    for (std::size_t i = block * kBlock; i < end && all_[i].begin <= event; ++i)
      if (all_[i].end > event) live.push_back(static_cast<std::int64_t>(i));
  }
  return live;
}

std::int64_t Lifetimes::ofEvent(std::int64_t event) const {
  if (event < 0 || event >= curve_.size()) return -1;
  const Index buffer = curve_.events()[static_cast<std::size_t>(event)].buffer;
  for (std::int64_t i = firstOf(buffer); i >= 0; i = all_[static_cast<std::size_t>(i)].nextOfBuffer) {
    const Lifetime& l = all_[static_cast<std::size_t>(i)];
    if (l.begin == event || l.end == event) return i;
  }
  return -1;
}

Bytes Lifetimes::findPeakWithout(Index buffer) const {
  Bytes peak = 0;
  std::int64_t from = -1;
  const auto outside = [&](std::int64_t end) {
    if (end > from) peak = std::max(peak, curve_.extent(from, end).allocated.most);
  };
  for (std::int64_t i = firstOf(buffer); i >= 0; i = all_[static_cast<std::size_t>(i)].nextOfBuffer) {
    const Lifetime& l = all_[static_cast<std::size_t>(i)];
    outside(l.begin);
    const std::int64_t end = std::min<std::int64_t>(l.end, curve_.size());
    peak = std::max(peak, curve_.extent(l.begin, end).allocated.most - charge(i));
    from = end;
  }
  outside(curve_.size());
  return peak;
}

std::size_t Lifetimes::bytes() const {
  return all_.capacity() * sizeof(Lifetime) +
         (first_.capacity() + latestEnd_.capacity()) * sizeof(std::int32_t) +
         peakWithout_.capacity() * sizeof(Bytes);
}

}  // namespace vsim::gui
