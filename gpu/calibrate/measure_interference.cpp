#include "gpu/calibrate/measure_interference.h"

#include <algorithm>

namespace vsim::gpu {

using core::ExecutionLog;

namespace {

constexpr int kWarmUp = 1;
constexpr int kMost = 1000;

/// Repetitions `from` to `to` of one stream, of every rank.
std::vector<Repetitions> part(const ExecutionLog& log, core::StreamId stream, std::size_t from,
                              std::size_t count) {
  std::vector<Repetitions> result;
  for (const core::RankLog& rank : log.ranks) {
    const Repetitions all = repetitionsOf(rank, stream, 0);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(std::min(from, all.size()));
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(from + count, all.size()));
    result.emplace_back(begin, end);
  }
  return result;
}

double rateAlone(const std::vector<Repetitions>& ranks) {
  return rateIn(ranks, commonWindow(ranks, kWarmUp));
}

}  // namespace

InterferenceMeasurement::InterferenceMeasurement(const core::Operation& product,
                                                 const CollectiveSpec& collective, int ranksPerNode)
    : Measurement(fmt::format("{} beside {}, {}, {} ranks {} apart",
                              core::kCollectiveNames[static_cast<std::size_t>(collective.kind)], product.name,
                              core::formatBytes(collective.bytes()), collective.group.size,
                              collective.group.stride)),
      operation_(product),
      spec_(collective),
      ranksPerNode_(ranksPerNode) {}

ProgramPointer InterferenceMeasurement::program(const Counts& counts) const {
  return interferenceProgram(operation_, spec_,
                             {.alone = counts[0],
                              .productsTogether = counts[1],
                              .collectivesAlone = counts[2],
                              .collectivesTogether = counts[3]});
}

Counts InterferenceMeasurement::first() const { return {4, 8, 4, 8}; }

// A quarter of the time for each alone, half of it together: both should then end at the same time.
Counts InterferenceMeasurement::next(double seconds) const {
  const auto count = [](double time, double each) {
    return each > 0 ? static_cast<int>(std::clamp(time / each, 3.0, double{kMost})) : 8;
  };
  return {count(seconds / 4, product_.alone), count(seconds / 2, product_.together),
          count(seconds / 4, collective_.alone), count(seconds / 2, collective_.together)};
}

void InterferenceMeasurement::take(const ExecutionLog& log) {
  std::size_t products = 0, collectives = 0;  // alone: those whose instructions come before the first wait
  const auto& step = log.program->step;
  std::size_t waits = 0;
  for (const core::Instruction& instruction : step) {
    if (instruction.kind == core::InstructionKind::waitEvent) ++waits;
    if (instruction.kind == core::InstructionKind::kernel && waits == 0) ++products;
    if (instruction.kind == core::InstructionKind::collective && waits == 1) ++collectives;
  }
  const std::size_t rest = step.size();
  const double productsAlone = rateAlone(part(log, 0, 0, products));
  const double collectivesAlone = rateAlone(part(log, 1, 0, collectives));
  const auto together = part(log, 0, products, rest), beside = part(log, 1, collectives, rest);
  std::vector<Repetitions> both = together;
  both.insert(both.end(), beside.begin(), beside.end());
  const Window window = commonWindow(both, 0);
  const double productsTogether = rateIn(together, window), collectivesTogether = rateIn(beside, window);
  if (productsAlone <= 0 || collectivesAlone <= 0) return;
  product_.alone = 1 / productsAlone;
  collective_.alone = 1 / collectivesAlone;
  if (productsTogether <= 0 || collectivesTogether <= 0) {
    product_.together = 2 * product_.alone;
    collective_.together = 2 * collective_.alone;
    return;
  }
  product_.together = 1 / productsTogether;
  collective_.together = 1 / collectivesTogether;
  slowdowns_.push_back(productsAlone / productsTogether);
  stretches_.push_back(collectivesAlone / collectivesTogether);
}

bool InterferenceMeasurement::settled(double targetError) const {
  return estimate(slowdowns_).relativeHalfWidth() <= targetError &&
         estimate(stretches_).relativeHalfWidth() <= targetError;
}

void InterferenceMeasurement::store(core::Profile& profile, core::Origin origin) const {
  const Estimate slowdown = estimate(slowdowns_), stretch = estimate(stretches_);
  core::ProfiledInterference point;
  point.kind = spec_.kind;
  point.bytes = spec_.bytes();
  point.ranks = spec_.group.size;
  point.ranksPerNode = ranksPerNode_;
  point.computeSlowdown = std::max(0.0, slowdown.median - 1);
  point.stretch = std::max(0.0, stretch.median - 1);
  origin.relativeError = std::max(slowdown.relativeError(), stretch.relativeError());
  point.origin = std::move(origin);
  profile.interference.push_back(std::move(point));
}

}  // namespace vsim::gpu
