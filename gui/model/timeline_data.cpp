#include "gui/model/timeline_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/report/timeline.h"
#include "traces/slice_text.h"

namespace vsim::gui {
namespace {

SliceClass classOfCollective(core::CollectiveKind kind) {
  switch (kind) {
    case core::CollectiveKind::allGather:
      return SliceClass::allGather;
    case core::CollectiveKind::reduceScatter:
      return SliceClass::reduceScatter;
    case core::CollectiveKind::allToAll:
      return SliceClass::allToAll;
    case core::CollectiveKind::allReduce:
    case core::CollectiveKind::broadcast:
      return SliceClass::allReduce;
  }
  return SliceClass::allReduce;
}

SliceClass classOf(const core::StepProgram& program, const core::Slice& slice, core::StreamId compute) {
  const core::Instruction& instruction = program.step[slice.instruction];
  if (instruction.kind == core::InstructionKind::collective)
    return classOfCollective(program.collectives[instruction.operand].kind);
  if (slice.stream != compute) return SliceClass::copy;
  if (instruction.phase == core::Phase::optimizer) return SliceClass::optimizer;
  const bool forward = instruction.phase == core::Phase::forward || instruction.phase == core::Phase::loss ||
                       instruction.phase == core::Phase::setup;
  return forward ? SliceClass::forward : SliceClass::backward;
}

bool alike(const core::RankLog& a, const core::RankLog& b) {
  return std::ranges::equal(a.slices, b.slices, [](const core::Slice& x, const core::Slice& y) {
    return x.instruction == y.instruction && x.begin == y.begin && x.end == y.end && x.step == y.step &&
           x.stream == y.stream;
  });
}

std::string classTitle(const core::RankLog& log, std::int64_t ranks) {
  if (ranks == 1) return fmt::format("rank {}", log.firstRank);
  const std::string who = fmt::format("ranks {}-{}", core::formatCount(log.firstRank),
                                      core::formatCount(log.firstRank + log.ranks - 1));
  const std::string alike = core::formatCount(ranks) + (ranks == log.ranks ? " alike" : " alike in all");
  return log.name.empty() || log.name == "all" ? fmt::format("{} · {}", who, alike)
                                               : fmt::format("{} · {} · {}", log.name, who, alike);
}

LaneColumns laneOf(const core::StepProgram& program, const core::RankLog& log, core::StreamId stream) {
  std::vector<const core::Slice*> slices;
  for (const core::Slice& slice : log.slices)
    if (slice.stream == stream) slices.push_back(&slice);
  // A stream runs in the order of issue, so that they are sorted already unless clocks were measured.
  const auto earlier = [](const core::Slice* a, const core::Slice* b) { return a->begin < b->begin; };
  if (!std::is_sorted(slices.begin(), slices.end(), earlier))
    std::stable_sort(slices.begin(), slices.end(), earlier);
  LaneColumns lane;
  lane.begin.reserve(slices.size());
  lane.end.reserve(slices.size());
  lane.kind.reserve(slices.size());
  lane.source.reserve(slices.size());
  const core::StreamId compute = core::defaultStream(program);
  core::Picoseconds free = 0;
  for (const core::Slice* slice : slices) {
    // Measured ends may lie past the next begin by the clock's grain.
    const core::Picoseconds begin = std::max(slice->begin, free);
    free = std::max(begin, slice->end);
    lane.begin.push_back(begin);
    lane.end.push_back(free);
    lane.kind.push_back(classOf(program, *slice, compute));
    lane.source.push_back(slice->instruction);
  }
  return lane;
}

void addSteps(TimelineData& data, const core::ExecutionLog& log) {
  for (const core::RankLog& rank : log.ranks)
    for (std::size_t step = 0; step < std::min(rank.stepBegin.size(), rank.stepEnd.size()); ++step) {
      const TimeRange range{rank.stepBegin[step], rank.stepEnd[step]};
      if (data.steps.size() <= step) data.steps.push_back(range);
      if (range.length() > data.steps[step].length()) data.steps[step] = range;
    }
}

}  // namespace

std::string TimelineData::sliceName(std::int64_t lane, std::int64_t slice) const {
  const std::uint32_t source = lanes[static_cast<std::size_t>(lane)].source[static_cast<std::size_t>(slice)];
  return log ? traces::sliceName(*log->program, source) : names[source];
}

std::size_t TimelineData::slices() const {
  return std::accumulate(lanes.begin(), lanes.end(), toCome,
                         [](std::size_t sum, const LaneColumns& lane) { return sum + lane.size(); });
}

std::shared_ptr<const TimelineData> timelineOf(std::shared_ptr<const core::ExecutionLog> log) {
  auto data = std::make_shared<TimelineData>();
  data->log = log;
  if (!log || !log->program) return data;
  const core::StepProgram& program = *log->program;
  std::vector<bool> folded(log->ranks.size(), false);
  for (std::size_t r = 0; r < log->ranks.size(); ++r) {
    if (folded[r]) continue;
    std::int64_t ranks = log->ranks[r].ranks;
    for (std::size_t other = r + 1; other < log->ranks.size(); ++other)
      if (!folded[other] && alike(log->ranks[r], log->ranks[other])) {
        folded[other] = true;
        ranks += log->ranks[other].ranks;
      }
    data->tracks.push_back({.kind = Track::Kind::rankClass,
                            .title = classTitle(log->ranks[r], ranks),
                            .rankClass = static_cast<std::int64_t>(r),
                            .firstRank = log->ranks[r].firstRank,
                            .ranks = ranks});
    for (std::size_t s = 0; s < program.streams.size(); ++s) {
      LaneColumns lane = laneOf(program, log->ranks[r], static_cast<core::StreamId>(s));
      if (lane.size() == 0) continue;
      data->tracks.push_back({.kind = Track::Kind::stream,
                              .title = program.streams[s],
                              .depth = 1,
                              .lane = static_cast<std::int64_t>(data->lanes.size()),
                              .rankClass = static_cast<std::int64_t>(r),
                              .firstRank = log->ranks[r].firstRank,
                              .ranks = ranks,
                              .compute = s == core::defaultStream(program),
                              .communication = std::ranges::any_of(lane.kind, isCommunication),
                              .stream = static_cast<core::StreamId>(s)});
      if (data->whole.empty()) data->whole = {lane.begin.front(), lane.end.back()};
      data->whole.begin = std::min(data->whole.begin, lane.begin.front());
      data->whole.end = std::max(data->whole.end, lane.end.back());
      data->lanes.push_back(std::move(lane));
    }
  }
  addSteps(*data, *log);
  return data;
}

}  // namespace vsim::gui
