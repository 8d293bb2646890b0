#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <string>

#include "core/program/data_moves.h"
#include "gpu/observation.h"
#include "gpu/rounding.h"
#include "tests/gpu/support/conformance_cases.h"
#include "tests/gpu/support/final_state.h"
#include "tests/gpu/support/reference_training.h"

namespace vsim::test {

/// Observer of an execution on real data: whatever a gather leaves, and the unsharded parameters wherever
/// compute begins and ends with them, must be the reference's parameters of that step, to the last bit or to
/// within `tolerance` of their norm. Thread-safe.
class DataChecker {
 public:
  DataChecker(const core::StepProgram& program, const core::TrainModel& model,
              const ReferenceTraining& reference, double tolerance = 0)
      : program_(program), unsharded_(program, model), reference_(reference), tolerance_(tolerance) {}

  void operator()(const gpu::Observation& seen) {
    const core::Instruction& instruction = program_.step[seen.instruction];
    if (instruction.kind == core::InstructionKind::collective) {
      const core::Collective& c = program_.collectives[instruction.operand];
      if (c.kind == core::CollectiveKind::allGather && c.output != core::kNone)
        checkGathered(seen, c.unit, c.output);
    } else if (instruction.kind == core::InstructionKind::hook) {
      for (const UnshardedUnit& unit : unsharded_.at(program_.labels[instruction.label])) {
        if (!unit.copiedOut) {
          checkGathered(seen, unit.unit, unit.buffers.front());
          continue;
        }
        for (std::size_t t = 0; t < unit.buffers.size(); ++t) checkFull(seen, unit.unit, t, unit.buffers[t]);
      }
    }
  }

  [[nodiscard]] std::size_t checked() const { return checked_; }
  [[nodiscard]] std::string firstProblem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
  }

 private:
  [[nodiscard]] const std::vector<core::UnitTensor>& table(core::Index unit) const {
    return program_.tensorTables[program_.units[unit].tensorTable];
  }
  [[nodiscard]] const std::vector<float>& expected(const gpu::Observation& seen, core::Index unit,
                                                   std::size_t tensor) const {
    const std::int64_t stride = program_.groups[program_.units[unit].group].stride;
    return reference_.at(unit, seen.rank % stride, tensor).parameters[static_cast<std::size_t>(seen.step)];
  }

  void checkGathered(const gpu::Observation& seen, core::Index unit, core::Index buffer) {
    const core::Unit& u = program_.units[unit];
    std::vector<float> wanted(static_cast<std::size_t>(u.devices * u.shardElements), 0.0F);  // padding
    for (std::size_t t = 0; t < table(unit).size(); ++t) {
      const auto& values = expected(seen, unit, t);
      for (const core::Segment& s : gatheredSegments(u, table(unit)[t]))
        for (std::int64_t i = 0; i < s.count; ++i)
          wanted[static_cast<std::size_t>(s.to + i)] = values[static_cast<std::size_t>(s.from + i)];
    }
    compare(seen, buffer, wanted);
  }
  void checkFull(const gpu::Observation& seen, core::Index unit, std::size_t tensor, core::Index buffer) {
    std::vector<float> wanted = expected(seen, unit, tensor);
    wanted.resize(static_cast<std::size_t>(program_.buffers[buffer].elements), 0.0F);
    compare(seen, buffer, wanted);
  }

  void compare(const gpu::Observation& seen, core::Index buffer, const std::vector<float>& wanted) {
    const auto found = seen.data[buffer];
    const core::DType type = program_.buffers[buffer].dtype;
    checked_ += wanted.size();
    if (found.size() != wanted.size()) return report(seen, buffer, 0, "is not there");
    if (tolerance_ > 0) {
      const double distance = relativeDistance(found, wanted);
      if (distance > tolerance_)
        report(seen, buffer, 0, fmt::format("and the others are off by {:.3g} of their norm", distance));
      return;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (found[i] != gpu::roundTo(type, wanted[i]))
        return report(seen, buffer, i, fmt::format("is {}, not {}", found[i], wanted[i]));
  }

  void report(const gpu::Observation& seen, core::Index buffer, std::size_t element,
              const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (!problem_.empty()) return;
    const core::Buffer& b = program_.buffers[buffer];
    problem_ = fmt::format("rank {}, step {}, instruction {}: element {} of {}({}) {}", seen.rank, seen.step,
                           seen.instruction, element, b.name, program_.units[b.unit].name, what);
  }

  const core::StepProgram& program_;
  UnshardedParameters unsharded_;
  const ReferenceTraining& reference_;
  double tolerance_;  // 0: to the last bit
  std::atomic<std::size_t> checked_ = 0;
  mutable std::mutex mutex_;
  std::string problem_;
};

}  // namespace vsim::test
