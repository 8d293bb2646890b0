#include "gui/model/lane_index.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/error.h"

namespace vsim::gui {
namespace {

constexpr float kSteps = 65535;

}  // namespace

LaneIndex::LaneIndex(const LaneColumns& lane) : lane_(&lane) {
  if (lane.size() == 0) return;
  span_ = {lane.begin.front(), lane.end.back()};
  buildBlocks();
  if (lane.size() > kFewSlices && !span_.empty()) buildGrid();
}

LaneIndex::LaneIndex(const LaneColumns& lane, TimeRange span, std::vector<ClassShares> cells)
    : lane_(&lane), span_(span) {
  VSIM_CHECK(lane.size() == 0 && std::has_single_bit(cells.size()), "cells stand in for slices");
  buildLevels(std::move(cells));
}

void LaneIndex::buildBlocks() {
  blocks_.reserve(lane_->size() / kBlock + 1);
  BusyTimes busy{};
  for (std::size_t i = 0; i < lane_->size(); ++i) {
    if (i % kBlock == 0) blocks_.push_back(busy);
    busy[busyClass(lane_->kind[i])] += lane_->end[i] - lane_->begin[i];
  }
}

void LaneIndex::buildGrid() {
  std::vector<ClassShares> shares(std::clamp(std::bit_floor(lane_->size() / 8), kMinCells, kMaxCells));
  exactShares({span_, static_cast<int>(shares.size())}, shares);
  buildLevels(std::move(shares));
}

void LaneIndex::buildLevels(std::vector<ClassShares> shares) {
  constexpr std::size_t kSmallest = 512;
  for (;;) {
    Cells& cells = levels_.emplace_back(shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i)
      for (std::size_t c = 0; c < kBusyClasses; ++c) {
        // Any time at all is at least one step: a lone short slice shows (see LaneRowPainter).
        const float share = std::min(shares[i].of[c], 1.0F);
        if (share > 1e-9F) cells[i].of[c] = static_cast<std::uint16_t>(std::max(1.0F, share * kSteps + 0.5F));
      }
    if (shares.size() / 2 < kSmallest) return;
    for (std::size_t i = 0; i < shares.size() / 2; ++i)
      for (std::size_t c = 0; c < kBusyClasses; ++c)
        shares[i].of[c] = (shares[2 * i].of[c] + shares[2 * i + 1].of[c]) / 2;
    shares.resize(shares.size() / 2);
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
    out[busyClass(lane_->kind[i])] += lane_->end[i] - lane_->begin[i];
  if (slice < lane_->size() && lane_->begin[slice] < time)
    out[busyClass(lane_->kind[slice])] += time - lane_->begin[slice];
}

BusyTimes LaneIndex::busyBefore(core::Picoseconds time) const {
  BusyTimes out;
  busyBefore(time, firstEndingAfter(time), out);
  return out;
}

BusyTimes LaneIndex::busyIn(TimeRange range) const {
  if (range.empty()) return {};
  if (coarse()) {
    ClassShares sum;
    shares({range, 1}, true, {&sum, 1});
    BusyTimes busy{};
    for (std::size_t c = 0; c < kBusyClasses; ++c)
      busy[c] = std::llround(static_cast<double>(sum.of[c]) * static_cast<double>(range.length()));
    return busy;
  }
  BusyTimes busy = busyBefore(range.end);
  const BusyTimes before = busyBefore(range.begin);
  for (std::size_t c = 0; c < kBusyClasses; ++c) busy[c] -= before[c];
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
  if (next < lane_->size() && lane_->begin[next] <= time) return next;
  std::optional<std::size_t> best;
  if (next < lane_->size() && distance(next) <= slack) best = next;
  if (next > 0 && distance(next - 1) <= slack && (!best || distance(next - 1) <= distance(*best)))
    best = next - 1;
  return best;
}

/// The coarsest level of which a column still covers four cells; the finest one does with two, and of a
/// coarse lane with less. Null: none.
const LaneIndex::Cells* LaneIndex::levelFor(const TimeAxis& axis) const {
  const double columns = static_cast<double>(axis.width) * static_cast<double>(span_.length()) /
                         static_cast<double>(std::max<core::Picoseconds>(1, axis.view.length()));
  if (levels_.empty()) return nullptr;
  if (!coarse() && static_cast<double>(levels_.front().size()) < 2 * columns) return nullptr;
  const Cells* found = &levels_.front();
  for (const Cells& level : levels_)
    if (static_cast<double>(level.size()) >= 4 * columns) found = &level;
  return found;
}

void LaneIndex::gridShares(const Cells& cells, const TimeAxis& axis, std::span<ClassShares> out) const {
  const double perCell = static_cast<double>(span_.length()) / static_cast<double>(cells.size());
  const double step = static_cast<double>(axis.view.length()) / axis.width / perCell;
  const double origin = static_cast<double>(axis.view.begin - span_.begin) / perCell;
  const auto scale = static_cast<float>(1 / (step * kSteps));
  const auto limit = static_cast<double>(cells.size());
  for (std::size_t x = 0; x < out.size(); ++x) {
    const double from = std::clamp(origin + step * static_cast<double>(x), 0.0, limit);
    const double to = std::clamp(origin + step * static_cast<double>(x + 1), 0.0, limit);
    ClassShares sum;
    const auto first = static_cast<std::size_t>(from), last = static_cast<std::size_t>(to);
    const auto add = [&](std::size_t cell, float share) {
      for (std::size_t c = 0; c < kBusyClasses; ++c)
        sum.of[c] += share * static_cast<float>(cells[cell].of[c]);
    };
    if (to > from) {
      // From the start of the first cell to `to`, less what lies before `from`.
      for (std::size_t cell = first; cell < last; ++cell) add(cell, scale);
      if (last < cells.size()) add(last, scale * static_cast<float>(to - static_cast<double>(last)));
      if (first < cells.size()) add(first, -scale * static_cast<float>(from - static_cast<double>(first)));
    }
    out[x] = sum;
  }
}

void LaneIndex::exactShares(const TimeAxis& axis, std::span<ClassShares> out) const {
  const auto& begins = lane_->begin;
  const auto& ends = lane_->end;
  const auto& kinds = lane_->kind;
  core::Picoseconds from = axis.view.begin;
  std::size_t first = firstEndingAfter(from);
  for (std::size_t x = 0; x < out.size(); ++x) {
    const core::Picoseconds to = axis.boundary(static_cast<int>(x) + 1);
    const float scale = to > from ? 1.0F / static_cast<float>(to - from) : 0.0F;
    const std::size_t last = gallop(to, first);  // the first that goes on behind this column
    ClassShares& column = out[x] = {};
    if (last > first + 3 * kBlock) {
      BusyTimes before, after;
      busyBefore(from, first, before);
      busyBefore(to, last, after);
      for (std::size_t c = 0; c < kBusyClasses; ++c)
        column.of[c] = static_cast<float>(after[c] - before[c]) * scale;
    } else {
      for (std::size_t i = first; i < last; ++i)
        column.of[busyClass(kinds[i])] += static_cast<float>(ends[i] - std::max(begins[i], from)) * scale;
      if (last < ends.size() && begins[last] < to)
        column.of[busyClass(kinds[last])] += static_cast<float>(to - std::max(begins[last], from)) * scale;
    }
    first = last;
    from = to;
  }
}

LaneIndex::Level LaneIndex::shares(const TimeAxis& axis, bool allowGrid, std::span<ClassShares> out) const {
  const Cells* level = allowGrid || coarse() ? levelFor(axis) : nullptr;
  if ((lane_->size() == 0 && level == nullptr) || axis.view.empty())
    std::ranges::fill(out, ClassShares{});
  else if (level != nullptr)
    gridShares(*level, axis, out);
  else
    exactShares(axis, out);
  return level != nullptr ? Level::grid : Level::exact;
}

std::size_t LaneIndex::bytes() const {
  std::size_t sum = blocks_.size() * sizeof(BusyTimes);
  for (const Cells& level : levels_) sum += level.size() * sizeof(Cell);
  return sum;
}

}  // namespace vsim::gui
