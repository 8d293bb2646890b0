#include "sim/engine/program_tables.h"

#include <algorithm>
#include <cmath>

#include "core/base/checked.h"
#include "core/program/operand_limit.h"
#include "sim/engine/device.h"

namespace vsim::sim {
namespace {

using core::fail;
using core::Result;
using Work = ProgramTables::Work;

bool usable(const core::Cost& cost) {
  return cost.time >= 0 && std::isfinite(cost.slowdown) && cost.slowdown >= 0 &&
         std::isfinite(cost.stretch) && cost.stretch >= 0;
}

Result<void> fillWork(const core::StepProgram& program, const core::CostTable& costs, ProgramTables& tables) {
  if (costs.operations.size() != program.operations.size() ||
      costs.collectives.size() != program.collectives.size())
    return fail(
        fmt::format("the costs are of another program: {} operations and {} collectives, not {} and {}",
                    costs.operations.size(), costs.collectives.size(), program.operations.size(),
                    program.collectives.size()));
  if (costs.launch < 0 || costs.hostCall < 0 || costs.driverAllocate < 0) return fail("negative host costs");
  tables.kernels.reserve(program.kernels.size());
  for (const core::Kernel& kernel : program.kernels) {
    if (kernel.operation == core::kNone) {  // moves data on real executors only: no launch, no time
      tables.kernels.emplace_back().free = true;
      continue;
    }
    if (kernel.operation >= program.operations.size()) return fail("a kernel names no operation");
    const core::Cost& cost = costs.operations[kernel.operation];
    const int count = std::max(program.operations[kernel.operation].count, 1);
    if (!usable(cost))
      return fail("the cost of operation '" + program.operations[kernel.operation].name + "' is negative");
    const auto hostTime = core::checkedMultiply(costs.launch, count);
    if (!hostTime) return fail("the launch time overflows");
    Work work;
    work.time = cost.time;
    work.hostTime = *hostTime;
    work.tail = *hostTime - costs.launch + cost.time / count;
    work.slowdown = cost.slowdown;
    work.provenance = cost.provenance;
    tables.kernels.push_back(work);
  }
  tables.collectives.reserve(program.collectives.size());
  for (std::size_t i = 0; i < program.collectives.size(); ++i) {
    const core::Cost& cost = costs.collectives[i];
    if (program.collectives[i].group >= program.groups.size()) return fail("a collective names no group");
    if (!usable(cost)) return fail(fmt::format("the cost of collective {} is negative", i));
    Work work;
    work.time = cost.time;
    work.hostTime = costs.launch;
    work.slowdown = cost.slowdown;
    work.stretch = cost.stretch;
    work.group = program.collectives[i].group;
    work.provenance = cost.provenance;
    tables.collectives.push_back(work);
  }
  return {};
}

Result<void> fillBuffers(const core::StepProgram& program, ProgramTables& tables) {
  tables.buffers.reserve(program.buffers.size());
  for (const core::Buffer& buffer : program.buffers) {
    const auto data = core::checkedMultiply(buffer.elements, core::bytesOf(buffer.dtype));
    const auto bytes = data ? core::checkedAdd(*data, buffer.extraBytes) : data;
    if (!bytes || *bytes < 0) return fail("the size of buffer '" + buffer.name + "' is impossible");
    if (buffer.stream >= program.streams.size())
      return fail("buffer '" + buffer.name + "' comes from no stream of the program");
    tables.buffers.push_back({*bytes, buffer.stream, static_cast<std::uint8_t>(buffer.category)});
  }
  return {};
}

Result<void> checkInstructions(const std::vector<core::Instruction>& list, const char* where,
                               const core::StepProgram& program) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].operand >= core::operandLimit(list[i].kind, program) ||
        list[i].stream >= program.streams.size())
      return fail(fmt::format("{} instruction {} names something that the program does not have", where, i));
  return {};
}

// All times are sums over the steps, stretched at most by all slowdowns at once or by the largest stretch.
Result<void> checkLength(const core::StepProgram& program, const core::CostTable& costs, int steps,
                         ProgramTables& tables) {
  double total = 0, slowdown = 0, longest = 0;
  for (const auto& list : {tables.kernels, tables.collectives})
    for (const Work& work : list) {
      slowdown = std::max(slowdown, work.slowdown);
      longest = std::max(longest, work.stretch);
    }
  const double stretch = 1 + std::max(longest, slowdown * static_cast<double>(program.streams.size()));
  for (const core::Instruction& instruction : program.step) {
    const bool kernel = instruction.kind == core::InstructionKind::kernel;
    if (!kernel && instruction.kind != core::InstructionKind::collective) {
      total += 2 * static_cast<double>(costs.hostCall) + static_cast<double>(costs.driverAllocate);
      continue;
    }
    const Work& work = (kernel ? tables.kernels : tables.collectives)[instruction.operand];
    if (work.free) continue;
    total += static_cast<double>(work.time) * stretch + static_cast<double>(work.hostTime);
    ++tables.launches;
  }
  if (!(total * steps < 4e18)) return fail("the steps take longer than 46 days of simulated time");
  return {};
}

}  // namespace

Result<ProgramTables> ProgramTables::build(const core::StepProgram& program, const core::CostTable& costs,
                                           int steps) {
  ProgramTables tables;
  if (program.streams.size() > Device::kMaxStreams)
    return fail(
        fmt::format("{} streams: at most {} can be simulated", program.streams.size(), Device::kMaxStreams));
  const auto name = std::find(program.streams.begin(), program.streams.end(), "default");
  if (name != program.streams.end())
    tables.computeStream = static_cast<core::StreamId>(name - program.streams.begin());
  for (const auto& done :
       {fillWork(program, costs, tables), fillBuffers(program, tables),
        checkInstructions(program.setup, "setup", program), checkInstructions(program.step, "step", program)})
    if (!done) return tl::unexpected(done.error());
  if (const auto done = checkLength(program, costs, steps, tables); !done)
    return tl::unexpected(done.error());
  return tables;
}

}  // namespace vsim::sim
