// What a rank is at, in words: for errors.

#include "gpu/device/device_rank_parts.h"

namespace vsim::gpu::device {

using core::Index;
using core::Instruction;
using core::InstructionKind;
using core::kNone;
using core::StepProgram;

namespace {

std::string unitOf(const StepProgram& program, Index unit) {
  return unit == kNone ? "" : "(" + program.units[unit].name + ")";
}

std::string workOf(const StepProgram& program, const Instruction& instruction) {
  switch (instruction.kind) {
    case InstructionKind::kernel: {
      const core::Kernel& kernel = program.kernels[instruction.operand];
      return kernel.operation != kNone
                 ? program.operations[kernel.operation].name + unitOf(program, kernel.unit)
                 : std::string(core::kRoleNames[static_cast<std::size_t>(kernel.role)]) +
                       unitOf(program, kernel.unit);
    }
    case InstructionKind::collective: {
      const core::Collective& c = program.collectives[instruction.operand];
      return std::string(core::kCollectiveNames[static_cast<std::size_t>(c.kind)]) + unitOf(program, c.unit);
    }
    case InstructionKind::allocate:
    case InstructionKind::release:
    case InstructionKind::recordStream: {
      const core::Buffer& buffer = program.buffers[instruction.operand];
      const char* doing = instruction.kind == InstructionKind::allocate  ? "allocation of "
                          : instruction.kind == InstructionKind::release ? "release of "
                                                                         : "use of ";
      return doing + buffer.name + unitOf(program, buffer.unit);
    }
    case InstructionKind::hostWait:
      return "wait of the host";
    default:
      return "order of streams";
  }
}

}  // namespace

std::string DeviceRank::describe(int step, Index index) const {
  const Instruction& instruction = program_.step[index];
  std::string text = fmt::format("{} on stream {} (step {}, instruction {})", workOf(program_, instruction),
                                 program_.streams[instruction.stream], step, index);
  if (instruction.kind == InstructionKind::collective) {
    const RankCommunicator* communicator = communicators_[program_.collectives[instruction.operand].group];
    if (communicator != nullptr) text += " in " + communicator->title();
  }
  return text;
}

std::string DeviceRank::here() const {
  const std::uint64_t at = at_.load(std::memory_order_relaxed);
  if (at == kSettingUp) return "setting up";
  if (at == kDraining) return "at the end of the last step";
  return describe(static_cast<int>(at >> 32U), static_cast<Index>(at & 0xffffffffU));
}

std::string DeviceRank::position() const {
  std::string text;
  const std::lock_guard lock(timerMutex_);
  if (timer_ != nullptr)
    for (const core::Slice& slice : timer_->oldest())
      text += (text.empty() ? " waits for " : " and ") + describe(slice.step, slice.instruction);
  if (text.empty()) text = " is at " + here();
  return context_.name() + text;
}

std::string DeviceRank::running(const RankCommunicator& communicator) const {
  const auto isOf = [&](Index index) {
    const Instruction& instruction = program_.step[index];
    return instruction.kind == InstructionKind::collective &&
           communicators_[program_.collectives[instruction.operand].group] == &communicator;
  };
  {
    const std::lock_guard lock(timerMutex_);
    if (timer_ == nullptr) return {};
    for (const core::Slice& slice : timer_->oldest())
      if (isOf(slice.instruction)) return describe(slice.step, slice.instruction);
  }
  // The host may still be about to note down what it has just issued.
  const std::uint64_t at = at_.load(std::memory_order_relaxed);
  if (at == kSettingUp || at == kDraining) return {};
  const auto index = static_cast<Index>(at & 0xffffffffU);
  return isOf(index) ? describe(static_cast<int>(at >> 32U), index) : std::string();
}

}  // namespace vsim::gpu::device
