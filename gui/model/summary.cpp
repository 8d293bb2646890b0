#include "gui/model/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/report/text.h"
#include "core/report/timeline.h"
#include "gui/model/figure_text.h"

namespace vsim::gui {
namespace {

using Report = core::RunReport;
using Fill = SummaryPart::Fill;

std::string share(double seconds, const Report& report) {
  return timeText(seconds) + " (" + percentText(seconds / report.stepSeconds) + ")";
}

/// Places in the last step of the slowest ranks: where links lead.
struct Places {
  TimeRange step;
  std::array<TimeRange, std::size(core::kPhaseNames)> phases{};
  const core::RankLog* rank = nullptr;
  const core::StepProgram* program = nullptr;

  /// Around the longest collective of that kind and group.
  [[nodiscard]] TimeRange longest(core::CollectiveKind kind, const std::string& group) const {
    TimeRange best;
    if (rank == nullptr) return best;
    for (const core::Slice& slice : rank->slices) {
      const core::Instruction& instruction = program->step[slice.instruction];
      if (slice.begin < step.begin || instruction.kind != core::InstructionKind::collective) continue;
      const core::Collective& collective = program->collectives[instruction.operand];
      if (collective.kind == kind && program->groups[collective.group].name == group &&
          slice.end - slice.begin > best.length())
        best = {slice.begin, slice.end};
    }
    if (best.empty()) return step;
    return {best.begin - best.length() / 2, best.end + best.length() / 2};
  }
};

Places placesOf(const OpenedRun& run, std::size_t report) {
  Places places;
  const auto log = report < run.logs.size() ? run.logs[report] : nullptr;
  if (!log || !log->program) return places;
  for (const core::RankLog& rank : log->ranks)
    if (!rank.stepEnd.empty() && (places.rank == nullptr || rank.name == run.reports[report].slowestRanks))
      places.rank = &rank;
  if (places.rank == nullptr) return places;
  places.program = log->program.get();
  const core::StepTimeline step = core::lastStep(*log->program, *places.rank);
  places.step = {step.begin, step.end};
  for (const core::Slice& slice : places.rank->slices) {
    if (slice.begin < step.begin) continue;
    TimeRange& phase = places.phases[static_cast<std::size_t>(log->program->step[slice.instruction].phase)];
    phase = phase.empty() ? TimeRange{slice.begin, slice.end}
                          : TimeRange{std::min(phase.begin, slice.begin), std::max(phase.end, slice.end)};
  }
  return places;
}

void addFigures(Summary& summary, const Report& r, const Places& places) {
  const Destination time{"timeline", places.step};
  const std::string none = "-";
  const auto timed = [&](std::string text) { return r.completed ? std::move(text) : none; };
  summary.figures = {
      {"step time", timed(timeText(r.stepSeconds)),
       r.completed && r.relativeError ? "+- " + percentText(*r.relativeError) : "", time},
      {"tokens/s", timed(rateText(r.tokensPerSecond)),
       r.completed ? rateText(r.tokensPerSecondPerGpu) + " per GPU" : "", time},
      {"MFU", timed(percentText(r.mfu)), r.completed ? "HFU " + percentText(r.hfu) : "", time},
      {"exposed communication", timed(percentText(r.exposedCommSeconds / r.stepSeconds)),
       r.completed ? timeText(r.exposedCommSeconds) + " of " + timeText(r.commSeconds) : "", time},
      {"peak reserved",
       core::formatBytes(r.peakReserved),
       (r.marginBytes >= 0 ? core::formatBytes(r.marginBytes) + " free"
                           : core::formatBytes(-r.marginBytes) + " lacking"),
       {"memory"}},
      {"padding", fmt::format("{:.2f} %", r.facts.paddingRatio * 100), "of the sharded parameters", {"plan"}},
  };
}

SummaryPart part(Fill fill, std::string label, double seconds, const Report& report, Destination to) {
  return {.fill = fill,
          .label = std::move(label),
          .value = share(seconds, report),
          .amount = seconds,
          .to = std::move(to)};
}

void addTimes(Summary& summary, const Report& r, const Places& places) {
  const Destination step{"timeline", places.step};
  summary.stepSeconds = r.stepSeconds;
  summary.breakdown = {part(Fill::compute, "compute", r.computeSeconds, r, step),
                       part(Fill::exposed, "exposed communication", r.exposedCommSeconds, r, step)};
  if (r.bubbleCopiesSeconds > 0)
    summary.breakdown.push_back(part(Fill::copies, "copies alone", r.bubbleCopiesSeconds, r, step));
  summary.breakdown.push_back(
      part(Fill::waiting, "waiting", r.bubbleSeconds - r.bubbleCopiesSeconds, r, step));
  for (const core::PhaseRow& row : r.phases) {
    const auto index = static_cast<std::size_t>(row.phase);
    const Destination to{"timeline", places.phases[index]};
    SummaryPhase phase{
        .label = std::string(core::kPhaseNames[index]), .seconds = row.seconds, .parts = {}, .to = to};
    phase.parts = {part(Fill::compute, "compute", row.computeSeconds, r, to),
                   part(Fill::exposed, "exposed", row.exposedSeconds, r, to),
                   part(Fill::waiting, "waiting", row.idleSeconds, r, to)};
    summary.phases.push_back(std::move(phase));
  }
}

void addMemory(Summary& summary, const Report& r) {
  const auto add = [&](core::MemoryCategory category, std::string label, core::Bytes bytes) {
    if (bytes <= 0) return;
    summary.memory.push_back({.fill = Fill::memory,
                              .category = category,
                              .label = std::move(label),
                              .value = core::formatBytes(bytes),
                              .amount = static_cast<double>(bytes),
                              .to = {"memory"}});
  };
  const auto outside = static_cast<std::size_t>(core::MemoryCategory::ncclContext);
  for (std::size_t c = 0; c < outside; ++c)
    add(static_cast<core::MemoryCategory>(c), categoryText(static_cast<core::MemoryCategory>(c)),
        r.memoryByCategory[c]);
  add(core::MemoryCategory::ncclContext, categoryText(core::MemoryCategory::ncclContext),
      r.memoryByCategory[outside]);
  summary.capacityBytes = static_cast<double>(r.hardware.capacityBytes);
  summary.reservedBytes = static_cast<double>(r.peakReserved);
  summary.allocatedBytes = static_cast<double>(r.peakAllocated);
}

void addProvenance(Summary& summary, const Report& r) {
  for (std::size_t i = 0; i < r.provenance.size(); ++i)
    if (r.provenance[i] > 0)
      summary.provenance.push_back({.fill = Fill::provenance,
                                    .provenance = i,
                                    .label = std::string(core::kProvenanceNames[i]),
                                    .value = percentText(r.provenance[i]),
                                    .amount = r.provenance[i],
                                    .to = {"timeline"}});
  if (r.relativeError) summary.errorText = "+- " + percentText(*r.relativeError);
}

void addCollectives(Summary& summary, const Report& r, const Places& places) {
  for (const core::CollectiveRow& row : r.collectives)
    summary.collectives.push_back(
        {.cells = {std::string(core::kCollectiveNames[static_cast<std::size_t>(row.kind)]), row.group,
                   core::formatCount(row.groupSize), core::formatCount(row.count),
                   core::formatBytes(row.bytes / row.count),
                   timeText(row.seconds / static_cast<double>(row.count)), bandwidthText(row.busBandwidth),
                   timeText(row.seconds)},
         .seconds = row.seconds,
         .to = {"timeline", places.longest(row.kind, row.group)}});
}

std::string subtitleOf(const Report& r) {
  std::string text = fmt::format("{} GPUs", core::formatCount(r.facts.gpus));
  if (!r.hardware.gpu.empty()) text += " (" + r.hardware.gpu + ")";
  return text + fmt::format(", {} parameters, {} tokens a step", core::formatCount(r.facts.parameters),
                            core::formatCount(r.facts.tokensPerStep));
}

}  // namespace

Summary summaryOf(const OpenedRun& run, std::size_t report) {
  const Report& r = run.reports[report];
  const Places places = placesOf(run, report);
  Summary summary;
  summary.title = r.facts.scenario + ": " + r.facts.system;
  if (const std::string point = pointText(r); !point.empty()) summary.title += ", " + point;
  const auto log = report < run.logs.size() ? run.logs[report] : nullptr;
  if (log && log->executor != "simulator") summary.title += ", measured (" + log->executor + ")";
  summary.subtitle = subtitleOf(r);
  summary.verdict = core::verdict(r);
  summary.completed = r.completed;
  summary.fits = r.fits;
  addFigures(summary, r, places);
  if (r.completed) addTimes(summary, r, places);
  addMemory(summary, r);
  if (r.completed) addProvenance(summary, r);
  addCollectives(summary, r, places);
  summary.notes = run.notes;
  if (!log && !run.loading)
    summary.notes.push_back("the log of this report is not stored: only its figures are here");
  if (r.allocationRetries > 0)
    summary.notes.push_back(fmt::format("the allocator had to give back memory {} times to go on",
                                        core::formatCount(r.allocationRetries)));
  return summary;
}

DataTable tableOf(const Summary& summary) {
  DataTable table{{"part", "name", "value", "unit"}, {}, {false, false, true, false}};
  const auto add = [&](const char* part, const std::string& name, double value, const char* unit) {
    table.rows.push_back({part, name, plainNumber(value), unit});
  };
  add("step", "step time", summary.stepSeconds, "s");
  for (const SummaryPart& part : summary.breakdown) add("step", part.label, part.amount, "s");
  for (const SummaryPhase& phase : summary.phases) {
    add("phase", phase.label, phase.seconds, "s");
    for (const SummaryPart& part : phase.parts)
      add("phase", phase.label + " " + part.label, part.amount, "s");
  }
  for (const SummaryPart& part : summary.memory) add("memory", part.label, part.amount, "bytes");
  add("memory", "peak allocated", summary.allocatedBytes, "bytes");
  add("memory", "peak reserved", summary.reservedBytes, "bytes");
  add("memory", "capacity", summary.capacityBytes, "bytes");
  for (const SummaryPart& part : summary.provenance) add("provenance", part.label, part.amount, "fraction");
  for (const SummaryCollective& row : summary.collectives)
    add("collective", row.cells[0] + " " + row.cells[1], row.seconds, "s");
  for (const SummaryFigure& figure : summary.figures)
    table.rows.push_back({"figure", figure.label, figure.value, ""});
  return table;
}

}  // namespace vsim::gui
