#include "gpu/calibrate/program_work.h"

#include <map>
#include <tuple>

namespace vsim::gpu {

using core::Index;
using core::kNone;
using core::Operation;

namespace {

// Everything that a kernel's time depends on. What a profile cannot tell apart is told apart here all the
// same: better two entries than a wrong one.
auto keyOf(const Operation& op) {
  return std::tuple(std::tuple(op.name, op.kind, op.memoryOp, op.backward, op.dtype, op.count),
                    std::tuple(op.m, op.n, op.k, op.groups, op.accumulatesFp32),
                    std::tuple(op.batch, op.sequence, op.heads, op.kvHeads, op.headDim, op.headDimValue,
                               op.window, op.causal),
                    std::tuple(op.bytesRead, op.bytesWritten));
}

auto keyOf(const CollectiveSpec& c) {
  return std::tuple(c.kind, c.reduce, c.dtype, c.sendElements, c.receiveElements, c.group.size,
                    c.group.stride, c.hasData, c.inPlace, c.aligned16);
}

class Collector {
 public:
  void add(const ProgramPointer& program) {
    for (const core::Instruction& instruction : program->step) {
      if (instruction.kind == core::InstructionKind::kernel) addKernel(program, instruction.operand);
      if (instruction.kind == core::InstructionKind::collective)
        addCollective(*program, program->collectives[instruction.operand], instruction.stream != 0);
    }
  }
  ProgramWork take() { return std::move(work_); }

 private:
  void addKernel(const ProgramPointer& program, Index index) {
    const core::Kernel& kernel = program->kernels[index];
    if (kernel.operation == kNone) return;
    const Operation& operation = program->operations[kernel.operation];
    if (kernel.role == core::KernelRole::compute) {
      const auto [at, added] = operations_.try_emplace(keyOf(operation), work_.operations.size());
      if (added) work_.operations.push_back({operation, 0});
      ++work_.operations[at->second].launches;
    } else {
      const auto [at, added] =
          dataKernels_.try_emplace(std::tuple(kernel.role, keyOf(operation)), work_.dataKernels.size());
      if (added) work_.dataKernels.push_back({program, index, 0});
      ++work_.dataKernels[at->second].launches;
    }
  }

  void addCollective(const core::StepProgram& program, const core::Collective& c, bool besideCompute) {
    if (program.groups[c.group].size < 2) return;
    CollectiveSpec spec;
    spec.kind = c.kind;
    spec.reduce = c.reduce;
    spec.dtype = c.dtype;
    spec.sendElements = c.sendElements;
    spec.receiveElements = c.receiveElements;
    spec.group = program.groups[c.group];
    spec.hasData = c.input != kNone && c.output != kNone;
    spec.inPlace = c.input == c.output;
    spec.aligned16 = c.aligned16;
    if (spec.bytes() <= 0) return;
    const auto [at, added] = collectives_.try_emplace(keyOf(spec), work_.collectives.size());
    if (added) work_.collectives.push_back({spec, 0, false});
    ++work_.collectives[at->second].launches;
    if (besideCompute) work_.collectives[at->second].besideCompute = true;
  }

  ProgramWork work_;
  std::map<decltype(keyOf(Operation())), std::size_t> operations_;
  std::map<std::tuple<core::KernelRole, decltype(keyOf(Operation()))>, std::size_t> dataKernels_;
  std::map<decltype(keyOf(CollectiveSpec())), std::size_t> collectives_;
};

}  // namespace

ProgramWork workOf(const std::vector<ProgramPointer>& programs) {
  Collector collector;
  for (const ProgramPointer& program : programs)
    if (program) collector.add(program);
  return collector.take();
}

}  // namespace vsim::gpu
