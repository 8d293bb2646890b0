#include "core/report/step_parts.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/report/timeline.h"

namespace vsim::core {
namespace {

constexpr std::string_view kNoOperation = "data moves";  // kernels that only move data have no name

std::string kernelClass(const StepProgram& program, const Instruction& instruction) {
  const Index operation = program.kernels[instruction.operand].operation;
  return operation == kNone ? std::string(kNoOperation) : program.operations[operation].name;
}

/// Gives every stretch of the step to its part and its phase.
class Attributor {
 public:
  Attributor(const StepProgram& program, StepParts& result) : program_(program), result_(result) {}

  void add(Picoseconds length, const Slice* kernel, const Slice* collective, const Slice* copy) {
    const Slice* next = kernel != nullptr ? kernel : collective != nullptr ? collective : copy;
    if (next == nullptr) {
      idle_ += length;
      waiting_ += length;
    } else {
      closeIdle(next);
      const PartKind kind = kernel != nullptr       ? PartKind::kernel
                            : collective != nullptr ? PartKind::exposed
                                                    : PartKind::copy;
      give(kind, nameOf(kind, *next), length);
      givePhase(kernel, collective, length);
    }
    now_ += length;
  }
  /// The step begins at `begin`.
  void start(Picoseconds begin) { now_ = begin; }
  void finish() {
    closeIdle(nullptr);
    phase(lastPhase_, waiting_);
  }

 private:
  [[nodiscard]] std::string nameOf(PartKind kind, const Slice& slice) const {
    const Instruction& instruction = program_.step[slice.instruction];
    return kind == PartKind::exposed ? collectiveClass(program_, program_.collectives[instruction.operand])
                                     : kernelClass(program_, instruction);
  }
  void give(PartKind kind, const std::string& name, Picoseconds length) {
    const double seconds = secondsFromPicoseconds(length);
    result_.parts[{kind, name}] += seconds;
    result_.byKind[static_cast<std::size_t>(kind)] += seconds;
  }
  void phase(Phase phase, Picoseconds length) {
    result_.byPhase[static_cast<std::size_t>(phase)] += secondsFromPicoseconds(length);
  }
  /// The rule of PhaseRow: kernel, else collective, else the next kernel.
  void givePhase(const Slice* kernel, const Slice* collective, Picoseconds length) {
    if (kernel != nullptr) {
      lastPhase_ = program_.step[kernel->instruction].phase;
      phase(lastPhase_, length + std::exchange(waiting_, 0));
    } else if (collective != nullptr) {
      phase(program_.step[collective->instruction].phase, length);
    } else {
      waiting_ += length;
    }
  }
  /// Idle time ends at `now_` because `next` begins, or with the step.
  void closeIdle(const Slice* next) {
    const Picoseconds idle = std::exchange(idle_, 0);
    if (idle == 0) return;
    const Picoseconds launch =
        next == nullptr ? 0 : std::clamp<Picoseconds>(next->issued - (now_ - idle), 0, idle);
    if (launch > 0) give(PartKind::launch, "launch", launch);
    if (idle > launch) give(PartKind::wait, "waits", idle - launch);
  }

  const StepProgram& program_;
  StepParts& result_;
  Picoseconds now_ = 0, idle_ = 0;
  Picoseconds waiting_ = 0;  // that the next kernel's phase gets
  Phase lastPhase_ = Phase::forward;
};

void countClasses(const StepProgram& program, const RankLog& ranks, std::size_t step, StepParts& result) {
  for (const Slice& slice : ranks.slices) {
    if (slice.step != step) continue;
    const Instruction& instruction = program.step[slice.instruction];
    const double seconds = secondsFromPicoseconds(slice.end - slice.begin);
    ClassTime* row = nullptr;
    if (instruction.kind == InstructionKind::collective) {
      const Collective& collective = program.collectives[instruction.operand];
      row = &result.collectives[{collective.kind, collective.group}];
    } else {
      row = &result.kernels[kernelClass(program, instruction)];
    }
    row->count += 1;
    row->seconds += seconds;
  }
}

/// Adds `times` times each time of `from` and `counts` times each count.
void addScaled(StepParts& to, const StepParts& from, double times, double counts) {
  const auto addClasses = [&](auto& classes, const auto& added) {
    for (const auto& [key, value] : added) {
      classes[key].count += value.count * counts;
      classes[key].seconds += value.seconds * times;
    }
  };
  to.seconds += from.seconds * times;
  to.communication += from.communication * times;
  for (const auto& [key, value] : from.parts) to.parts[key] += value * times;
  for (std::size_t i = 0; i < to.byPhase.size(); ++i) to.byPhase[i] += from.byPhase[i] * times;
  for (std::size_t i = 0; i < to.byKind.size(); ++i) to.byKind[i] += from.byKind[i] * times;
  addClasses(to.kernels, from.kernels);
  addClasses(to.collectives, from.collectives);
}

}  // namespace

std::string collectiveClass(const StepProgram& program, const Collective& collective) {
  return std::string(kCollectiveNames[static_cast<std::size_t>(collective.kind)]) + " " +
         program.groups[collective.group].name;
}

StepParts meanParts(std::span<const StepParts> steps, double seconds) {
  VSIM_CHECK(!steps.empty(), "a mean needs steps");
  double total = 0;
  for (const StepParts& step : steps) total += step.seconds;
  StepParts mean;
  for (const StepParts& step : steps)
    addScaled(mean, step, total > 0 ? seconds / total : 0, 1.0 / static_cast<double>(steps.size()));
  return mean;
}

StepParts stepParts(const StepProgram& program, const RankLog& ranks, std::size_t step) {
  const StepTimeline timeline = stepTimeline(program, ranks, step);
  StepParts result;
  result.seconds = secondsFromPicoseconds(timeline.end - timeline.begin);
  Attributor attributor(program, result);
  attributor.start(timeline.begin);
  sweep(timeline, [&](Picoseconds length, const Slice* kernel, const Slice* collective, const Slice* copy) {
    attributor.add(length, kernel, collective, copy);
  });
  attributor.finish();
  result.communication = secondsFromPicoseconds(totalLength(timeline.comm));
  countClasses(program, ranks, step, result);
  return result;
}

}  // namespace vsim::core
