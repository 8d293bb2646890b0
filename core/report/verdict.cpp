#include "core/report/verdict.h"

#include <algorithm>
#include <cmath>

#include "core/report/timeline.h"

namespace vsim::core {
namespace {

struct MeasuredSteps {
  std::vector<std::size_t> slowest;  // [step]: RankLog of the rank that took longest for it
  std::vector<double>
      seconds;  // [step]: until all ranks had ended it, from when all had ended the one before
};

/// When the last rank ended `step`.
Picoseconds endOfAll(const ExecutionLog& log, std::size_t step) {
  Picoseconds end = 0;
  for (const RankLog& rank : log.ranks) end = std::max(end, rank.stepEnd[step]);
  return end;
}

Picoseconds firstBegin(const ExecutionLog& log) {
  Picoseconds begin = log.ranks.front().stepBegin.front();
  for (const RankLog& rank : log.ranks) begin = std::min(begin, rank.stepBegin.front());
  return begin;
}

Result<MeasuredSteps> measuredSteps(const ExecutionLog& log, int warmup) {
  std::size_t steps = log.ranks.empty() ? 0 : log.ranks.front().stepEnd.size();
  for (const RankLog& rank : log.ranks)
    if (rank.stepEnd.size() != steps || rank.stepBegin.size() < steps)
      return fail(fmt::format("rank {} completed {} steps, rank {} {}", log.ranks.front().firstRank, steps,
                              rank.firstRank, rank.stepEnd.size()));
  const auto first = static_cast<std::size_t>(std::max(0, warmup));
  if (steps <= first)
    return fail(fmt::format("{} steps were run and {} of them are warm-up: none is left", steps, first));
  MeasuredSteps result;
  for (std::size_t step = first; step < steps; ++step) {
    std::size_t slowest = 0;
    for (std::size_t r = 1; r < log.ranks.size(); ++r)
      if (stepLength(log.ranks[r], step) > stepLength(log.ranks[slowest], step)) slowest = r;
    result.slowest.push_back(slowest);
    const Picoseconds begin = step == 0 ? firstBegin(log) : endOfAll(log, step - 1);
    result.seconds.push_back(secondsFromPicoseconds(endOfAll(log, step) - begin));
  }
  return result;
}

/// Ranks of the quartiles among n sorted values: all values between are kept, for few values all.
std::size_t lowQuartile(std::size_t n) { return (n - 1) / 4; }
std::size_t highQuartile(std::size_t n) { return n - 1 - lowQuartile(n); }

double medianOfSorted(const std::vector<double>& sorted) {
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

StepParts typicalParts(const ExecutionLog& log, const MeasuredSteps& steps, int warmup, const Verdict& v) {
  std::vector<StepParts> middle;
  for (std::size_t i = 0; i < steps.seconds.size(); ++i)
    if (steps.seconds[i] >= v.quartileLow && steps.seconds[i] <= v.quartileHigh)
      middle.push_back(stepParts(*log.program, log.ranks[steps.slowest[i]],
                                 i + static_cast<std::size_t>(std::max(0, warmup))));
  return meanParts(middle, v.stepSeconds.measured);
}

void fillTotals(Verdict& v, const StepParts& measured, const StepParts& predicted) {
  const auto kind = [&](PartKind k) {
    const auto i = static_cast<std::size_t>(k);
    return VerdictFigure{measured.byKind[i], predicted.byKind[i]};
  };
  v.computeSeconds = kind(PartKind::kernel);
  v.exposedSeconds = kind(PartKind::exposed);
  v.copySeconds = kind(PartKind::copy);
  v.hostBoundSeconds = kind(PartKind::launch);
  v.waitSeconds = kind(PartKind::wait);
  v.commSeconds = {measured.communication, predicted.communication};
  for (std::size_t i = 0; i < measured.byPhase.size(); ++i)
    if (measured.byPhase[i] != 0 || predicted.byPhase[i] != 0)
      v.phases.push_back({static_cast<Phase>(i), {measured.byPhase[i], predicted.byPhase[i]}});
}

void fillContributors(Verdict& v, const StepParts& measured, const StepParts& predicted) {
  std::map<PartKey, VerdictFigure> parts;
  for (const auto& [key, seconds] : measured.parts) parts[key].measured = seconds;
  for (const auto& [key, seconds] : predicted.parts) parts[key].predicted = seconds;
  for (const auto& [key, figure] : parts) v.contributors.push_back({key.first, key.second, figure});
  std::stable_sort(v.contributors.begin(), v.contributors.end(),
                   [](const VerdictPart& a, const VerdictPart& b) {
                     return std::abs(a.seconds.difference()) > std::abs(b.seconds.difference());
                   });
}

void sortByTime(std::vector<VerdictClass>& classes) {
  std::stable_sort(classes.begin(), classes.end(), [](const VerdictClass& a, const VerdictClass& b) {
    return std::max(a.seconds.measured, a.seconds.predicted) >
           std::max(b.seconds.measured, b.seconds.predicted);
  });
}

/// One row per class of either side. `name` fills what identifies a class.
template <class Map, class Name>
std::vector<VerdictClass> classesOf(const Map& measured, const Map& predicted, Name name) {
  std::map<typename Map::key_type, VerdictClass> rows;
  for (const auto& [key, time] : measured) {
    rows[key].count = time.count;
    rows[key].seconds.measured = time.seconds;
  }
  for (const auto& [key, time] : predicted) {
    VerdictClass& row = rows[key];
    if (row.count == 0) row.count = time.count;
    row.seconds.predicted = time.seconds;
  }
  std::vector<VerdictClass> result;
  for (auto& [key, row] : rows) {
    name(key, row);
    result.push_back(std::move(row));
  }
  sortByTime(result);
  return result;
}

void fillClasses(Verdict& v, const StepProgram& program, const StepParts& measured,
                 const StepParts& predicted) {
  v.kernels = classesOf(measured.kernels, predicted.kernels,
                        [](const std::string& key, VerdictClass& row) { row.name = key; });
  v.collectives =
      classesOf(measured.collectives, predicted.collectives, [&](const auto& key, VerdictClass& row) {
        const CommGroup& group = program.groups[std::get<1>(key)];
        row.name = kCollectiveNames[static_cast<std::size_t>(std::get<0>(key))];
        row.group = group.name;
        row.groupSize = group.size;
      });
}

void fillMemory(Verdict& v, const ExecutionLog& measured, const ExecutionLog& simulated) {
  const auto most = [](const ExecutionLog& log, Bytes MemoryPeak::*field) {
    Bytes result = 0;
    for (const RankLog& rank : log.ranks) result = std::max(result, rank.peak.*field);
    return static_cast<double>(result);
  };
  v.peakAllocated = {most(measured, &MemoryPeak::allocated), most(simulated, &MemoryPeak::allocated)};
  v.peakReserved = {most(measured, &MemoryPeak::reserved), most(simulated, &MemoryPeak::reserved)};
}

}  // namespace

Result<Verdict> makeVerdict(const ExecutionLog& measured, const ExecutionLog& simulated, int warmup) {
  VSIM_CHECK(measured.program != nullptr && simulated.program != nullptr, "logs carry their programs");
  if (measured.program != simulated.program && print(*measured.program) != print(*simulated.program))
    return fail("the measured and the simulated program are different");
  const auto steps = measuredSteps(measured, warmup);
  if (!steps) return tl::unexpected(steps.error());
  if (simulated.ranks.empty() || simulated.ranks.front().stepEnd.empty())
    return fail("the simulation completed no step");

  Verdict v;
  v.system = measured.program->system;
  v.executor = measured.executor;
  for (const RankLog& rank : measured.ranks) v.ranks += rank.ranks;
  v.warmup = std::max(0, warmup);
  v.measuredSteps = steps->seconds;
  std::vector<double> sorted = steps->seconds;
  std::sort(sorted.begin(), sorted.end());
  v.quartileLow = sorted[lowQuartile(sorted.size())];
  v.quartileHigh = sorted[highQuartile(sorted.size())];
  v.stepSeconds.measured = medianOfSorted(sorted);

  std::size_t slowest = 0;
  const auto length = [&](std::size_t r) {
    return stepLength(simulated.ranks[r], simulated.ranks[r].stepEnd.size() - 1);
  };
  for (std::size_t r = 1; r < simulated.ranks.size(); ++r)
    if (!simulated.ranks[r].stepEnd.empty() && length(r) > length(slowest)) slowest = r;
  const RankLog& rank = simulated.ranks[slowest];
  const StepParts predicted = stepParts(*simulated.program, rank, rank.stepEnd.size() - 1);
  v.stepSeconds.predicted = predicted.seconds;

  const StepParts typical = typicalParts(measured, *steps, warmup, v);
  fillTotals(v, typical, predicted);
  fillClasses(v, *measured.program, typical, predicted);
  fillContributors(v, typical, predicted);
  fillMemory(v, measured, simulated);
  return v;
}

std::size_t typicalStep(const Verdict& verdict) {
  std::size_t best = 0;
  const auto distance = [&](std::size_t i) {
    return std::abs(verdict.measuredSteps[i] - verdict.stepSeconds.measured);
  };
  for (std::size_t i = 1; i < verdict.measuredSteps.size(); ++i)
    if (distance(i) < distance(best)) best = i;
  return best + static_cast<std::size_t>(verdict.warmup);
}

ExecutionLog endedAfter(const ExecutionLog& log, std::size_t step) {
  ExecutionLog result = log;
  const bool aligned = step > 0 && std::ranges::all_of(log.ranks, [&](const RankLog& rank) {
                         return rank.stepEnd.size() > step;
                       });
  const Picoseconds begin = aligned ? endOfAll(log, step - 1) : 0;
  for (RankLog& rank : result.ranks) {
    if (aligned) {
      rank.stepEnd[step - 1] = begin;
      rank.stepEnd[step] = std::max(rank.stepEnd[step], begin);
    }
    if (rank.stepEnd.size() > step + 1) rank.stepEnd.resize(step + 1);
    if (rank.stepBegin.size() > step + 1) rank.stepBegin.resize(step + 1);
    std::erase_if(rank.slices, [&](const Slice& slice) { return slice.step > step; });
    std::erase_if(rank.memory, [&](const MemoryEvent& event) { return event.step > step; });
  }
  return result;
}

}  // namespace vsim::core
