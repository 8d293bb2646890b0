#include "gpu/calibrate/calibration.h"

#include <cmath>

#include "gpu/calibrate/conductor.h"
#include "gpu/calibrate/measured_profile.h"

namespace vsim::gpu {

using core::Result;

namespace {

core::Error wrong(std::string message, std::string hint) {
  return {.message = std::move(message), .hint = std::move(hint)};
}

std::optional<core::Error> problem(const Machine& machine, const CalibrationOptions& options) {
  if (!std::isfinite(options.budgetSeconds) || options.budgetSeconds <= 0)
    return wrong(fmt::format("a calibration of {} s", options.budgetSeconds), "the budget must be positive");
  if (!(options.targetError > 0)) return wrong("the target error must be positive", "0.02 is 2 %");
  if (options.smallest <= 0 || options.largest < options.smallest)
    return wrong(fmt::format("sizes of collectives from {} to {}", options.smallest, options.largest),
                 "the smallest must be positive and no larger than the largest");
  if (machine.facts().ranks.size() != static_cast<std::size_t>(machine.ranks()))
    return wrong(
        fmt::format("the machine knows {} of its {} ranks", machine.facts().ranks.size(), machine.ranks()),
        "every rank states what it runs on");
  return std::nullopt;
}

core::ProfiledClocks clocksOf(const MachineFacts& facts, const ClockReadings& readings) {
  return {.ratedHertz = facts.ranks.empty() ? 0 : facts.ranks.front().clockHertz,
          .processorHertz = readings.processorHertz,
          .lowestHertz = readings.lowestHertz,
          .memoryHertz = readings.memoryHertz,
          .powerWatts = readings.powerWatts,
          .highestPowerWatts = readings.highestPowerWatts,
          .celsius = readings.celsius};
}

}  // namespace

Result<Calibration> calibrate(Machine& machine, const CalibrationOptions& options) {
  if (auto error = problem(machine, options)) return tl::unexpected(std::move(*error));
  Schedule schedule = makeSchedule(machine.facts(), options);
  Conductor conductor(machine, options, schedule);
  if (const auto done = conductor.run(); !done) return tl::unexpected(done.error());
  Calibration calibration;
  calibration.planned = static_cast<int>(schedule.measurements.size());
  if (!machine.leads()) return calibration;
  Conductor::Outcome outcome = conductor.outcome();
  calibration.measured = outcome.measured;
  calibration.seconds = outcome.seconds;
  calibration.notes = std::move(schedule.notes);
  calibration.profile = measuredProfile(machine.facts(), schedule, options.started);
  calibration.profile.hardware->scale = options.scale;
  if (!outcome.remark.empty()) calibration.profile.hardware->remark = outcome.remark;
  calibration.profile.hardware->clocks = clocksOf(machine.facts(), outcome.clocks);
  for (std::string& note : outcome.notes) calibration.notes.push_back(std::move(note));
  return calibration;
}

}  // namespace vsim::gpu
