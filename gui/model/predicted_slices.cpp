#include "gui/model/predicted_slices.h"

#include <algorithm>

#include "core/report/timeline.h"

namespace vsim::gui {
namespace {

constexpr std::string_view kMeasured = " (measured)", kPredicted = " (predicted)";

/// Hosts issue ahead: a step begins where the one before has ended.
core::Picoseconds beginOf(const core::RankLog& log, std::size_t step) {
  return log.stepEnd[step] - core::stepLength(log, step);
}

/// The slices of the last step, in order of their begin, by stream.
std::vector<std::vector<core::Slice>> lastStepByStream(const core::RankLog& log, std::size_t streams) {
  std::vector<std::vector<core::Slice>> result(streams);
  const std::size_t last = log.stepEnd.size() - 1;
  for (const core::Slice& slice : log.slices)
    if (slice.step == last && slice.stream < streams) result[slice.stream].push_back(slice);
  for (auto& slices : result) std::ranges::stable_sort(slices, {}, &core::Slice::begin);
  return result;
}

}  // namespace

std::optional<std::size_t> predictionOf(const OpenedRun& run, std::size_t report) {
  if (report >= run.reports.size()) return std::nullopt;
  const std::string& measured = run.reports[report].facts.system;
  if (!measured.ends_with(kMeasured)) return std::nullopt;
  const std::string wanted = measured.substr(0, measured.size() - kMeasured.size()).append(kPredicted);
  for (std::size_t i = 0; i < std::min(run.reports.size(), run.logs.size()); ++i)
    if (run.reports[i].facts.system == wanted && run.logs[i] != nullptr) return i;
  return std::nullopt;
}

PredictedSlices::PredictedSlices(const TimelineData& measured, const core::ExecutionLog& predicted)
    : lanes_(measured.lanes.size()) {
  if (!measured.log || !predicted.program || predicted.ranks.empty() || predicted.ranks[0].stepEnd.empty())
    return;
  const core::StepProgram& program = *predicted.program;
  if (program.step.size() != measured.log->program->step.size()) return;
  const core::RankLog& simulated = predicted.ranks[0];
  const auto slices = lastStepByStream(simulated, program.streams.size());
  const core::Picoseconds begin = beginOf(simulated, simulated.stepEnd.size() - 1);
  durations_.assign(program.step.size(), -1);
  for (const auto& stream : slices)
    for (const core::Slice& slice : stream) durations_[slice.instruction] = slice.end - slice.begin;
  for (const Track& track : measured.tracks) {
    if (track.lane < 0 || track.stream >= slices.size()) continue;
    const core::RankLog& rank = measured.log->ranks[static_cast<std::size_t>(track.rankClass)];
    LaneColumns& lane = lanes_[static_cast<std::size_t>(track.lane)];
    core::Picoseconds free = 0;
    for (std::size_t step = 0; step < std::min(rank.stepBegin.size(), rank.stepEnd.size()); ++step) {
      const core::Picoseconds stepBegin = beginOf(rank, step);
      for (const core::Slice& slice : slices[track.stream]) {
        // A predicted step may be longer than the measured one: what would lie in the next step is left out.
        const core::Picoseconds from = std::max(free, stepBegin + slice.begin - begin);
        if (step + 1 < rank.stepEnd.size() && from >= rank.stepEnd[step]) break;
        free = std::max(from, stepBegin + slice.end - begin);
        lane.begin.push_back(from);
        lane.end.push_back(free);
        lane.kind.push_back(SliceClass::copy);
        lane.source.push_back(slice.instruction);
      }
    }
  }
}

std::optional<core::Picoseconds> PredictedSlices::duration(std::uint32_t instruction) const {
  if (instruction >= durations_.size() || durations_[instruction] < 0) return std::nullopt;
  return durations_[instruction];
}

}  // namespace vsim::gui
