#pragma once

#include <vector>

#include "gui/model/busy_track.h"
#include "gui/model/timeline_data.h"

namespace vsim::gui {

/// The tracks of one class of ranks, in the order of TimelineData::tracks.
struct RankClassTracks {
  std::size_t track = 0;           // of the class itself
  std::vector<std::size_t> lanes;  // indices into TimelineData::lanes
};
[[nodiscard]] std::vector<RankClassTracks> rankClassesOf(const TimelineData& data);

/// Communication that no kernel on the compute stream hides: "exposed". Definition and function are those of
/// the report (core/report/timeline.h), so that the sum over the last step equals its exposedCommSeconds.
struct Exposed {
  struct Step {
    core::Picoseconds exposed = 0, communication = 0, compute = 0, length = 0;
    TimeRange range;
  };
  Stretches lane;           // that are exposed
  Stretches communication;  // in which a collective runs, each instant once
  std::vector<Step> steps;  // completed ones; one without steps: the whole trace
};

/// One for each class of ranks that `data` shows, same order as rankClassesOf(). Traces of other programs:
/// kernels on tracks marked `compute` hide, slices of communication classes are hidden.
[[nodiscard]] std::vector<Exposed> exposedOf(const TimelineData& data);

}  // namespace vsim::gui
