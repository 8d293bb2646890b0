#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "gui/model/step_graph.h"

namespace vsim::gui {

/// What a stretch of the critical path was spent on.
enum class PathKind : std::uint8_t {
  compute,
  communication,
  copy,
  wait,  // the next slice was issued and had its inputs: other ranks, or the device, were not ready
  host,  // the host had not issued the next slice yet
};
inline constexpr std::string_view kPathKindNames[] = {"compute", "communication", "copy", "wait", "host"};

struct PathSegment {
  PathKind kind = PathKind::wait;
  TimeRange range;
  SliceRef slice;  // that ran, or that waited; invalid: the host
};

/// Why a step of one class of ranks took as long as it did: the chain of work in which every piece began
/// because the one before ended, followed back from the step's last end. The segments follow one another
/// without gaps: their lengths sum to the step.
struct StepPath {
  TimeRange step;
  std::vector<PathSegment> segments;  // in order of time
  std::array<core::Picoseconds, 5> byKind{};

  /// The step would be shorter by `saved` if all slices of that kind took no time (waits and the host's work
  /// stay as they were).
  struct Saving {
    std::string what;
    core::Picoseconds saved = 0;
  };
  std::vector<Saving> ifFree;  // largest first
};

/// Errors: the class did not complete that step.
[[nodiscard]] core::Result<StepPath> stepPath(const StepGraph& graph, std::size_t step);

}  // namespace vsim::gui
