#include "gui/model/busy_track.h"

#include <algorithm>
#include <cmath>

namespace vsim::gui {

void Stretches::add(TimeRange range) {
  if (range.empty()) return;
  if (!end.empty() && end.back() == range.begin) {
    end.back() = range.end;
    return;
  }
  begin.push_back(range.begin);
  end.push_back(range.end);
}

BusyTrack::BusyTrack(Stretches stretches) : stretches_(std::move(stretches)) {
  const std::size_t size = stretches_.size();
  if (size == 0) return;
  stretches_.begin.shrink_to_fit();
  stretches_.end.shrink_to_fit();
  span_ = {stretches_.begin.front(), stretches_.end.back()};
  blocks_.reserve(size / kBlock + 1);
  core::Picoseconds busy = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (i % kBlock == 0) blocks_.push_back(busy);
    busy += stretches_.end[i] - stretches_.begin[i];
  }
  if (size <= kFew) return;
  std::vector<float> cells(kCells);
  exactShares({span_, kCells}, cells);
  buildCurve(cells);
}

BusyTrack::BusyTrack(TimeRange span, std::span<const float> cells) : span_(span) {
  if (!span.empty() && !cells.empty()) buildCurve(cells);
}

void BusyTrack::buildCurve(std::span<const float> cells) {
  curve_.reserve(cells.size() + 1);
  double sum = 0;
  curve_.push_back(0);
  for (const float cell : cells) {
    sum += static_cast<double>(std::clamp(cell, 0.0F, 1.0F));
    curve_.push_back(static_cast<float>(sum));
  }
}

std::size_t BusyTrack::firstEndingAfter(core::Picoseconds time) const {
  return static_cast<std::size_t>(std::upper_bound(stretches_.end.begin(), stretches_.end.end(), time) -
                                  stretches_.end.begin());
}

core::Picoseconds BusyTrack::busyBefore(core::Picoseconds time, std::size_t at) const {
  if (blocks_.empty()) return 0;
  const std::size_t block = std::min(at / kBlock, blocks_.size() - 1);
  core::Picoseconds busy = blocks_[block];
  for (std::size_t i = block * kBlock; i < at; ++i) busy += stretches_.end[i] - stretches_.begin[i];
  if (at < stretches_.size() && stretches_.begin[at] < time) busy += time - stretches_.begin[at];
  return busy;
}

core::Picoseconds BusyTrack::busyIn(TimeRange range) const {
  if (range.empty()) return 0;
  if (!coarse())
    return busyBefore(range.end, firstEndingAfter(range.end)) -
           busyBefore(range.begin, firstEndingAfter(range.begin));
  float share = 0;
  curveShares({range, 1}, {&share, 1});
  return std::llround(static_cast<double>(share) * static_cast<double>(range.length()));
}

std::pair<std::size_t, std::size_t> BusyTrack::stretchesIn(TimeRange range) const {
  if (range.empty()) return {0, 0};
  const std::size_t first = firstEndingAfter(range.begin);
  const auto& begins = stretches_.begin;
  const auto last =
      std::lower_bound(begins.begin() + static_cast<std::ptrdiff_t>(first), begins.end(), range.end);
  return {first, static_cast<std::size_t>(last - begins.begin())};
}

BusyTrack::Level BusyTrack::shares(const TimeAxis& axis, bool allowCurve, std::span<float> out) const {
  const bool wide = static_cast<double>(axis.view.length()) * static_cast<double>(curve_.size()) >
                    2.0 * axis.width * static_cast<double>(span_.length());
  if (span_.empty() || axis.view.empty()) {
    std::ranges::fill(out, 0.0F);
    return Level::exact;
  }
  if (coarse() || (allowCurve && !curve_.empty() && wide)) {
    curveShares(axis, out);
    return Level::curve;
  }
  exactShares(axis, out);
  return Level::exact;
}

void BusyTrack::exactShares(const TimeAxis& axis, std::span<float> out) const {
  const auto& begins = stretches_.begin;
  const auto& ends = stretches_.end;
  core::Picoseconds from = axis.view.begin;
  std::size_t first = firstEndingAfter(from);
  for (std::size_t x = 0; x < out.size(); ++x) {
    const core::Picoseconds to = axis.boundary(static_cast<int>(x) + 1);
    std::size_t last = first;
    core::Picoseconds busy = 0;
    while (last < ends.size() && ends[last] <= to && last < first + 2 * kBlock) {
      busy += ends[last] - std::max(begins[last], from);
      ++last;
    }
    if (last < ends.size() && ends[last] <= to) {  // many: the sums before blocks are faster
      last = firstEndingAfter(to);
      busy = busyBefore(to, last) - busyBefore(from, first);
    } else if (last < ends.size() && begins[last] < to) {
      busy += to - std::max(begins[last], from);
    }
    out[x] = to > from ? static_cast<float>(busy) / static_cast<float>(to - from) : 0.0F;
    first = last;
    from = to;
  }
}

void BusyTrack::curveShares(const TimeAxis& axis, std::span<float> out) const {
  const std::size_t cells = curve_.size() - 1;
  const double perCell = static_cast<double>(span_.length()) / static_cast<double>(cells);
  const double step = static_cast<double>(axis.view.length()) / axis.width / perCell;
  const double origin = static_cast<double>(axis.view.begin - span_.begin) / perCell;
  const auto scale = static_cast<float>(1 / step);
  struct Place {
    double at = 0;
    std::size_t cell = 0;
    float sum = 0;  // busy cells before it
  };
  const auto placeOf = [&](std::size_t x) {
    Place place;
    place.at = std::clamp(origin + step * static_cast<double>(x), 0.0, static_cast<double>(cells));
    place.cell = std::min(static_cast<std::size_t>(place.at), cells - 1);
    place.sum = curve_[place.cell] + static_cast<float>(place.at - static_cast<double>(place.cell)) *
                                         (curve_[place.cell + 1] - curve_[place.cell]);
    return place;
  };
  Place from = placeOf(0);
  for (std::size_t x = 0; x < out.size(); ++x) {
    const Place to = placeOf(x + 1);
    // Inside one cell the difference of two sums would be lost in their rounding.
    const float busy = from.cell == to.cell
                           ? static_cast<float>(to.at - from.at) * (curve_[to.cell + 1] - curve_[to.cell])
                           : to.sum - from.sum;
    out[x] = busy * scale;
    from = to;
  }
}

std::size_t BusyTrack::bytes() const {
  return 2 * stretches_.size() * sizeof(core::Picoseconds) + blocks_.size() * sizeof(core::Picoseconds) +
         curve_.size() * sizeof(float);
}

}  // namespace vsim::gui
