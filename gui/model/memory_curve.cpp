#include "gui/model/memory_curve.h"

#include <algorithm>
#include <numeric>

#include "sim/memory/allocator_options.h"

namespace vsim::gui {
namespace {

using core::Bytes;
using core::MemoryEvent;

constexpr std::string_view kPartNames[] = {
    "parameters",  "gradients",       "optimizer state", "unsharded parameters", "gradient buffers",
    "activations", "logits and loss", "temporary",       "NCCL and context",     "before the log"};
constexpr std::int64_t kBetweenLooks = 1 << 16;  // events between two looks at the flag

void merge(MemoryExtent::Span& into, const MemoryExtent::Span& from) {
  into.least = std::min(into.least, from.least);
  into.most = std::max(into.most, from.most);
}

void merge(MemoryExtent& into, const MemoryExtent& from) {
  const bool higher = from.allocated.most > into.allocated.most;
  if (higher || (from.allocated.most == into.allocated.most && from.peak < into.peak)) into.peak = from.peak;
  merge(into.allocated, from.allocated);
  merge(into.active, from.active);
  merge(into.reserved, from.reserved);
}

MemoryExtent extentOf(const MemoryEvent& e, std::int64_t index) {
  return {{e.allocated, e.allocated}, {e.active, e.active}, {e.reserved, e.reserved}, index};
}

bool startsTheProgram(const core::StepProgram& program, const MemoryEvent& first) {
  if (!first.allocate || first.step != 0) return false;
  for (const auto* list : {&program.setup, &program.step})
    for (const core::Instruction& i : *list)
      if (i.kind == core::InstructionKind::allocate) return i.operand == first.buffer;
  return false;
}

}  // namespace

std::string_view memoryPartName(std::size_t part) { return kPartNames[std::min(part, kMemoryParts - 1)]; }

MemoryCurve::MemoryCurve(std::shared_ptr<const core::ExecutionLog> log, std::size_t rankClass,
                         const std::atomic<bool>* cancelled)
    : log_(std::move(log)), rankClass_(rankClass) {
  const std::vector<MemoryEvent>& all = rank().memory;
  events_ = std::span(all).first(std::min<std::size_t>(all.size(), std::numeric_limits<std::int32_t>::max()));
  for (const core::Buffer& buffer : log_->program->buffers)
    parts_.push_back(
        std::min(static_cast<std::uint8_t>(buffer.category), static_cast<std::uint8_t>(kEarlierMemory)));
  findStart();
  buildTimes();
  for (const core::RankLog& other : log_->ranks)
    for (const core::Picoseconds end : other.stepEnd) whole_.end = std::max(whole_.end, end);
  if (!events_.empty()) whole_.end = std::max(whole_.end, time(size() - 1) + 1);
  build(cancelled);
}

/// What was there before the first event: nothing, if the log is whole; else buffers that are released
/// without an allocation tell what they were by what their release gives back.
void MemoryCurve::findStart() {
  if (events_.empty() || startsTheProgram(*log_->program, events_.front())) return;
  complete_ = false;
  std::vector<bool> seen(parts_.size());
  const MemoryEvent& first = events_.front();
  Bytes firstBytes = 0;  // of the first event: from its own release if there is one
  bool firstKnown = !first.allocate;
  if (first.buffer < parts_.size() && first.allocate)
    firstBytes = sim::roundedSize(log_->program->buffers[first.buffer].bytes(), {});
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const MemoryEvent& e = events_[i];
    const Bytes drop = i == 0 ? 0 : events_[i - 1].allocated - e.allocated;
    if (!e.allocate && i > 0 && e.buffer == first.buffer && !firstKnown) {
      firstBytes = drop;
      firstKnown = true;
    }
    if (e.buffer >= seen.size() || seen[e.buffer]) continue;
    seen[e.buffer] = true;
    if (!e.allocate) start_[part(e.buffer)] += drop;
  }
  if (first.allocate) {
    before_.allocated = std::max<Bytes>(0, first.allocated - firstBytes);
  } else {  // its bytes are unknown: as many as were asked for
    const Bytes asked = first.buffer < parts_.size() ? log_->program->buffers[first.buffer].bytes() : 0;
    before_.allocated = first.allocated + sim::roundedSize(asked, {});
    start_[part(first.buffer)] += before_.allocated - first.allocated;
  }
  before_.active = std::max(before_.allocated, std::min(first.active, first.reserved));
  before_.reserved = std::max(before_.active, first.reserved);
  start_[kEarlierMemory] += before_.allocated - std::accumulate(start_.begin(), start_.end(), Bytes{0});
}

void MemoryCurve::buildTimes() {
  const auto later = [](const MemoryEvent& a, const MemoryEvent& b) { return a.time < b.time; };
  if (!std::is_sorted(events_.begin(), events_.end(), later)) {  // events stay in host order
    core::Picoseconds now = std::numeric_limits<core::Picoseconds>::min();
    for (const MemoryEvent& e : events_) times_.push_back(now = std::max(now, e.time));
  }
  blockTime_.reserve(events_.size() / kFan + 1);
  for (std::int64_t i = 0; i < size(); i += kFan) blockTime_.push_back(time(i));
  if (!events_.empty()) whole_ = {std::min<core::Picoseconds>(0, time(0)), 0};
}

void MemoryCurve::build(const std::atomic<bool>* cancelled) {
  MemoryParts now = start_;
  peakWithout_.fill(0);
  checkpoints_.reserve(events_.size() / kCheckpoint + 1);
  for (std::int64_t i = 0; i < size(); ++i) {
    if (i % kBetweenLooks == 0 && cancelled != nullptr && *cancelled) return;
    if (i % kCheckpoint == 0) checkpoints_.push_back(now);
    const MemoryEvent& e = events_[static_cast<std::size_t>(i)];
    now[part(e.buffer)] += change(i);
    if (peak_ < 0 || e.allocated > allocated(peak_)) peak_ = i;
    for (std::size_t p = 0; p < kMemoryParts; ++p)
      peakWithout_[p] = std::max(peakWithout_[p], e.allocated - now[p]);
  }
  if (size() % kCheckpoint == 0) checkpoints_.push_back(now);  // before the event after the last
  buildLevels();
}

void MemoryCurve::buildLevels() {
  std::int64_t count = size();
  for (std::size_t level = 0; count > 1; ++level) {
    std::vector<MemoryExtent> blocks(static_cast<std::size_t>((count + kFan - 1) / kFan));
    for (std::int64_t i = 0; i < count; ++i)
      merge(blocks[static_cast<std::size_t>(i / kFan)],
            level == 0 ? at(i) : levels_[level - 1][static_cast<std::size_t>(i)]);
    count = static_cast<std::int64_t>(blocks.size());
    levels_.push_back(std::move(blocks));
  }
}

core::Picoseconds MemoryCurve::time(std::int64_t event) const {
  if (event < 0) return whole_.begin;
  const auto i = static_cast<std::size_t>(event);
  return times_.empty() ? events_[i].time : times_[i];
}

Bytes MemoryCurve::allocated(std::int64_t event) const {
  return event < 0 ? before_.allocated : events_[static_cast<std::size_t>(event)].allocated;
}

MemoryExtent MemoryCurve::at(std::int64_t event) const {
  return extentOf(event < 0 ? before_ : events_[static_cast<std::size_t>(event)], event);
}

MemoryParts MemoryCurve::partsAfter(std::int64_t event) const {
  if (event < 0 || checkpoints_.empty()) return start_;
  event = std::min(event, size() - 1);
  std::int64_t from = (event + 1) / kCheckpoint * kCheckpoint;
  MemoryParts parts = checkpoints_[static_cast<std::size_t>(from / kCheckpoint)];
  for (; from <= event; ++from) parts[part(events_[static_cast<std::size_t>(from)].buffer)] += change(from);
  return parts;
}

MemoryExtent MemoryCurve::extent(std::int64_t begin, std::int64_t end) const {
  MemoryExtent all;
  end = std::min(end, size());
  if (begin < 0 && end > begin) {
    merge(all, at(-1));
    all.peak = -1;
    begin = 0;
  }
  for (std::size_t level = 0; begin < end; ++level) {
    const auto node = [&](std::int64_t i) {
      return level == 0 ? at(i) : levels_[level - 1][static_cast<std::size_t>(i)];
    };
    while (begin < end && (begin % kFan != 0 || level == levels_.size())) merge(all, node(begin++));
    while (begin < end && end % kFan != 0) merge(all, node(--end));
    begin /= kFan;
    end /= kFan;
  }
  return all;
}

std::int64_t MemoryCurve::firstAt(core::Picoseconds time, std::int64_t from) const {
  if (from >= size()) return size();
  // Gallops over the blocks: from column to column the answer is near.
  auto low = static_cast<std::size_t>(from / kFan), step = std::size_t{1};
  std::size_t high = low + 1;
  while (high < blockTime_.size() && blockTime_[high] < time) {
    low = high;
    high += step;
    step *= 2;
  }
  high = std::min(high, blockTime_.size());
  const auto begin = blockTime_.begin();
  const auto block = std::lower_bound(begin + static_cast<std::ptrdiff_t>(low) + 1,
                                      begin + static_cast<std::ptrdiff_t>(high), time) -
                     begin;
  std::int64_t event = std::max(from, (block - 1) * kFan);
  const std::int64_t end = std::min(size(), block * kFan);
  while (event < end && this->time(event) < time) ++event;
  return event;
}

std::int64_t MemoryCurve::lastAt(core::Picoseconds time) const {
  return time == std::numeric_limits<core::Picoseconds>::max() ? size() - 1 : firstAt(time + 1) - 1;
}

void MemoryCurve::columns(const TimeAxis& axis, std::vector<MemoryExtent>& out) const {
  out.assign(static_cast<std::size_t>(std::max(0, axis.width)), {});
  std::int64_t first = firstAt(axis.view.begin);
  for (int x = 0; x < axis.width; ++x) {
    const std::int64_t next = firstAt(axis.boundary(x + 1), first);
    // The state in which the column starts belongs to it; before the first event it may be unknown: 0.
    if (axis.boundary(x + 1) > whole_.begin && axis.boundary(x) < whole_.end)
      out[static_cast<std::size_t>(x)] = extent(first - 1, next);
    first = next;
  }
}

void MemoryCurve::eventColumns(const TimeAxis& axis, std::vector<MemoryExtent>& out) const {
  out.assign(static_cast<std::size_t>(std::max(0, axis.width)), {});
  for (int x = 0; x < axis.width; ++x) {
    const std::int64_t begin = axis.boundary(x), end = axis.boundary(x + 1);
    if (end <= 0 || begin >= size() * kEventUnit) continue;
    const std::int64_t first = std::max<std::int64_t>(0, begin / kEventUnit);
    const std::int64_t next = std::max(first + 1, (end + kEventUnit - 1) / kEventUnit);
    out[static_cast<std::size_t>(x)] = extent(first, next);
  }
}

std::size_t MemoryCurve::bytes() const {
  std::size_t sum = parts_.capacity() + checkpoints_.capacity() * sizeof(MemoryParts) +
                    (blockTime_.capacity() + times_.capacity()) * sizeof(core::Picoseconds);
  for (const auto& level : levels_) sum += level.capacity() * sizeof(MemoryExtent);
  return sum;
}

}  // namespace vsim::gui
