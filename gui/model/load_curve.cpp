#include "gui/model/load_curve.h"

#include <algorithm>
#include <bit>

namespace vsim::gui {
namespace {

struct Change {
  core::Picoseconds time;
  std::size_t part;
  double by;
};

}  // namespace

LoadCurve::LoadCurve(const std::vector<LoadInterval>& intervals) {
  std::vector<Change> changes;
  changes.reserve(2 * intervals.size());
  for (const LoadInterval& each : intervals) {
    if (each.end <= each.begin) continue;
    changes.push_back({each.begin, each.part, each.load});
    changes.push_back({each.end, each.part, -each.load});
  }
  if (changes.empty()) return;
  std::ranges::stable_sort(changes, std::ranges::less{}, &Change::time);
  LoadParts load{}, integral{};
  std::array<std::int64_t, kLoadParts> running{};
  for (std::size_t i = 0; i < changes.size();) {
    const core::Picoseconds time = changes[i].time;
    if (!times_.empty())
      for (std::size_t p = 0; p < kLoadParts; ++p)
        integral[p] += load[p] * static_cast<double>(time - times_.back());
    for (; i < changes.size() && changes[i].time == time; ++i) {
      const auto& [at, part, by] = changes[i];
      load[part] += by;
      running[part] += by > 0 ? 1 : -1;
      // Sums of loads that came and went leave rounding behind: nothing runs, nothing is loaded.
      if (running[part] == 0) load[part] = 0;
    }
    times_.push_back(time);
    loads_.push_back(load);
    integrals_.push_back(integral);
  }
  leaves_ = std::bit_ceil(times_.size());
  tree_.assign(2 * leaves_, 0);
  for (std::size_t i = 0; i < leaves_; ++i)
    tree_[leaves_ + i] = static_cast<std::uint32_t>(std::min(i, times_.size() - 1));
  for (std::size_t i = leaves_ - 1; i > 0; --i) {
    const std::uint32_t a = tree_[2 * i], b = tree_[2 * i + 1];
    tree_[i] = sumOf(loads_[b]) > sumOf(loads_[a]) ? b : a;
  }
}

TimeRange LoadCurve::span() const {
  return times_.empty() ? TimeRange{} : TimeRange{times_.front(), times_.back()};
}

std::size_t LoadCurve::stepAt(core::Picoseconds time) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(times_, time) - times_.begin());
}

LoadParts LoadCurve::at(core::Picoseconds time) const {
  const std::size_t after = stepAt(time);
  return after == 0 ? LoadParts{} : loads_[after - 1];
}

LoadParts LoadCurve::before(core::Picoseconds time) const {
  const std::size_t after = stepAt(time);
  if (after == 0) return {};
  LoadParts result = integrals_[after - 1];
  for (std::size_t p = 0; p < kLoadParts; ++p)
    result[p] += loads_[after - 1][p] * static_cast<double>(time - times_[after - 1]);
  return result;
}

std::size_t LoadCurve::largestIn(std::size_t first, std::size_t last) const {
  std::size_t best = first;
  const auto offer = [&](std::uint32_t node) {
    if (sumOf(loads_[node]) > sumOf(loads_[best])) best = node;
  };
  for (std::size_t a = first + leaves_, b = last + leaves_; a < b; a /= 2, b /= 2) {
    if (a & 1) offer(tree_[a++]);
    if (b & 1) offer(tree_[--b]);
  }
  return best;
}

LoadCurve::Summary LoadCurve::summary(TimeRange range) const {
  Summary result;
  if (times_.empty() || range.empty()) return result;
  const LoadParts from = before(range.begin), to = before(range.end);
  for (std::size_t p = 0; p < kLoadParts; ++p)
    result.mean[p] = std::max(0.0, to[p] - from[p]) / static_cast<double>(range.length());
  // Steps that begin before the range's end and do not end before its begin.
  const std::size_t after = stepAt(range.begin);
  const std::size_t first = after == 0 ? 0 : after - 1;
  const auto last = static_cast<std::size_t>(std::ranges::lower_bound(times_, range.end) - times_.begin());
  if (first >= last) return result;
  const std::size_t most = largestIn(first, last);
  result.peak = loads_[most];
  result.peakTime = std::max(times_[most], range.begin);
  return result;
}

void LoadCurve::columns(const TimeAxis& axis, std::vector<Summary>& out) const {
  out.resize(static_cast<std::size_t>(axis.width));
  for (int x = 0; x < axis.width; ++x)
    out[static_cast<std::size_t>(x)] = summary({axis.boundary(x), axis.boundary(x + 1)});
}

}  // namespace vsim::gui
