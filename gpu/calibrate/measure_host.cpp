#include "gpu/calibrate/measure_host.h"

#include <algorithm>

namespace vsim::gpu {

using core::Picoseconds;
using core::secondsFromPicoseconds;

namespace {

constexpr int kCalls = 10, kBuffers = 4;
constexpr std::size_t kEnoughSamples = 6;

struct Allocations {
  std::vector<double> cached, driver;
};

/// A request's time: since the event before it, which is another request. The first round grows what is
/// reserved; the second one is served from what the first gave back.
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

HostCallMeasurement::HostCallMeasurement(core::Bytes buffer)
    : Measurement("launches, host calls, allocations"), buffer_(buffer) {}

ProgramPointer HostCallMeasurement::program(const Counts& counts) const {
  return hostCallProgram(
      {.launches = counts.front(), .calls = kCalls, .buffers = kBuffers, .bytes = buffer_});
}

void HostCallMeasurement::take(const core::ExecutionLog& log) {
  std::size_t kernels = 0;
  for (const core::Instruction& instruction : log.program->step)
    if (instruction.kind == core::InstructionKind::kernel) ++kernels;
  for (const core::RankLog& rank : log.ranks) takeRank(rank, kernels / 2, kCalls);
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
  const double launch = median(alone);
  launches_.push_back(launch);
  calls_.push_back(std::max(0.0, median(between) - launch) / (2 * calls));
  const Allocations allocations = allocationsOf(rank);
  if (!allocations.cached.empty()) cached_.push_back(median(allocations.cached));
  if (!allocations.driver.empty()) driver_.push_back(median(allocations.driver));
}

bool HostCallMeasurement::settled(double targetError) const {
  return launches_.size() >= kEnoughSamples && estimate(launches_).relativeHalfWidth() <= targetError;
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
