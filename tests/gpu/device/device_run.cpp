#include "tests/gpu/device/device_run.h"

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
  options.fixedReductionOrder = true;
  options.poison = true;
  return options;
}

DeviceRun::DeviceRun(std::shared_ptr<const StepProgram> program, const ConformanceCase& what,
                     const StandInOptions& devices, gpu::Job* job)
    : program_(std::move(program)),
      what_(what),
      model_(oddModel(what.model)),
      ownJob_(job == nullptr ? gpu::singleProcessJob() : nullptr),
      job_(job == nullptr ? ownJob_.get() : job),
      standIn_(std::make_shared<StandIn>(devices)) {}

Result<ExecutionLog> DeviceRun::execute(int steps) {
  reference_ = std::make_unique<ReferenceTraining>(*program_, what_.options, what_.ranks(), kDataSeed, steps);
  checker_ = std::make_unique<DataChecker>(*program_, model_, *reference_);
  gpu::device::DeviceOptions options = plainOptions();
  options.keepContents = true;
  options.observed = [this, unsharded = UnshardedParameters(*program_, model_)](Index index) {
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
  options.observer = [this](const gpu::Observation& seen) { (*checker_)(seen); };
  if (!machine_) {
    auto opened = gpu::device::DeviceMachine::open(standIn_, *job_, options);
    if (!opened) return tl::unexpected(opened.error());
    machine_ = std::move(*opened);
  }
  return machine_->execute(program_, steps);
}

std::string DeviceRun::finalProblem() const {
  return finalDifference(
      *program_, *reference_, machine_->localRanks(),
      [this](int rank, Index buffer) { return machine_->contents(rank, buffer); },
      machine_->firstLocalRank());
}

std::string DeviceRun::violations() const {
  return fmt::format("{}", fmt::join(standIn_->violations(), "; "));
}

std::string DeviceRun::leaks() const { return fmt::format("{}", fmt::join(standIn_->leaks(), "; ")); }

}  // namespace vsim::test
