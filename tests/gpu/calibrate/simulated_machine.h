#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "gpu/data_plan.h"
#include "gpu/machine.h"
#include "sim/engine/simulator.h"
#include "sim/memory/caching_allocator.h"

namespace vsim::test {

/// `hosts[i]` ranks on host i. "cuda" unless said otherwise; racks by host, empty: not known.
inline gpu::MachineFacts factsOf(const std::vector<int>& hosts, const std::vector<std::string>& racks = {}) {
  gpu::MachineFacts facts;
  facts.executor = "cuda";
  for (std::size_t host = 0; host < hosts.size(); ++host)
    for (int rank = 0; rank < hosts[host]; ++rank) {
      gpu::RankFacts r;
      r.host = "host" + std::to_string(host);
      r.localRank = rank;
      r.device = "Simulated H200";
      r.memory = core::Bytes{66} << 30U;
      r.freeMemory = core::Bytes{64} << 30U;
      if (!racks.empty()) r.rack = racks[host];
      facts.ranks.push_back(std::move(r));
    }
  facts.versions = {{"driver", "1.2"}};
  return facts;
}

/// What everything on a simulated machine takes.
struct Truth {
  std::function<core::Cost(const core::Operation&)> operation;
  std::function<core::Cost(const core::Collective&, const core::CommGroup&)> collective;
  core::Picoseconds launch = 5'000'000, hostCall = 700'000, driverAllocate = 150'000'000;
  double noise = 0;                            // a slice takes up to so much longer, as a fraction
  double slowerEachRun = 0;                    // everything takes so much longer each time, a hundred times
  core::Picoseconds overhead = 1'000'000'000;  // of an execution, beside its step
};

/// Microseconds by bytes, and a misaligned transfer takes three times as long.
inline Truth simpleTruth() {
  Truth truth;
  truth.operation = [](const core::Operation& op) {
    const double bytes = static_cast<double>(op.bytesRead + op.bytesWritten);
    return core::Cost{.time = core::picosecondsFromSeconds((op.flops / 5e14 + bytes / 3e12) +
                                                           (bytes > 0 ? 2e-6 * op.count : 0))};
  };
  truth.collective = [](const core::Collective& c, const core::CommGroup& group) {
    const auto bytes =
        static_cast<double>(std::max(c.sendElements, c.receiveElements) * core::bytesOf(c.dtype));
    const double each = c.kind == core::CollectiveKind::allReduce ? 2e-12 : 1e-12;
    const double seconds = 5e-6 * static_cast<double>(group.size) + bytes * each * (c.aligned16 ? 1 : 3);
    return core::Cost{.time = core::picosecondsFromSeconds(seconds),
                      .slowdown = bytes > 1e6 ? 0.25 : 0.125,
                      .stretch = bytes > 1e6 ? 0.5 : 0.25};
  };
  return truth;
}

/// Runs programs on the simulator; every rank has its own log, in which it arrives at collectives at its own
/// time. `clock` goes on by what was executed.
class SimulatedMachine : public gpu::Machine {
 public:
  SimulatedMachine(gpu::MachineFacts facts, Truth truth)
      : facts_(std::move(facts)), truth_(std::move(truth)) {}

  double clock = 0;  // seconds
  int executions = 0;
  std::vector<std::string> said;  // what was broadcast

  [[nodiscard]] const gpu::MachineFacts& facts() const override { return facts_; }
  [[nodiscard]] int ranks() const override { return static_cast<int>(facts_.ranks.size()); }
  [[nodiscard]] bool leads() const override { return true; }
  [[nodiscard]] core::Result<std::string> broadcast(const std::string& text) override {
    said.push_back(text);
    return text;
  }
  [[nodiscard]] core::Result<core::ExecutionLog> execute(std::shared_ptr<const core::StepProgram> program,
                                                         int steps) override {
    sim::SimulatorOptions options;
    options.slices = options.memory = sim::Keep::everything;
    options.makeMemory = [] { return std::make_unique<sim::CachingAllocator>(); };
    sim::Simulator simulator(costsOf(*program), options);
    auto log = simulator.execute(program, steps);
    if (!log) return log;
    clock += core::secondsFromPicoseconds(log->ranks[0].stepEnd.back() + truth_.overhead);
    ++executions;
    const core::RankLog one = log->ranks[0];
    log->ranks.clear();
    for (int rank = 0; rank < ranks(); ++rank) log->ranks.push_back(ofRank(*program, one, rank));
    return log;
  }

 private:
  core::CostTable costsOf(const core::StepProgram& program) const {
    const double factor = 1 + truth_.slowerEachRun * (executions % 100);
    core::CostTable costs;
    for (const core::Operation& op : program.operations) costs.operations.push_back(truth_.operation(op));
    for (const core::Collective& c : program.collectives)
      costs.collectives.push_back(truth_.collective(c, program.groups[c.group]));
    for (auto* list : {&costs.operations, &costs.collectives})
      for (core::Cost& cost : *list)
        cost.time = static_cast<core::Picoseconds>(static_cast<double>(cost.time) * factor);
    costs.launch = truth_.launch;
    costs.hostCall = truth_.hostCall;
    costs.driverAllocate = truth_.driverAllocate;
    return costs;
  }

  core::RankLog ofRank(const core::StepProgram& program, core::RankLog log, int rank) {
    log.firstRank = rank;
    std::uniform_real_distribution<double> longer(0, 1);
    for (core::Slice& slice : log.slices) {
      const auto length = static_cast<double>(slice.end - slice.begin);
      slice.end += static_cast<core::Picoseconds>(truth_.noise * longer(random_) * length);
      const core::Instruction& instruction = program.step[slice.instruction];
      if (instruction.kind != core::InstructionKind::collective) continue;
      // The last rank of a group to arrive sees the collective's own time.
      const core::CommGroup& group = program.groups[program.collectives[instruction.operand].group];
      if (gpu::membersOf(group, rank).front() != rank)
        slice.begin -= static_cast<core::Picoseconds>(longer(random_) * length);
    }
    return log;
  }

  gpu::MachineFacts facts_;
  Truth truth_;
  std::minstd_rand random_{7};
};

}  // namespace vsim::test
