#include "gpu/calibrate/measure_host.h"

#include <algorithm>
#include <cstddef>

namespace vsim::gpu {

using core::Picoseconds;
using core::secondsFromPicoseconds;

namespace {

constexpr int kCalls = 10, kBuffers = 4, kRounds = 5;

struct Allocations {
  std::vector<double> cached, driver;
};

/// A request's time: since the event before it, which is another request. The first round grows what is
/// reserved; later ones are served from what was given back.
Allocations allocationsOf(const core::RankLog& rank) {
  Allocations result;
  core::Bytes most = 0;
  const core::MemoryEvent* before = nullptr;
  for (const core::MemoryEvent& event : rank.memory) {
    const bool follows =
        before != nullptr && before->allocate && event.allocate && event.step == before->step;
    if (follows)
      (event.reserved > most ? result.driver : result.cached)
          .push_back(secondsFromPicoseconds(event.time - before->time));
    most = std::max(most, event.reserved);
    before = &event;
  }
  return result;
}

}  // namespace

HostCallMeasurement::HostCallMeasurement(core::Bytes buffer, Reading reading)
    : Measurement("launches, host calls, allocations"), buffer_(buffer), reading_(reading) {}

double HostCallMeasurement::typical(std::vector<double> times) const {
  if (reading_ == Reading::own || times.empty()) return median(std::move(times));
  const auto tenth = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 10);
  std::nth_element(times.begin(), tenth, times.end());
  return *tenth;
}

ProgramPointer HostCallMeasurement::program(const Counts& counts) const {
  return hostCallProgram({.launches = counts.front(),
                          .calls = kCalls,
                          .buffers = kBuffers,
                          .rounds = kRounds,
                          .bytes = buffer_});
}

void HostCallMeasurement::take(const core::ExecutionLog& log) {
  std::size_t kernels = 0;
  for (const core::Instruction& instruction : log.program->step)
    if (instruction.kind == core::InstructionKind::kernel) ++kernels;
  // Every round of allocations has one as well.
  for (const core::RankLog& rank : log.ranks) takeRank(rank, (kernels - kRounds) / 2, kCalls);
}

void HostCallMeasurement::takeRank(const core::RankLog& rank, std::size_t launches, int calls) {
  const Repetitions issued = repetitionsOf(rank, 0, 0);
  if (issued.size() < 2 * launches || launches < 2) return;
  const auto gap = [&](std::size_t i) {
    return secondsFromPicoseconds(issued[i].issued - issued[i - 1].issued);
  };
  std::vector<double> alone, between;
  for (std::size_t i = launches / 10 + 1; i < launches; ++i) alone.push_back(gap(i));
  for (std::size_t i = launches + launches / 10 + 1; i < 2 * launches; ++i) between.push_back(gap(i));
  const double launch = typical(alone);
  launches_.push_back(launch);
  calls_.push_back(std::max(0.0, typical(between) - launch) / (2 * calls));
  const Allocations allocations = allocationsOf(rank);
  if (!allocations.cached.empty()) cached_.push_back(typical(allocations.cached));
  if (!allocations.driver.empty()) driver_.push_back(typical(allocations.driver));
}

bool HostCallMeasurement::settled(double targetError) const {
  return estimate(launches_).relativeHalfWidth() <= targetError;
}

void HostCallMeasurement::store(core::Profile& profile, core::Origin origin) const {
  core::ProfiledHost host;
  host.launch = median(launches_);
  // One figure for both: a program's host thread takes about as much memory as it records and waits for
  // events.
  const double cached = median(cached_);
  host.call = cached_.empty() ? median(calls_) : (median(calls_) + cached) / 2;
  if (!driver_.empty()) host.driverAllocate = std::max(0.0, median(driver_) - cached);
  origin.relativeError = estimate(launches_).relativeError();
  host.origin = std::move(origin);
  profile.host = std::move(host);
}

}  // namespace vsim::gpu
