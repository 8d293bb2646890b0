#include "gui/model/participants.h"

#include <algorithm>

#include "gpu/data_plan.h"

namespace vsim::gui {
namespace {

const Track* trackOf(const TimelineData& data, std::int64_t lane) {
  const auto found = std::ranges::find(data.tracks, lane, &Track::lane);
  return lane < 0 || found == data.tracks.end() ? nullptr : &*found;
}

/// How often the instruction ran before, in the same lane: once a step.
std::ptrdiff_t timesBefore(const LaneColumns& lane, std::size_t slice) {
  const auto end = lane.source.begin() + static_cast<std::ptrdiff_t>(slice);
  return std::count(lane.source.begin(), end, lane.source[slice]);
}

std::int64_t sliceNumber(const LaneColumns& lane, std::uint32_t source, std::ptrdiff_t before) {
  for (std::size_t i = 0; i < lane.size(); ++i)
    if (lane.source[i] == source && before-- == 0) return static_cast<std::int64_t>(i);
  return -1;
}

}  // namespace

std::vector<SliceRef> participantsOf(const TimelineScene& scene, SliceRef slice) {
  const TimelineData& data = scene.data();
  const Track* const track = trackOf(data, slice.lane);
  if (!data.log || track == nullptr || track->ranks != 1) return {};
  const LaneColumns& lane = data.lanes[static_cast<std::size_t>(slice.lane)];
  if (slice.slice < 0 || static_cast<std::size_t>(slice.slice) >= lane.size()) return {};
  const auto at = static_cast<std::size_t>(slice.slice);
  const core::StepProgram& program = *data.log->program;
  const core::Instruction& what = program.step[lane.source[at]];
  if (what.kind != core::InstructionKind::collective) return {};
  const std::vector<int> members = gpu::membersOf(program.groups[program.collectives[what.operand].group],
                                                  static_cast<int>(track->firstRank));
  const std::ptrdiff_t before = timesBefore(lane, at);
  std::vector<SliceRef> others;
  for (const Track& other : data.tracks) {
    if (other.lane < 0 || other.lane == slice.lane || other.stream != track->stream || other.ranks != 1)
      continue;
    if (std::ranges::find(members, other.firstRank) == members.end()) continue;
    const std::int64_t number =
        sliceNumber(data.lanes[static_cast<std::size_t>(other.lane)], lane.source[at], before);
    if (number >= 0) others.push_back({other.lane, number});
  }
  return others;
}

}  // namespace vsim::gui
