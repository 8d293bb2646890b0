#include <fmt/format.h>

#include <iterator>

#include "core/program/step_program.h"

namespace vsim::core {
namespace {

class Printer {
 public:
  explicit Printer(const StepProgram& program) : program_(program) {}

  std::string run() {
    line("# system {}, streams {}", program_.system, fmt::join(program_.streams, " "));
    for (const CommGroup& group : program_.groups)
      line("# group {}: {} ranks, stride {}", group.name, group.size, group.stride);
    line("=== setup");
    list(program_.setup);
    line("=== step");
    list(program_.step);
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  [[nodiscard]] std::string unitSuffix(Index unit) const {
    return unit == kNone ? std::string() : "(" + program_.units[unit].name + ")";
  }
  [[nodiscard]] const std::string& stream(std::size_t id) const { return program_.streams[id]; }

  /// "61 launches of q_proj gemm": what one kernel is, with its exact work.
  [[nodiscard]] std::string kernelText(const Kernel& kernel) const {
    if (kernel.operation == kNone)
      return std::string(kRoleNames[static_cast<std::size_t>(kernel.role)]) + unitSuffix(kernel.unit);
    const Operation& op = program_.operations[kernel.operation];
    std::string text = op.name + unitSuffix(kernel.unit);
    if (op.count > 1) text += fmt::format(" x{}", op.count);
    if (op.kind == OpKind::gemm || op.kind == OpKind::groupedGemm) {
      text += fmt::format(" gemm {}x{}x{}", op.m, op.n, op.k);
      if (op.groups > 1) text += fmt::format(" in {} groups", op.groups);
    } else if (op.kind == OpKind::memory) {
      text += fmt::format(" {} B read, {} B written", op.bytesRead, op.bytesWritten);
    } else {
      text += fmt::format(" attention b={} s={} heads={}/{} d={}/{}", op.batch, op.sequence, op.heads,
                          op.kvHeads, op.headDim, op.headDimValue);
    }
    return text;
  }

  [[nodiscard]] std::string collectiveText(const Collective& c) const {
    std::string kind;
    for (const char ch : kCollectiveNames[static_cast<std::size_t>(c.kind)])
      kind += ch == '_' ? '-' : static_cast<char>(ch - 'a' + 'A');
    const std::string unit = c.unit == kNone ? std::string() : " " + program_.units[c.unit].name;
    const CommGroup& group = program_.groups[c.group];
    if (c.kind == CollectiveKind::allReduce)
      return fmt::format("{}{} n={} {} axis={} group={}", kind, unit, c.sendElements, name(c.dtype),
                         group.name, group.size);
    return fmt::format("{}{} in={} out={} {} axis={} group={}{}", kind, unit, c.sendElements,
                       c.receiveElements, name(c.dtype), group.name, group.size,
                       c.reduce == ReduceOp::average ? " op=AVG" : "");
  }

  void list(const std::vector<Instruction>& instructions) {
    for (const Instruction& i : instructions) {
      const char* once = i.firstStepOnly ? " (first step)" : "";
      switch (i.kind) {
        case InstructionKind::hook:
          line("{}", program_.labels[i.label]);
          break;
        case InstructionKind::allocate: {
          const Buffer& b = program_.buffers[i.operand];
          line("  +{}{} {}x{} @{}{}", b.name, unitSuffix(b.unit), b.elements, name(b.dtype), stream(b.stream),
               once);
          break;
        }
        case InstructionKind::release: {
          const Buffer& b = program_.buffers[i.operand];
          line("  -{}{}{}", b.name, unitSuffix(b.unit), once);
          break;
        }
        case InstructionKind::kernel:
          line("  {} on {}{}", kernelText(program_.kernels[i.operand]), stream(i.stream), once);
          break;
        case InstructionKind::collective:
          line("  {} on {}", collectiveText(program_.collectives[i.operand]), stream(i.stream));
          break;
        case InstructionKind::recordEvent:
          line("  record ev{} on {}", i.operand, stream(i.stream));
          break;
        case InstructionKind::waitEvent:
          line("  {} waits ev{}", stream(i.stream), i.operand);
          break;
        case InstructionKind::waitStream:
          line("  {} waits stream {}", stream(i.stream), stream(i.operand));
          break;
        case InstructionKind::hostWait:
          line("  CPU-SYNC ev{}", i.operand);
          break;
        case InstructionKind::recordStream:
          line("  record_stream({}{}, {})", program_.buffers[i.operand].name,
               unitSuffix(program_.buffers[i.operand].unit), stream(i.stream));
          break;
      }
    }
  }

  const StepProgram& program_;
  std::string out_;
};

}  // namespace

std::string print(const StepProgram& program) { return Printer(program).run(); }

}  // namespace vsim::core
