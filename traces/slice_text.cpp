#include "traces/slice_text.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/report/report.h"

namespace vsim::traces {
namespace {

using core::Index;
using core::InstructionKind;
using core::kNone;
using core::StepProgram;

constexpr std::string_view kShown[] = {"ALL-GATHER", "REDUCE-SCATTER", "ALL-REDUCE", "ALL-TO-ALL",
                                       "BROADCAST"};
static_assert(std::size(kShown) == std::size(core::kCollectiveNames));

constexpr std::string_view kComputeHooks[] = {"forward-compute ", "begin backward-compute "};

Index unitOf(const StepProgram& program, const core::Instruction& instruction) {
  if (instruction.kind == InstructionKind::kernel) return program.kernels[instruction.operand].unit;
  if (instruction.kind == InstructionKind::collective) return program.collectives[instruction.operand].unit;
  return kNone;
}

bool isIn(Index index, std::size_t size) { return index < size; }
bool isNoneOrIn(Index index, std::size_t size) { return index == kNone || index < size; }

bool isConsistent(const StepProgram& program, const core::Instruction& instruction) {
  if (!isIn(instruction.stream, program.streams.size())) return false;
  if (!isNoneOrIn(instruction.label, program.labels.size())) return false;
  switch (instruction.kind) {
    case InstructionKind::allocate:
    case InstructionKind::release:
    case InstructionKind::recordStream:
      return isIn(instruction.operand, program.buffers.size());
    case InstructionKind::kernel:
      return isIn(instruction.operand, program.kernels.size());
    case InstructionKind::collective:
      return isIn(instruction.operand, program.collectives.size());
    case InstructionKind::recordEvent:
    case InstructionKind::waitEvent:
    case InstructionKind::hostWait:
      return instruction.operand < program.events;
    case InstructionKind::waitStream:
      return isIn(instruction.operand, program.streams.size());
    case InstructionKind::hook:
      return true;
  }
  return false;
}

bool isConsistent(const StepProgram& program) {
  const auto all = [](const auto& list, auto&& test) { return std::all_of(list.begin(), list.end(), test); };
  const auto isBuffer = [&](Index buffer) { return isIn(buffer, program.buffers.size()); };
  const auto isBufferOrNone = [&](Index buffer) { return isNoneOrIn(buffer, program.buffers.size()); };
  return all(program.units,
             [&](const core::Unit& unit) {
               return isNoneOrIn(unit.tensorTable, program.tensorTables.size()) &&
                      (program.groups.empty() || isIn(unit.group, program.groups.size())) &&
                      isBufferOrNone(unit.parameters) && isBufferOrNone(unit.gradients);
             }) &&
         all(program.buffers,
             [&](const core::Buffer& buffer) {
               return isNoneOrIn(buffer.unit, program.units.size()) &&
                      isIn(buffer.stream, program.streams.size());
             }) &&
         all(program.kernels,
             [&](const core::Kernel& kernel) {
               return isNoneOrIn(kernel.operation, program.operations.size()) &&
                      isNoneOrIn(kernel.unit, program.units.size()) && all(kernel.reads, isBuffer) &&
                      all(kernel.writes, isBuffer);
             }) &&
         all(program.collectives,
             [&](const core::Collective& collective) {
               return isIn(collective.group, program.groups.size()) &&
                      isNoneOrIn(collective.unit, program.units.size()) && isBufferOrNone(collective.input) &&
                      isBufferOrNone(collective.output);
             }) &&
         all(program.setup, [&](const core::Instruction& i) { return isConsistent(program, i); }) &&
         all(program.step, [&](const core::Instruction& i) { return isConsistent(program, i); });
}

}  // namespace

std::string sliceName(const StepProgram& program, Index instruction) {
  const core::Instruction& what = program.step[instruction];
  const std::string unit = sliceUnit(program, instruction);
  if (what.kind == InstructionKind::collective) {
    const core::Collective& collective = program.collectives[what.operand];
    std::string name(kShown[static_cast<std::size_t>(collective.kind)]);
    return unit.empty() ? name : name + " " + unit;
  }
  std::string name;
  if (what.label != kNone) {
    name = program.labels[what.label];
  } else if (what.kind == InstructionKind::kernel) {
    const Index operation = program.kernels[what.operand].operation;
    name = operation == kNone ? "kernel" : program.operations[operation].name;
  }
  return unit.empty() ? name : unit + " " + name;
}

core::Bytes sliceBytes(const StepProgram& program, Index instruction) {
  const core::Instruction& what = program.step[instruction];
  if (what.kind == InstructionKind::collective)
    return core::ncclTestsBytes(program.collectives[what.operand]);
  if (what.kind != InstructionKind::kernel) return 0;
  const Index operation = program.kernels[what.operand].operation;
  if (operation == kNone) return 0;
  return program.operations[operation].bytesRead + program.operations[operation].bytesWritten;
}

std::string sliceUnit(const StepProgram& program, Index instruction) {
  const Index unit = unitOf(program, program.step[instruction]);
  return unit == kNone ? std::string() : program.units[unit].name;
}

std::vector<std::string> sliceLayers(const StepProgram& program) {
  std::vector<std::string> layers;
  layers.reserve(program.step.size());
  std::string block;
  for (Index i = 0; i < program.step.size(); ++i) {
    const core::Instruction& what = program.step[i];
    if (what.kind == InstructionKind::hook && what.label != kNone)
      for (const std::string_view begin : kComputeHooks)
        if (program.labels[what.label].starts_with(begin))
          block = program.labels[what.label].substr(begin.size());
    std::string unit = sliceUnit(program, i);
    const bool computes = what.kind == InstructionKind::kernel && what.phase != core::Phase::optimizer &&
                          what.phase != core::Phase::reduce && what.phase != core::Phase::setup;
    layers.push_back(unit.empty() && computes ? block : std::move(unit));
  }
  return layers;
}

bool isConsistent(const core::ExecutionLog& log) {
  if (log.program == nullptr || !isConsistent(*log.program)) return false;
  const StepProgram& program = *log.program;
  for (const core::RankLog& ranks : log.ranks) {
    if (ranks.stepBegin.size() < ranks.stepEnd.size()) return false;
    for (const core::Slice& slice : ranks.slices) {
      if (!isIn(slice.instruction, program.step.size()) || !isIn(slice.stream, program.streams.size()))
        return false;
      const InstructionKind kind = program.step[slice.instruction].kind;
      if (kind != InstructionKind::kernel && kind != InstructionKind::collective) return false;
    }
    for (const core::MemoryEvent& event : ranks.memory)
      if (!isNoneOrIn(event.buffer, program.buffers.size())) return false;
  }
  return true;
}

}  // namespace vsim::traces
