#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/program/dag.h"
#include "gui/model/timeline_data.h"

namespace vsim::gui {

/// A slice of a lane; lane -1: none.
struct SliceRef {
  std::int64_t lane = -1, slice = -1;
  [[nodiscard]] bool valid() const { return lane >= 0; }
  friend bool operator==(const SliceRef&, const SliceRef&) = default;
};

/// What waited for what in one class of ranks: the program's graph with the times that the log has.
/// Immutable; keeps the data alive. Building is linear in the steps' instructions, about a microsecond each.
///
/// Times of nodes: a slice's own; the issue of a slice; of everything else the latest of what comes before
/// it.
class StepGraph {
 public:
  /// `rankClass`: index into the log's ranks. Errors: a trace of another program, a program that has no
  /// order.
  [[nodiscard]] static core::Result<StepGraph> build(std::shared_ptr<const TimelineData> data,
                                                     std::int64_t rankClass);

  [[nodiscard]] const TimelineData& data() const { return *data_; }
  [[nodiscard]] const core::RankLog& ranks() const { return *ranks_; }
  [[nodiscard]] std::int64_t rankClass() const { return rankClass_; }
  [[nodiscard]] const core::ProgramDag& dag() const { return dag_; }
  [[nodiscard]] const std::vector<core::Index>& order() const { return order_; }

  /// The log's slice behind a slice of a lane; null: of another class.
  [[nodiscard]] const core::Slice* logSlice(SliceRef slice) const;
  [[nodiscard]] SliceRef reference(const core::Slice& slice) const;
  /// Node in whose time the slice ran; core::kNone: none.
  [[nodiscard]] core::Index nodeOf(SliceRef slice) const;
  /// The slice of a device node; null: the node has none (events, hooks).
  [[nodiscard]] const core::Slice* sliceAt(core::Index node) const;
  [[nodiscard]] core::Picoseconds done(core::Index node) const { return done_[node]; }
  [[nodiscard]] std::span<const core::Index> before(core::Index node) const { return list(before_, node); }
  [[nodiscard]] std::span<const core::Index> after(core::Index node) const { return list(after_, node); }
  /// Of what comes before the node, what was done last; work goes before the host's issue. kNone: the first.
  [[nodiscard]] core::Index lastBefore(core::Index node) const;

  /// Slices that had to end before this one could begin: through events and hooks, not through other slices.
  [[nodiscard]] std::vector<SliceRef> predecessors(SliceRef slice) const;
  [[nodiscard]] std::vector<SliceRef> successors(SliceRef slice) const;

 private:
  struct Links {
    std::vector<core::Index> start, nodes;
  };
  [[nodiscard]] static std::span<const core::Index> list(const Links& links, core::Index node) {
    return std::span(links.nodes).subspan(links.start[node], links.start[node + 1] - links.start[node]);
  }
  void link();
  void findSlices();
  void time();
  [[nodiscard]] std::vector<SliceRef> neighbours(SliceRef slice, const Links& links) const;

  std::shared_ptr<const TimelineData> data_;  // shared with the view
  const core::RankLog* ranks_ = nullptr;
  std::int64_t rankClass_ = 0;
  core::ProgramDag dag_;
  std::vector<core::Index> order_;
  Links before_, after_;
  std::vector<core::Index> slices_;      // [node]: into the log's slices
  std::vector<core::Picoseconds> done_;  // [node]
  std::vector<std::vector<core::Index>>
      logIndex_;                      // [lane][slice]: into the log's slices; other classes: empty
  std::vector<SliceRef> references_;  // [log's slice]
};

}  // namespace vsim::gui
