#include "core/report/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/report/timeline.h"

namespace vsim::core {
namespace {

constexpr std::size_t kPhaseCount = std::size(kPhaseNames);

Phase phaseOf(const StepProgram& program, const Slice& slice) {
  return program.step[slice.instruction].phase;
}

/// Relative error of the cost behind a slice; 0 when unknown.
double errorOf(const StepProgram& program, const CostErrors& errors, const Slice& slice) {
  const Instruction& instruction = program.step[slice.instruction];
  const bool collective = instruction.kind == InstructionKind::collective;
  const std::vector<double>& list = collective ? errors.collectives : errors.operations;
  const std::size_t index = collective ? instruction.operand : program.kernels[instruction.operand].operation;
  return index < list.size() ? list[index] : 0.0;
}

/// Where every picosecond of the step went.
struct Attribution {
  struct Times {
    Picoseconds compute = 0, exposed = 0, idle = 0;
  };
  std::array<Times, kPhaseCount> phases{};
  std::array<Picoseconds, 4> provenance{};
  Times total;
  Picoseconds idleCopies = 0;
  double computeError = 0, exposedError = 0;  // picoseconds
};

Attribution attribute(const StepProgram& program, const StepTimeline& timeline, const CostErrors* errors) {
  Attribution result;
  Picoseconds waiting = 0;  // idle time that the next kernel's phase gets
  Phase lastPhase = Phase::forward;
  sweep(timeline, [&](Picoseconds length, const Slice* kernel, const Slice* collective, const Slice* copy) {
    if (kernel != nullptr) {
      lastPhase = phaseOf(program, *kernel);
      Attribution::Times& row = result.phases[static_cast<std::size_t>(lastPhase)];
      row.idle += std::exchange(waiting, 0);
      row.compute += length;
      result.total.compute += length;
      if (errors != nullptr)
        result.computeError += static_cast<double>(length) * errorOf(program, *errors, *kernel);
    } else if (collective != nullptr) {
      result.phases[static_cast<std::size_t>(phaseOf(program, *collective))].exposed += length;
      result.total.exposed += length;
      if (errors != nullptr)
        result.exposedError += static_cast<double>(length) * errorOf(program, *errors, *collective);
    } else {
      waiting += length;
      result.total.idle += length;
      if (copy != nullptr) result.idleCopies += length;
    }
    const Slice* owner = kernel != nullptr ? kernel : collective != nullptr ? collective : copy;
    const Provenance provenance = owner != nullptr ? owner->provenance : Provenance::modelled;
    result.provenance[static_cast<std::size_t>(provenance)] += length;
  });
  result.phases[static_cast<std::size_t>(lastPhase)].idle += waiting;
  return result;
}

std::vector<PhaseRow> phaseRows(const StepProgram& program, const StepTimeline& timeline,
                                const Attribution& attribution) {
  std::array<std::vector<Interval>, kPhaseCount> comm;
  for (const Interval& interval : timeline.collectives)
    comm[static_cast<std::size_t>(phaseOf(program, *interval.slice))].push_back(interval);
  std::vector<PhaseRow> rows;
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const Attribution::Times& times = attribution.phases[i];
    const Picoseconds commTime = totalLength(flatten(std::move(comm[i])));
    const Picoseconds all = times.compute + times.exposed + times.idle;
    if (all == 0 && commTime == 0) continue;
    rows.push_back({.phase = static_cast<Phase>(i),
                    .seconds = secondsFromPicoseconds(all),
                    .computeSeconds = secondsFromPicoseconds(times.compute),
                    .commSeconds = secondsFromPicoseconds(commTime),
                    .exposedSeconds = secondsFromPicoseconds(times.exposed),
                    .idleSeconds = secondsFromPicoseconds(times.idle)});
  }
  return rows;
}

double busFactor(CollectiveKind kind, std::int64_t ranks) {
  const double n = static_cast<double>(ranks);
  switch (kind) {
    case CollectiveKind::allReduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::broadcast:
      return 1;
    case CollectiveKind::allGather:
    case CollectiveKind::reduceScatter:
    case CollectiveKind::allToAll:
      return (n - 1) / n;
  }
  return 1;
}

std::vector<CollectiveRow> collectiveRows(const StepProgram& program, const RankLog& ranks) {
  const std::size_t step = ranks.stepEnd.size() - 1;
  std::map<std::pair<CollectiveKind, Index>, std::pair<CollectiveRow, Picoseconds>> rows;
  for (const Slice& slice : ranks.slices) {
    const Instruction& instruction = program.step[slice.instruction];
    if (slice.step != step || instruction.kind != InstructionKind::collective) continue;
    const Collective& collective = program.collectives[instruction.operand];
    auto& [row, time] = rows[{collective.kind, collective.group}];
    ++row.count;
    row.bytes += ncclTestsBytes(collective);
    time += slice.end - slice.begin;
  }
  std::vector<CollectiveRow> result;
  for (auto& [key, value] : rows) {
    CollectiveRow row = value.first;
    const CommGroup& group = program.groups[key.second];
    row.kind = key.first;
    row.group = group.name;
    row.groupSize = group.size;
    row.seconds = secondsFromPicoseconds(value.second);
    if (row.seconds > 0)
      row.busBandwidth = static_cast<double>(row.bytes) / row.seconds * busFactor(row.kind, row.groupSize);
    result.push_back(row);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const CollectiveRow& a, const CollectiveRow& b) { return a.seconds > b.seconds; });
  return result;
}

void fillTimes(RunReport& report, const StepProgram& program, const RankLog& ranks,
               const CostErrors* errors) {
  const StepTimeline timeline = lastStep(program, ranks);
  const Picoseconds length = timeline.end - timeline.begin;
  if (length <= 0) return;
  const Attribution attribution = attribute(program, timeline, errors);
  report.completed = true;
  report.slowestRanks = ranks.name;
  report.stepSeconds = secondsFromPicoseconds(length);
  report.computeSeconds = secondsFromPicoseconds(attribution.total.compute);
  report.commSeconds = secondsFromPicoseconds(totalLength(timeline.comm));
  report.exposedCommSeconds = secondsFromPicoseconds(attribution.total.exposed);
  report.bubbleSeconds = secondsFromPicoseconds(attribution.total.idle);
  report.bubbleCopiesSeconds = secondsFromPicoseconds(attribution.idleCopies);
  report.phases = phaseRows(program, timeline, attribution);
  report.collectives = collectiveRows(program, ranks);
  for (std::size_t i = 0; i < report.provenance.size(); ++i)
    report.provenance[i] = static_cast<double>(attribution.provenance[i]) / static_cast<double>(length);
  if (errors != nullptr)
    report.relativeError =
        std::hypot(attribution.computeError, attribution.exposedError) / static_cast<double>(length);

  const RunFacts& facts = report.facts;
  report.tokensPerSecond = static_cast<double>(facts.tokensPerStep) / report.stepSeconds;
  if (facts.gpus > 0) report.tokensPerSecondPerGpu = report.tokensPerSecond / static_cast<double>(facts.gpus);
  if (report.hardware.peakFlops > 0) {
    const double tokensPerPeak = report.tokensPerSecondPerGpu / report.hardware.peakFlops;
    report.mfu = tokensPerPeak * modelFlopsPerToken(facts);
    report.hfu = tokensPerPeak * (modelFlopsPerToken(facts) + facts.recomputeFlopsPerToken);
  }
}

void fillMemory(RunReport& report, const ExecutionLog& log) {
  const RankLog* worst = nullptr;
  for (const RankLog& ranks : log.ranks) {
    if (worst == nullptr || ranks.peak.allocated > worst->peak.allocated) worst = &ranks;
    report.peakReserved = std::max(report.peakReserved, ranks.peak.reserved);
    report.allocationRetries = std::max(report.allocationRetries, ranks.peak.allocationRetries);
    if (ranks.peak.outOfMemory && !report.outOfMemory) {
      report.outOfMemory = true;
      report.outOfMemoryBuffer = ranks.peak.outOfMemoryBuffer;
    }
  }
  if (worst != nullptr) {
    report.worstMemoryRanks = worst->name;
    report.peakAllocated = worst->peak.allocated;
    report.memoryByCategory = worst->peak.byCategory;
  }
  const Bytes outside = report.hardware.contextBytes + report.hardware.ncclBytes;
  report.memoryByCategory[static_cast<std::size_t>(MemoryCategory::ncclContext)] += outside;
  report.marginBytes = report.hardware.capacityBytes - (report.peakReserved + outside);
  report.fits = report.marginBytes >= 0 && !report.outOfMemory;
}

Picoseconds lastStepLength(const RankLog& ranks) { return stepLength(ranks, ranks.stepEnd.size() - 1); }

}  // namespace

Bytes ncclTestsBytes(const Collective& collective) {
  const std::int64_t elements =
      collective.kind == CollectiveKind::allGather ? collective.receiveElements : collective.sendElements;
  return elements * bytesOf(collective.dtype);
}

Flops modelFlopsPerToken(const RunFacts& facts) {
  return 6 * static_cast<double>(facts.activeParameters) +
         12 * static_cast<double>(facts.layers) * static_cast<double>(facts.heads) *
             static_cast<double>(facts.headDim) * static_cast<double>(facts.sequence);
}

RunReport makeReport(const ExecutionLog& log, const RunFacts& facts, const HardwareFacts& hardware,
                     const CostErrors* errors) {
  VSIM_CHECK(log.program != nullptr, "the log carries its program");
  RunReport report;
  report.facts = facts;
  report.hardware = hardware;
  const RankLog* slowest = nullptr;
  for (const RankLog& ranks : log.ranks) {
    if (ranks.stepEnd.empty()) continue;
    if (slowest == nullptr || lastStepLength(ranks) > lastStepLength(*slowest)) slowest = &ranks;
  }
  if (slowest != nullptr) fillTimes(report, *log.program, *slowest, errors);
  fillMemory(report, log);
  return report;
}

}  // namespace vsim::core
