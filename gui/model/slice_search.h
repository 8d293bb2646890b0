#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/step_graph.h"

namespace vsim::gui {

/// All slices that a search found: 4 bytes each.
struct SearchHits {
  std::vector<std::vector<std::uint32_t>> lanes;  // [lane]: slices, in order
  std::int64_t count = 0;
  /// The first one of the lane that ends after `time`; O(log hits).
  [[nodiscard]] std::optional<std::size_t> endingAfter(const LaneColumns& columns, std::size_t lane,
                                                       core::Picoseconds time) const;
};

/// Slices that a query finds. All its words must occur, in any case of letters, in the slice's name, its
/// class, its phase, or the title of its stream or of its class of ranks. Names are looked at once per
/// instruction, not per slice. Immutable; keeps the data alive.
class SliceSearch {
 public:
  /// At most kMaxWords words count. An empty query finds nothing.
  SliceSearch(std::shared_ptr<const TimelineData> data, const std::string& query);
  static constexpr std::size_t kMaxWords = 32;

  [[nodiscard]] const std::string& query() const { return query_; }
  [[nodiscard]] bool matches(SliceRef slice) const;
  /// The next hit after `from` (or before it) by begin, then lane; an invalid `from`: the first, or the last.
  enum class Direction : std::uint8_t { forward, backward };
  [[nodiscard]] std::optional<SliceRef> next(SliceRef from, Direction direction) const;
  /// The first hit at or after `time`.
  [[nodiscard]] std::optional<SliceRef> firstFrom(core::Picoseconds time) const;
  /// Every slice that is hit. A few nanoseconds a slice; `cancelled` ends it early.
  [[nodiscard]] SearchHits hits(const std::atomic<bool>& cancelled) const;

 private:
  using Words = std::uint32_t;  // bit i: word i occurs
  [[nodiscard]] bool matches(std::size_t lane, std::size_t slice) const {
    const LaneColumns& columns = data_->lanes[lane];
    return (ofLane_[lane] | ofKind_[static_cast<std::size_t>(columns.kind[slice])] |
            ofSource_[columns.source[slice]]) == all_;
  }

  std::shared_ptr<const TimelineData> data_;  // shared with the view
  std::string query_;
  Words all_ = 0;
  std::vector<Words> ofSource_, ofLane_;
  std::array<Words, kSliceClasses> ofKind_{};
};

}  // namespace vsim::gui
