#include "tests/gpu/support/log_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace vsim::test {

using namespace vsim::core;

CostTable simpleCosts(const StepProgram& program) {
  CostTable costs;
  costs.launch = 2'000'000;
  costs.hostCall = 500'000;
  for (std::size_t i = 0; i < program.operations.size(); ++i)
    costs.operations.push_back({.time = 3'000'000 + 700'001 * static_cast<Picoseconds>(i % 7)});
  for (std::size_t i = 0; i < program.collectives.size(); ++i)
    costs.collectives.push_back({.time = 20'000'000 + 1'000'003 * static_cast<Picoseconds>(i % 5)});
  return costs;
}

ExecutionLog simulated(std::shared_ptr<const StepProgram> program, int steps) {
  sim::SimulatorOptions options;
  options.slices = options.memory = sim::Keep::everything;
  sim::Simulator simulator(simpleCosts(*program), options);
  auto log = simulator.execute(std::move(program), steps);
  if (!log) throw std::runtime_error(log.error().text());
  return std::move(*log);
}

namespace {

std::string peakDifference(const char* what, const MemoryPeak& a, const MemoryPeak& b) {
  if (a.allocated != b.allocated)
    return fmt::format("{}: {} and {} bytes allocated", what, a.allocated, b.allocated);
  for (std::size_t c = 0; c < a.byCategory.size(); ++c)
    if (a.byCategory[c] != b.byCategory[c])
      return fmt::format("{}: {} and {} bytes of {}", what, a.byCategory[c], b.byCategory[c],
                         kMemoryCategoryNames[c]);
  return "";
}

}  // namespace

std::string difference(const RankLog& a, const RankLog& b) {
  if (a.slices.size() != b.slices.size())
    return fmt::format("{} and {} slices", a.slices.size(), b.slices.size());
  for (std::size_t i = 0; i < a.slices.size(); ++i) {
    const Slice &x = a.slices[i], &y = b.slices[i];
    if (x.instruction != y.instruction || x.stream != y.stream || x.step != y.step)
      return fmt::format("slice {}: instructions {} and {}", i, x.instruction, y.instruction);
  }
  if (a.memory.size() != b.memory.size())
    return fmt::format("{} and {} memory events", a.memory.size(), b.memory.size());
  for (std::size_t i = 0; i < a.memory.size(); ++i) {
    const MemoryEvent &x = a.memory[i], &y = b.memory[i];
    if (x.buffer != y.buffer || x.allocate != y.allocate || x.step != y.step || x.allocated != y.allocated)
      return fmt::format("memory event {}: buffers {} and {}, {} and {} bytes", i, x.buffer, y.buffer,
                         x.allocated, y.allocated);
  }
  if (const auto peak = peakDifference("peak", a.peak, b.peak); !peak.empty()) return peak;
  return peakDifference("peak of the last step", a.lastStepPeak, b.lastStepPeak);
}

std::string brokenDependency(const StepProgram& program, const ProgramDag& dag, const RankLog& log,
                             const ClockErrors& errors) {
  std::vector<Picoseconds> ends(dag.nodes().size(), -1);
  for (const Slice& slice : log.slices) ends[dag.deviceNode(slice.step, slice.instruction)] = slice.end;
  // The host has issued an instruction by the time it is logged as issued.
  for (const Slice& slice : log.slices) ends[dag.hostNode(slice.step, slice.instruction)] = slice.issued;
  const std::vector<Picoseconds> begins = earliestBegins(dag, ends);
  for (const Slice& slice : log.slices) {
    const Index node = dag.deviceNode(slice.step, slice.instruction);
    if (slice.begin < begins[node] - errors.streams || slice.end < slice.begin)
      return fmt::format(
          "step {}, instruction {} ({}) runs {} to {}, its predecessors end at {}", slice.step,
          slice.instruction,
          program.step[slice.instruction].kind == InstructionKind::kernel ? "kernel" : "collective",
          slice.begin, slice.end, begins[node]);
    const Index host = dag.hostNode(slice.step, slice.instruction);
    if (slice.issued < begins[host] - errors.host)
      return fmt::format("step {}, instruction {} is issued at {}, what the host waited for ends at {}",
                         slice.step, slice.instruction, slice.issued, begins[host]);
  }
  return "";
}

}  // namespace vsim::test
