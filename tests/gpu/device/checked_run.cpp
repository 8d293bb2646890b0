#include "tests/gpu/device/checked_run.h"

#include <stdexcept>

#include "sim/engine/simulator.h"
#include "sim/memory/caching_allocator.h"
#include "tests/gpu/support/final_state.h"
#include "tests/gpu/support/log_checks.h"

namespace vsim::test {

using namespace vsim::core;

std::unique_ptr<MemoryModel> allocatorOn(SegmentSource& source) {
  return std::move(*sim::CachingAllocator::onRealMemory({}, source));
}

ExecutionLog simulatedWithAllocator(std::shared_ptr<const StepProgram> program, int steps) {
  sim::SimulatorOptions options;
  options.slices = options.memory = sim::Keep::everything;
  options.makeMemory = [] { return std::make_unique<sim::CachingAllocator>(); };
  sim::Simulator simulator(simpleCosts(*program), options);
  auto log = simulator.execute(std::move(program), steps);
  if (!log) throw std::runtime_error(log.error().text());
  return std::move(*log);
}

gpu::device::DeviceOptions plainOptions(int timeout) {
  gpu::device::DeviceOptions options;
  options.makeMemory = allocatorOn;
  options.seed = kDataSeed;
  options.timeout = timeout;
  options.poison = true;
  return options;
}

CheckedRun::CheckedRun(std::shared_ptr<const StepProgram> program, const ConformanceCase& what,
                       std::shared_ptr<gpu::device::Api> api, gpu::device::DeviceOptions options,
                       gpu::Job* job)
    : program_(std::move(program)),
      what_(what),
      model_(oddModel(what.model)),
      ownJob_(job == nullptr ? gpu::singleProcessJob() : nullptr),
      job_(job == nullptr ? ownJob_.get() : job),
      api_(std::move(api)),
      options_(std::move(options)) {
  options_.keepContents = true;
  addObservers();
}

void CheckedRun::addObservers() {
  options_.observed = [this, unsharded = UnshardedParameters(*program_, model_)](Index index) {
    const Instruction& instruction = program_->step[index];
    std::vector<Index> buffers;
    if (instruction.kind == InstructionKind::collective) {
      const Collective& c = program_->collectives[instruction.operand];
      if (c.kind == CollectiveKind::allGather && c.output != kNone) buffers.push_back(c.output);
    } else if (instruction.kind == InstructionKind::hook && instruction.label != kNone) {
      for (const UnshardedUnit& unit : unsharded.at(program_->labels[instruction.label]))
        buffers.insert(buffers.end(), unit.buffers.begin(), unit.buffers.end());
    }
    return buffers;
  };
  options_.observer = [this](const gpu::Observation& seen) { (*checker_)(seen); };
}

Result<ExecutionLog> CheckedRun::execute(int steps) {
  const PrecisionSpec& precision = what_.options.precision;
  reference_ = std::make_unique<ReferenceTraining>(*program_, what_.options, what_.ranks(), kDataSeed, steps);
  checker_ = std::make_unique<DataChecker>(
      *program_, model_, *reference_,
      exact() ? 0 : reductionTolerance({precision.params, precision.reduce, precision.compute}));
  if (!machine_) {
    auto opened = gpu::device::DeviceMachine::open(api_, *job_, options_);
    if (!opened) return tl::unexpected(opened.error());
    machine_ = std::move(*opened);
  }
  return machine_->execute(program_, steps);
}

std::string CheckedRun::finalProblem() const {
  const PrecisionSpec& precision = what_.options.precision;
  return finalDifference(
      *program_, *reference_, machine_->localRanks(),
      [this](int rank, Index buffer) { return machine_->contents(rank, buffer); }, machine_->firstLocalRank(),
      exact() ? 0 : reductionTolerance({precision.params, precision.reduce}));
}

}  // namespace vsim::test
