#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/program/step_program.h"

namespace vsim::core {

/// Appends instructions to a StepProgram in host order. Knows no system and no model: it only keeps indices
/// and pairs allocations with releases. One builder per program; not thread-safe.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string system);

  StepProgram take() &&;
  StepProgram& program() { return program_; }
  [[nodiscard]] const StepProgram& program() const { return program_; }

  void setPhase(Phase phase) { phase_ = phase; }
  [[nodiscard]] Phase phase() const { return phase_; }
  /// What follows goes to StepProgram::setup (once) or ::step.
  void beginSetup() { inSetup_ = true; }
  void beginStep() { inSetup_ = false; }
  /// What follows is only run in the first step (lazily made optimizer states).
  void setFirstStepOnly(bool value) { firstStepOnly_ = value; }

  StreamId stream(const std::string& name);
  Index group(const CommGroup& group);
  Index buffer(Buffer buffer);
  Index operation(const Operation& operation);
  Index kernel(Kernel kernel);
  Index collective(Collective collective);

  void allocate(Index buffer);
  void release(Index buffer);
  void launch(Index kernel, StreamId stream);
  void communicate(Index collective, StreamId stream);
  /// Records a new event on `stream` and answers its handle.
  Index record(StreamId stream);
  void wait(StreamId stream, Index event);
  void waitStream(StreamId stream, StreamId other);
  void hostWait(Index event);
  void hook(const std::string& text);

 private:
  void add(InstructionKind kind, StreamId stream, Index operand, Index label = kNone);

  StepProgram program_;
  std::unordered_map<std::string, Index> labels_;
  Phase phase_ = Phase::setup;
  bool inSetup_ = false;
  bool firstStepOnly_ = false;
};

}  // namespace vsim::core
