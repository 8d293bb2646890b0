#include "gui/model/side_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/report/timeline.h"
#include "core/report/verdict.h"

namespace vsim::gui {
namespace {

constexpr const char* kKindNames[] = {"compute", "exposed communication", "copies alone", "host-bound",
                                      "waiting"};

std::string partName(core::PartKind kind, const std::string& name) {
  switch (kind) {
    case core::PartKind::kernel:
      return name;
    case core::PartKind::exposed:
      return "exposed " + name;
    case core::PartKind::copy:
      return "copy " + name;
    case core::PartKind::launch:
      return kKindNames[3];
    case core::PartKind::wait:
      return kKindNames[4];
  }
  return name;
}

std::string phaseName(std::size_t phase) { return std::string(core::kPhaseNames[phase]); }

/// The rank that took longest for its last completed step; null: none completed one.
const core::RankLog* slowestOf(const core::ExecutionLog& log) {
  const core::RankLog* slowest = nullptr;
  const auto length = [](const core::RankLog& rank) {
    return core::stepLength(rank, rank.stepEnd.size() - 1);
  };
  for (const core::RankLog& rank : log.ranks)
    if (!rank.stepEnd.empty() && (slowest == nullptr || length(rank) > length(*slowest))) slowest = &rank;
  return slowest;
}

void fillFromReport(SideParts& side, const core::RunReport& report) {
  side.seconds = report.stepSeconds;
  side.kinds = {{kKindNames[0], report.computeSeconds},
                {kKindNames[1], report.exposedCommSeconds},
                {kKindNames[2], report.bubbleCopiesSeconds},
                {kKindNames[4], report.bubbleSeconds - report.bubbleCopiesSeconds}};
  for (const core::PhaseRow& row : report.phases)
    side.phases[phaseName(static_cast<std::size_t>(row.phase))] = row.seconds;
}

void fillCollectives(SideParts& side, const core::RunReport& report) {
  for (const core::CollectiveRow& row : report.collectives)
    side.collectives[std::string(core::kCollectiveNames[static_cast<std::size_t>(row.kind)]) + " " +
                     row.group] = row.seconds;
}

void fillFromLog(SideParts& side, const core::ExecutionLog& log, const core::RankLog& rank) {
  const std::size_t step = rank.stepEnd.size() - 1;
  const core::StepParts parts = core::stepParts(*log.program, rank, step);
  side.seconds = parts.seconds;
  for (std::size_t i = 0; i < parts.byKind.size(); ++i) side.kinds[kKindNames[i]] = parts.byKind[i];
  for (std::size_t i = 0; i < parts.byPhase.size(); ++i)
    if (parts.byPhase[i] != 0) side.phases[phaseName(i)] = parts.byPhase[i];
  for (const auto& [key, seconds] : parts.parts) side.parts[partName(key.first, key.second)] += seconds;
  side.units = unitParts(*log.program, rank, step);
}

/// The measured half of a verdict; units are those of the typical step, stretched to the median.
void fillFromVerdict(SideParts& side, const core::Verdict& verdict, const core::ExecutionLog& log) {
  side.seconds = verdict.stepSeconds.measured;
  const core::VerdictFigure kinds[] = {verdict.computeSeconds, verdict.exposedSeconds, verdict.copySeconds,
                                       verdict.hostBoundSeconds, verdict.waitSeconds};
  for (std::size_t i = 0; i < std::size(kinds); ++i) side.kinds[kKindNames[i]] = kinds[i].measured;
  for (const core::VerdictPhase& row : verdict.phases)
    side.phases[phaseName(static_cast<std::size_t>(row.phase))] = row.seconds.measured;
  for (const core::VerdictPart& part : verdict.contributors)
    side.parts[partName(part.kind, part.name)] += part.seconds.measured;
  side.collectives.clear();
  for (const core::VerdictClass& row : verdict.collectives)
    side.collectives[row.name + " " + row.group] = row.seconds.measured;
  const std::size_t step = core::typicalStep(verdict);
  const core::RankLog* slowest = nullptr;
  for (const core::RankLog& rank : log.ranks)
    if (slowest == nullptr || core::stepLength(rank, step) > core::stepLength(*slowest, step))
      slowest = &rank;
  if (slowest == nullptr) return;
  side.units = unitParts(*log.program, *slowest, step);
  double sum = 0;
  for (const auto& [name, seconds] : side.units) sum += seconds;
  for (auto& [name, seconds] : side.units) seconds *= sum > 0 ? side.seconds / sum : 0;
}

}  // namespace

SideParts sidePartsOf(const ComparedSide& side) {
  SideParts result;
  fillFromReport(result, side.figures());
  fillCollectives(result, side.figures());
  const auto log = side.log();
  if (!log || !log->program) {
    result.note = side.title + ": its log is not stored, so only the report's figures are compared";
    return result;
  }
  const core::RankLog* slowest = slowestOf(*log);
  if (slowest == nullptr) {
    result.note = side.title + ": no step was completed";
    return result;
  }
  const std::ptrdiff_t prediction = predictionOf(side);
  const auto predicted = prediction >= 0 ? side.run->logs[static_cast<std::size_t>(prediction)] : nullptr;
  if (predicted && predicted->program) {
    const auto verdict = core::makeVerdict(*log, *predicted, warmupOf(*side.run));
    if (verdict) {
      fillFromVerdict(result, *verdict, *log);
      return result;
    }
    result.note = side.title + ": " + verdict.error().message + "; its last step is compared";
  }
  fillFromLog(result, *log, *slowest);
  return result;
}

}  // namespace vsim::gui
