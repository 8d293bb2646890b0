#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "core/program/builder.h"
#include "sim/engine/simulator.h"

namespace vsim::test {

/// Small programs for the engine: every kernel and collective has its own cost, times in plain picoseconds.
class ProgramSketch {
 public:
  explicit ProgramSketch(int streams, int groups = 1) : builder_("sketch") {
    for (int s = 0; s < streams; ++s) builder_.stream(s == 0 ? "default" : "side" + std::to_string(s));
    for (int g = 0; g < groups; ++g) builder_.group({"group" + std::to_string(g), 8, g + 1});
    builder_.setPhase(core::Phase::forward);
    builder_.beginStep();
  }

  core::ProgramBuilder& builder() { return builder_; }
  core::CostTable costs;

  void kernel(core::StreamId stream, core::Picoseconds time, double slowdown = 0, int count = 1) {
    core::Operation operation;
    // The builder shares equal operations; a name of its own keeps the cost separate.
    operation.name = "op" + std::to_string(costs.operations.size());
    operation.count = count;
    costs.operations.push_back({.time = time, .slowdown = slowdown});
    core::Kernel kernel;
    kernel.operation = builder_.operation(operation);
    builder_.launch(builder_.kernel(kernel), stream);
  }
  void collective(core::StreamId stream, core::Picoseconds time, core::Index group = 0, double slowdown = 0,
                  double stretch = 0) {
    core::Collective collective;
    collective.group = group;
    costs.collectives.push_back({.time = time, .slowdown = slowdown, .stretch = stretch});
    builder_.communicate(builder_.collective(collective), stream);
  }
  core::Index buffer(const std::string& name, core::Bytes bytes, core::StreamId stream = 0,
                     core::MemoryCategory category = core::MemoryCategory::activations) {
    core::Buffer buffer;
    buffer.name = name;
    buffer.stream = stream;
    buffer.category = category;
    buffer.dtype = core::DType::uint8;
    buffer.elements = bytes;
    return builder_.buffer(buffer);
  }
  void recordStream(core::Index buffer, core::StreamId stream) {
    core::Instruction instruction;
    instruction.kind = core::InstructionKind::recordStream;
    instruction.stream = stream;
    instruction.operand = buffer;
    builder_.program().step.push_back(instruction);
  }
  void add(core::InstructionKind kind, core::StreamId stream, core::Index operand) {
    core::Instruction instruction;
    instruction.kind = kind;
    instruction.stream = stream;
    instruction.operand = operand;
    builder_.program().step.push_back(instruction);
  }

  [[nodiscard]] std::shared_ptr<const core::StepProgram> program() const {
    return std::make_shared<const core::StepProgram>(builder_.program());
  }
  [[nodiscard]] core::RankLog run(int steps = 1, sim::SimulatorOptions options = everything()) const {
    sim::Simulator simulator(costs, std::move(options));
    auto log = simulator.execute(program(), steps);
    if (!log) FAIL(log.error().text());
    return log->ranks[0];
  }
  static sim::SimulatorOptions everything() {
    sim::SimulatorOptions options;
    options.slices = options.memory = sim::Keep::everything;
    return options;
  }

 private:
  core::ProgramBuilder builder_;
};

/// "begin-end begin-end ..." of all slices in issue order.
inline std::string times(const core::RankLog& log) {
  std::string text;
  for (const core::Slice& slice : log.slices) {
    if (!text.empty()) text += ' ';
    text += std::to_string(slice.begin) + "-" + std::to_string(slice.end);
  }
  return text;
}

}  // namespace vsim::test
