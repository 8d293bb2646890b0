#include "gpu/data_plan.h"

#include <algorithm>

#include "core/program/operand_limit.h"
#include "gpu/rounding.h"

namespace vsim::gpu {

using core::fail;
using core::Index;
using core::Instruction;
using core::Kernel;
using core::KernelRole;
using core::kNone;
using core::Result;
using core::StepProgram;

namespace {

std::optional<core::Error> problem(const std::string& message) { return core::Error{.message = message}; }

std::optional<core::Error> groupProblem(const StepProgram& program, int ranks) {
  for (const core::CommGroup& group : program.groups)
    if (group.size < 1 || group.stride < 1 || ranks % (group.size * group.stride) != 0)
      return problem(fmt::format("group {} of {} ranks with stride {} does not divide {} ranks", group.name,
                                 group.size, group.stride, ranks));
  for (const core::Unit& unit : program.units) {
    if (unit.group >= program.groups.size() || unit.tensorTable >= program.tensorTables.size())
      return problem("unit " + unit.name + " names a group or tensors that the program does not have");
    if (program.groups[unit.group].size != unit.devices)
      return problem(fmt::format("unit {} has {} shards, its group {} ranks", unit.name, unit.devices,
                                 program.groups[unit.group].size));
  }
  return std::nullopt;
}

std::optional<core::Error> bufferProblem(const StepProgram& program) {
  for (const core::Buffer& buffer : program.buffers) {
    if (buffer.stream >= program.streams.size() || buffer.elements < 0)
      return problem("buffer " + buffer.name + " has no pool or no size");
    if (!isFloating(buffer.dtype) && buffer.dtype != core::DType::uint8)
      return problem("buffer " + buffer.name + " is of a type that the host executor does not compute in");
  }
  return std::nullopt;
}

std::optional<core::Error> kernelProblem(const StepProgram& program) {
  for (const Kernel& kernel : program.kernels) {
    const bool named = kernel.operation != kNone;
    if (named && kernel.operation >= program.operations.size()) return problem("a kernel names no operation");
    if (kernel.role == KernelRole::compute) continue;
    if (kernel.unit >= program.units.size()) return problem("a kernel that moves data names no unit");
    for (const std::vector<Index>* list : {&kernel.reads, &kernel.writes})
      for (const Index buffer : *list)
        if (buffer >= program.buffers.size())
          return problem("a kernel names a buffer that the program does not have");
    if (kernel.writes.empty()) return problem("a kernel that moves data writes nothing");
    const auto& table = program.tensorTables[program.units[kernel.unit].tensorTable];
    if (kernel.firstTensor + std::size_t{kernel.tensorCount} > table.size())
      return problem("a gradient kernel names tensors that its unit does not have");
    if (kernel.role == KernelRole::optimizer && named && program.operations[kernel.operation].name != "adamw")
      return core::Error{.message = fmt::format("optimizer {} runs in simulation alone: on hardware vsim "
                                                "computes the steps of adamw",
                                                program.operations[kernel.operation].name),
                         .hint = "--set optimizer.name=adamw, or run it without --real"};
  }
  return std::nullopt;
}

std::optional<core::Error> collectiveProblem(const StepProgram& program) {
  for (const core::Collective& collective : program.collectives) {
    const bool hasBuffers = collective.input != kNone || collective.output != kNone;
    if (collective.group >= program.groups.size() ||
        (hasBuffers &&
         (collective.input >= program.buffers.size() || collective.output >= program.buffers.size() ||
          collective.unit >= program.units.size())))
      return problem("a collective names a group, unit or buffer that the program does not have");
  }
  return std::nullopt;
}

std::optional<core::Error> instructionProblem(const StepProgram& program) {
  for (const auto* list : {&program.setup, &program.step})
    for (std::size_t i = 0; i < list->size(); ++i)
      if ((*list)[i].stream >= program.streams.size() ||
          (*list)[i].operand >= core::operandLimit((*list)[i].kind, program))
        return problem(fmt::format("instruction {} names something that the program does not have", i));
  return std::nullopt;
}

}  // namespace

DataPlan::DataPlan(std::shared_ptr<const StepProgram> program)
    : program_(std::move(program)), packed_(program_->buffers.size()) {}

Result<DataPlan> DataPlan::make(std::shared_ptr<const StepProgram> program, int ranks) {
  if (!program) return fail("no program to run");
  for (const auto& found : {groupProblem(*program, ranks), bufferProblem(*program), kernelProblem(*program),
                            collectiveProblem(*program), instructionProblem(*program)})
    if (found) return tl::unexpected(*found);
  DataPlan plan(std::move(program));
  plan.findPackedBuffers();
  return plan;
}

/// Gradients are packed where a copy into the reduction's input follows; a contiguous unit's backward may
/// also write straight into the gathered layout. Unsharded gradients kept over micro-batches hold all
/// tensors.
void DataPlan::findPackedBuffers() {
  std::vector<bool> copiedIn(program_->buffers.size(), false);
  for (const Kernel& kernel : program_->kernels)
    if (kernel.role == KernelRole::reduceCopyIn)
      for (const Index buffer : kernel.reads) copiedIn[buffer] = true;
  for (const Kernel& kernel : program_->kernels) {
    if (kernel.role != KernelRole::gradient) continue;
    const Index buffer = kernel.writes.front();
    if (copiedIn[buffer] || !program_->units[kernel.unit].contiguous)
      packed_[buffer] = core::TensorRange{kernel.firstTensor, kernel.tensorCount};
  }
  for (const Kernel& kernel : program_->kernels) {
    if (kernel.role != KernelRole::accumulate || kernel.reads.empty() || !packed_[kernel.reads.front()])
      continue;
    packed_[kernel.writes.front()] = core::TensorRange{0, static_cast<Index>(tensors(kernel.unit).size())};
  }
}

std::int64_t DataPlan::shardOf(Index unit, int rank) const {
  const core::CommGroup& group = program_->groups[program_->units[unit].group];
  return rank / group.stride % group.size;
}

std::int64_t DataPlan::coordinateOf(Index unit, int rank) const {
  return rank % program_->groups[program_->units[unit].group].stride;
}

std::int64_t DataPlan::ownSlice(Index buffer, Index unit, int rank) const {
  const core::Unit& u = program_->units[unit];
  const bool gathered = program_->buffers[buffer].elements == u.devices * u.shardElements;
  return gathered ? shardOf(unit, rank) * u.shardElements : 0;
}

std::vector<int> membersOf(const core::CommGroup& group, int rank) {
  const std::int64_t span = group.size * group.stride;
  const std::int64_t base = rank / span * span + rank % group.stride;
  std::vector<int> members;
  for (std::int64_t i = 0; i < group.size; ++i) members.push_back(static_cast<int>(base + i * group.stride));
  return members;
}

}  // namespace vsim::gpu
