#include "gui/model/lane_index.h"

#include <algorithm>

namespace vsim::gui {

LaneIndex::LaneIndex(const LaneColumns& lane) : lane_(&lane) {
  if (lane.size() == 0) return;
  span_ = {lane.begin.front(), lane.end.back()};
  buildBlocks();
  if (lane.size() > kCells && !span_.empty()) buildGrid();
}

void LaneIndex::buildBlocks() {
  blocks_.reserve(lane_->size() / kBlock + 1);
  BusyTimes busy{};
  for (std::size_t i = 0; i < lane_->size(); ++i) {
    if (i % kBlock == 0) blocks_.push_back(busy);
    busy[static_cast<std::size_t>(lane_->kind[i])] += lane_->end[i] - lane_->begin[i];
  }
}

void LaneIndex::buildGrid() {
  grid_.resize(kCells + 1);
  const TimeAxis cells{span_, static_cast<int>(kCells)};
  std::size_t slice = 0;
  for (std::size_t cell = 0; cell <= kCells; ++cell) {
    const core::Picoseconds time = cells.boundary(static_cast<int>(cell));
    slice = gallop(time, slice);
    busyBefore(time, slice, grid_[cell]);
  }
}

std::size_t LaneIndex::firstEndingAfter(core::Picoseconds time) const {
  return static_cast<std::size_t>(std::upper_bound(lane_->end.begin(), lane_->end.end(), time) -
                                  lane_->end.begin());
}

/// firstEndingAfter(time) for times that grow from call to call: near the last answer most of the time.
std::size_t LaneIndex::gallop(core::Picoseconds time, std::size_t from) const {
  const auto& ends = lane_->end;
  std::size_t step = 1, low = from;
  while (low + step < ends.size() && ends[low + step] <= time) {
    low += step;
    step *= 2;
  }
  const auto last = ends.begin() + static_cast<std::ptrdiff_t>(std::min(ends.size(), low + step + 1));
  return static_cast<std::size_t>(
      std::upper_bound(ends.begin() + static_cast<std::ptrdiff_t>(low), last, time) - ends.begin());
}

void LaneIndex::busyBefore(core::Picoseconds time, std::size_t slice, BusyTimes& out) const {
  if (lane_->size() == 0) {
    out = {};
    return;
  }
  const std::size_t block = std::min(slice / kBlock, blocks_.size() - 1);
  out = blocks_[block];
  for (std::size_t i = block * kBlock; i < slice; ++i)
    out[static_cast<std::size_t>(lane_->kind[i])] += lane_->end[i] - lane_->begin[i];
  if (slice < lane_->size() && lane_->begin[slice] < time)
    out[static_cast<std::size_t>(lane_->kind[slice])] += time - lane_->begin[slice];
}

BusyTimes LaneIndex::busyBefore(core::Picoseconds time) const {
  BusyTimes out;
  busyBefore(time, firstEndingAfter(time), out);
  return out;
}

BusyTimes LaneIndex::busyIn(TimeRange range) const {
  if (range.empty()) return {};
  BusyTimes busy = busyBefore(range.end);
  const BusyTimes before = busyBefore(range.begin);
  for (std::size_t c = 0; c < kSliceClasses; ++c) busy[c] -= before[c];
  return busy;
}

LaneIndex::Run LaneIndex::slicesIn(TimeRange range) const {
  if (range.empty()) return {};
  const std::size_t first = firstEndingAfter(range.begin);
  const auto last = std::lower_bound(lane_->begin.begin() + static_cast<std::ptrdiff_t>(first),
                                     lane_->begin.end(), range.end);
  return {first, static_cast<std::size_t>(last - lane_->begin.begin())};
}

std::optional<std::size_t> LaneIndex::sliceAt(core::Picoseconds time, core::Picoseconds slack) const {
  const std::size_t next = firstEndingAfter(time);
  const auto distance = [&](std::size_t i) {
    return std::max<core::Picoseconds>({lane_->begin[i] - time, time - lane_->end[i], 0});
  };
  std::optional<std::size_t> best;
  if (next < lane_->size() && distance(next) <= slack) best = next;
  if (next > 0 && distance(next - 1) <= slack && (!best || distance(next - 1) <= distance(*best)))
    best = next - 1;
  return best;
}

void LaneIndex::gridBefore(core::Picoseconds time, BusyTimes& out) const {
  const double cell = std::clamp(static_cast<double>(time - span_.begin) * static_cast<double>(kCells) /
                                     static_cast<double>(span_.length()),
                                 0.0, static_cast<double>(kCells));
  const std::size_t low = std::min(kCells - 1, static_cast<std::size_t>(cell));
  const double share = cell - static_cast<double>(low);
  const BusyTimes &a = grid_[low], &b = grid_[low + 1];
  for (std::size_t c = 0; c < kSliceClasses; ++c)
    out[c] = a[c] + static_cast<core::Picoseconds>(share * static_cast<double>(b[c] - a[c]));
}

LaneIndex::Level LaneIndex::columns(const TimeAxis& axis, bool allowGrid, std::span<BusyTimes> out) const {
  const core::Picoseconds column = axis.view.length() / std::max(1, axis.width);
  const bool grid =
      allowGrid && hasGrid() && column >= 2 * (span_.length() / static_cast<core::Picoseconds>(kCells));
  BusyTimes before{}, after{};
  std::size_t slice = firstEndingAfter(axis.view.begin);
  const auto at = [&](core::Picoseconds time, BusyTimes& busy) {
    if (grid) return gridBefore(time, busy);
    slice = gallop(time, slice);
    busyBefore(time, slice, busy);
  };
  if (lane_->size() == 0) {
    std::ranges::fill(out, BusyTimes{});
    return Level::exact;
  }
  at(axis.view.begin, before);
  for (int x = 0; x < axis.width && static_cast<std::size_t>(x) < out.size(); ++x) {
    at(axis.boundary(x + 1), after);
    for (std::size_t c = 0; c < kSliceClasses; ++c)
      out[static_cast<std::size_t>(x)][c] = after[c] - before[c];
    before = after;
  }
  return grid ? Level::grid : Level::exact;
}

std::size_t LaneIndex::bytes() const { return (blocks_.size() + grid_.size()) * sizeof(BusyTimes); }

}  // namespace vsim::gui
