#include "sim/engine/simulator.h"

#include <utility>

#include "sim/engine/buffer_ledger.h"
#include "sim/engine/device.h"
#include "sim/engine/program_tables.h"

namespace vsim::sim {
namespace {

using core::Instruction;
using core::InstructionKind;
using core::Result;

// One rank's host thread and its device.
class Host {
 public:
  Host(const core::StepProgram& program, const ProgramTables& tables, const core::CostTable& costs,
       const SimulatorOptions& options, int steps)
      : program_(program),
        tables_(tables),
        costs_(costs),
        options_(options),
        steps_(steps),
        device_(program.streams.size(), program.groups.size(), static_cast<std::size_t>(steps), &log_.slices),
        ledger_(program, tables, options.makeMemory ? options.makeMemory() : nullptr),
        events_(program.events) {
    log_.name = options.rankName;
    log_.firstRank = options.firstRank;
    log_.ranks = options.ranks;
    if (ledger_.memory())
      ledger_.memory()->setProgress(
          [this](StreamId stream) { return std::uint64_t{device_.mark(stream).position}; },
          [this](StreamId stream, std::uint64_t ticket) {
            device_.advance(now_);
            return device_.reached({stream, static_cast<std::uint32_t>(ticket)});
          });
  }

  Result<void> run() {
    keepMemory_ = options_.memory == Keep::everything;
    for (const Instruction& instruction : program_.setup) {
      ++executed_;
      if (!setUp(instruction)) return tl::unexpected(error_);
    }
    for (int step = 0; step < steps_; ++step) {
      if (options_.cancelled && options_.cancelled()) return core::fail("cancelled");
      beginStep(step);
      if (!issueStep(step)) return tl::unexpected(error_);
      device_.advance(now_);
    }
    device_.drain(now_);
    for (int step = 0; step < steps_; ++step) {
      const auto index = static_cast<std::size_t>(step);
      log_.stepEnd.push_back(std::max(device_.stepEnd(index), log_.stepBegin[index]));
    }
    log_.peak = ledger_.peak();
    log_.lastStepPeak = ledger_.stepPeak();
    return {};
  }

  core::RankLog takeLog() { return std::move(log_); }
  [[nodiscard]] std::uint64_t executed() const { return executed_; }

 private:
  void beginStep(int step) {
    const bool last = step + 1 == steps_;
    step_ = static_cast<std::uint8_t>(step);
    log_.stepBegin.push_back(now_);
    keepSlices_ = options_.slices == Keep::everything || (last && options_.slices == Keep::lastStep);
    keepMemory_ = options_.memory == Keep::everything || (last && options_.memory == Keep::lastStep);
    if (keepSlices_) log_.slices.reserve(log_.slices.size() + tables_.launches);
    ledger_.beginStep(now_);
  }

  bool setUp(const Instruction& instruction) {
    switch (instruction.kind) {
      case InstructionKind::allocate: {
        const auto done = ledger_.allocate(instruction.operand, 0);
        return done ? keep(instruction.operand, true) : failed(done.error());
      }
      case InstructionKind::release:
        return release(instruction.operand);
      case InstructionKind::recordStream:
        return recordStream(instruction);
      default:
        return true;
    }
  }

  bool issueStep(int step) {
    constexpr std::size_t kBetweenLooks =
        8192;  // keeps the device's queues short where the host does not wait
    const std::size_t count = program_.step.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Instruction& instruction = program_.step[i];
      if (instruction.firstStepOnly && step > 0) continue;
      ++executed_;
      if (!issue(instruction, static_cast<Index>(i))) return false;
      if (i % kBetweenLooks != kBetweenLooks - 1) continue;
      device_.advance(now_);
      if (options_.cancelled && options_.cancelled()) return failed({.message = "cancelled"});
    }
    return true;
  }

  bool issue(const Instruction& instruction, Index index) {
    const StreamId stream = instruction.stream;
    switch (instruction.kind) {
      case InstructionKind::kernel:
        launch(tables_.kernels[instruction.operand], stream, index);
        return true;
      case InstructionKind::collective:
        launch(tables_.collectives[instruction.operand], stream, index);
        return true;
      case InstructionKind::allocate:
        return allocate(instruction.operand);
      case InstructionKind::release:
        return release(instruction.operand);
      case InstructionKind::recordEvent:
        now_ += costs_.hostCall;
        events_[instruction.operand] = device_.mark(stream);
        return true;
      case InstructionKind::waitEvent:
        now_ += costs_.hostCall;
        device_.wait(stream, events_[instruction.operand]);
        return true;
      case InstructionKind::waitStream:
        now_ += 2 * costs_.hostCall;
        device_.wait(stream, device_.mark(static_cast<StreamId>(instruction.operand)));
        return true;
      case InstructionKind::hostWait:
        now_ = device_.runUntil(events_[instruction.operand], now_ + costs_.hostCall);
        return true;
      case InstructionKind::recordStream:
        return recordStream(instruction);
      case InstructionKind::hook:
        return true;
    }
    return true;
  }

  void launch(const ProgramTables::Work& work, StreamId stream, Index index) {
    if (work.free) return;
    Task task;
    task.issued = now_ + costs_.launch;
    task.time = work.time;
    task.earliestEnd = task.issued + work.tail;
    task.group = work.group;
    if (work.group != core::kNone || stream != tables_.computeStream) task.slowdown = work.slowdown;
    task.stretch = work.stretch;
    task.step = step_;
    now_ += work.hostTime;
    if (keepSlices_) {
      task.slice = static_cast<Index>(log_.slices.size());
      log_.slices.push_back({index, stream, step_, work.provenance, task.issued, 0, 0});
    }
    device_.launch(stream, task);
  }

  bool allocate(Index buffer) {
    now_ += costs_.hostCall;
    const auto answer = ledger_.allocate(buffer, now_);
    if (!answer) return failed(answer.error());
    if (answer->waitedForDevice) now_ = device_.drain(now_);
    now_ += answer->driverCalls * costs_.driverAllocate;
    return keep(buffer, true);
  }

  bool release(Index buffer) {
    const auto done = ledger_.release(buffer);
    return done ? keep(buffer, false) : failed(done.error());
  }

  bool recordStream(const Instruction& instruction) {
    const auto done = ledger_.recordStream(instruction.operand, instruction.stream);
    return done || failed(done.error());
  }

  bool keep(Index buffer, bool allocated) {
    if (keepMemory_) {
      const auto totals = ledger_.totals();
      log_.memory.push_back({now_, buffer, step_, allocated, ledger_.address(buffer), totals.allocated,
                             totals.active, totals.reserved});
    }
    return true;
  }

  bool failed(const core::Error& error) {
    error_ = error;
    return false;
  }

  const core::StepProgram& program_;
  const ProgramTables& tables_;
  const core::CostTable& costs_;
  const SimulatorOptions& options_;
  int steps_;
  core::RankLog log_;
  Device device_;
  BufferLedger ledger_;
  std::vector<Mark> events_;  // [event]: its latest record; position 0: never recorded, always reached
  Picoseconds now_ = 0;       // of the host
  std::uint64_t executed_ = 0;
  std::uint8_t step_ = 0;
  bool keepSlices_ = false, keepMemory_ = false;
  core::Error error_;
};

}  // namespace

Simulator::Simulator(core::CostTable costs, SimulatorOptions options)
    : costs_(std::move(costs)), options_(std::move(options)) {}

Result<core::ExecutionLog> Simulator::execute(std::shared_ptr<const core::StepProgram> program, int steps) {
  if (!program) return core::fail("no program to run");
  if (steps < 1 || steps > 255) return core::fail(fmt::format("{} steps: 1 to 255 can be simulated", steps));
  auto tables = ProgramTables::build(*program, costs_, steps);
  if (!tables) return tl::unexpected(tables.error());
  Host host(*program, *tables, costs_, options_, steps);
  if (const auto done = host.run(); !done) return tl::unexpected(done.error());
  core::ExecutionLog log;
  log.executor = "simulator";
  log.program = std::move(program);
  log.instructionsExecuted = host.executed();
  log.ranks.push_back(host.takeLog());
  return log;
}

}  // namespace vsim::sim
