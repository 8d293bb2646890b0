#include "core/program/builder.h"

#include "core/base/error.h"

namespace vsim::core {
namespace {

template <class T>
Index append(std::vector<T>& table, T value) {
  table.push_back(std::move(value));
  return static_cast<Index>(table.size() - 1);
}

}  // namespace

Index StepProgram::addLabel(const std::string& text) { return append(labels, text); }

ProgramBuilder::ProgramBuilder(std::string system) { program_.system = std::move(system); }

StepProgram ProgramBuilder::take() && { return std::move(program_); }

StreamId ProgramBuilder::stream(const std::string& name) {
  for (std::size_t i = 0; i < program_.streams.size(); ++i) {
    if (program_.streams[i] == name) return static_cast<StreamId>(i);
  }
  VSIM_CHECK(program_.streams.size() < 250, "too many streams");
  program_.streams.push_back(name);
  return static_cast<StreamId>(program_.streams.size() - 1);
}

Index ProgramBuilder::group(const CommGroup& group) { return append(program_.groups, group); }
Index ProgramBuilder::buffer(Buffer buffer) { return append(program_.buffers, std::move(buffer)); }
Index ProgramBuilder::operation(const Operation& operation) { return append(program_.operations, operation); }
Index ProgramBuilder::kernel(Kernel kernel) { return append(program_.kernels, std::move(kernel)); }
Index ProgramBuilder::collective(Collective collective) { return append(program_.collectives, collective); }

void ProgramBuilder::add(InstructionKind kind, StreamId stream, Index operand, Index label) {
  (inSetup_ ? program_.setup : program_.step)
      .push_back(Instruction{kind, stream, phase_, firstStepOnly_, operand, label});
}

void ProgramBuilder::allocate(Index buffer) {
  add(InstructionKind::allocate, program_.buffers[buffer].stream, buffer);
}
void ProgramBuilder::release(Index buffer) {
  add(InstructionKind::release, program_.buffers[buffer].stream, buffer);
}
void ProgramBuilder::launch(Index kernel, StreamId stream) { add(InstructionKind::kernel, stream, kernel); }
void ProgramBuilder::communicate(Index collective, StreamId stream) {
  add(InstructionKind::collective, stream, collective);
}

Index ProgramBuilder::record(StreamId stream) {
  const Index event = program_.events++;
  add(InstructionKind::recordEvent, stream, event);
  return event;
}
void ProgramBuilder::wait(StreamId stream, Index event) { add(InstructionKind::waitEvent, stream, event); }
void ProgramBuilder::waitStream(StreamId stream, StreamId other) {
  add(InstructionKind::waitStream, stream, other);
}
void ProgramBuilder::hostWait(Index event) { add(InstructionKind::hostWait, 0, event); }

void ProgramBuilder::hook(const std::string& text) {
  const auto [at, added] = labels_.try_emplace(text, 0);
  if (added) at->second = program_.addLabel(text);
  add(InstructionKind::hook, 0, kNone, at->second);
}

}  // namespace vsim::core
