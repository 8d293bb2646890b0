#pragma once

#include <algorithm>
#include <memory>

#include "core/program/execution_log.h"
#include "core/report/report.h"

namespace vsim::test {

/// A hand-made step of one unit on streams default, AG and RS, with round times (ms), for tests of whatever
/// reads an ExecutionLog:
///
///   default  |     fwd 10-30 | loss 30-34 |  bwd 34-70 |        opt 85-90 |
///   AG       | AG 2-10             AG 24-32 (fitted, hidden but for nothing)
///   RS       |                                 60-80 RS (exposed 70-80), side copy 80-82
///
/// The step lasts 0-100; the first of the two steps is twice as slow.
inline core::ExecutionLog sampleLog() {
  using namespace core;
  StepProgram program;
  program.system = "vescale";
  program.streams = {"default", "AG", "RS"};
  program.groups = {{"dp_shard", 4, 1}, {"dp_replicate", 2, 4}};
  Unit unit;
  unit.name = "L1";
  unit.devices = 4;
  unit.shardElements = 16;
  program.units = {unit};
  const auto buffer = [&](const char* name, MemoryCategory category, std::int64_t elements) {
    Buffer b;
    b.name = name;
    b.unit = 0;
    b.category = category;
    b.elements = elements;
    program.buffers.push_back(b);
  };
  buffer("params", MemoryCategory::parameters, 1'000'000);
  buffer("ag_out", MemoryCategory::unshardedParameters, 4'000'000);
  buffer("act", MemoryCategory::activations, 2'000'000);
  const auto kernel = [&](const char* name) {
    Operation operation;
    operation.name = name;
    operation.flops = 1e12;
    operation.bytesRead = 1000;
    operation.bytesWritten = 24;
    program.operations.push_back(operation);
    Kernel k;
    k.operation = static_cast<Index>(program.operations.size() - 1);
    k.unit = 0;
    program.kernels.push_back(k);
  };
  for (const char* name : {"fwd", "loss", "bwd", "cast_out", "adamw"}) kernel(name);
  const auto collective = [&](CollectiveKind kind, ReduceOp reduce, DType dtype, std::int64_t send,
                              std::int64_t receive) {
    Collective c;
    c.kind = kind;
    c.reduce = reduce;
    c.unit = 0;
    c.dtype = dtype;
    c.sendElements = send;
    c.receiveElements = receive;
    program.collectives.push_back(c);
  };
  collective(CollectiveKind::allGather, ReduceOp::none, DType::bf16, 1'000'000, 4'000'000);
  collective(CollectiveKind::reduceScatter, ReduceOp::average, DType::fp32, 4'000'000, 1'000'000);

  RankLog ranks;
  ranks.ranks = 8;
  const auto at = [](double ms) { return picosecondsFromSeconds(ms * 1e-3); };
  const auto add = [&](InstructionKind kind, StreamId stream, Phase phase, Index operand, double begin = 0,
                       double end = 0, Provenance provenance = Provenance::modelled) {
    Instruction instruction;
    instruction.kind = kind;
    instruction.stream = stream;
    instruction.phase = phase;
    instruction.operand = operand;
    program.step.push_back(instruction);
    if (kind != InstructionKind::kernel && kind != InstructionKind::collective) return;
    for (int step = 0; step < 2; ++step) {
      const double scale = step == 0 ? 2 : 1;
      Slice slice;
      slice.instruction = static_cast<Index>(program.step.size() - 1);
      slice.stream = stream;
      slice.step = static_cast<std::uint8_t>(step);
      slice.provenance = provenance;
      const Picoseconds origin = step == 0 ? 0 : at(200);
      slice.issued = origin;
      slice.begin = origin + at(begin * scale);
      slice.end = origin + at(end * scale);
      ranks.slices.push_back(slice);
    }
  };
  using Kind = InstructionKind;
  add(Kind::allocate, 0, Phase::forward, 1);
  add(Kind::collective, 1, Phase::forward, 0, 2, 10, Provenance::measured);
  add(Kind::recordEvent, 1, Phase::forward, 0);
  add(Kind::waitEvent, 0, Phase::forward, 0);
  add(Kind::kernel, 0, Phase::forward, 0, 10, 30, Provenance::fitted);
  add(Kind::collective, 1, Phase::backward, 0, 24, 32, Provenance::measured);
  add(Kind::kernel, 0, Phase::loss, 1, 30, 34);
  add(Kind::kernel, 0, Phase::backward, 2, 34, 70, Provenance::fitted);
  add(Kind::release, 0, Phase::backward, 1);
  add(Kind::collective, 2, Phase::reduce, 1, 60, 80, Provenance::published);
  add(Kind::kernel, 2, Phase::reduce, 3, 80, 82);
  add(Kind::waitStream, 0, Phase::optimizer, 2);
  add(Kind::kernel, 0, Phase::optimizer, 4, 85, 90);
  program.events = 1;

  ranks.stepBegin = {0, at(200)};
  ranks.stepEnd = {at(200), at(300)};
  std::stable_sort(ranks.slices.begin(), ranks.slices.end(),
                   [](const Slice& a, const Slice& b) { return a.step < b.step; });
  const auto memory = [&](double ms, Index index, int step, bool allocate, Bytes allocated, Bytes reserved) {
    MemoryEvent event;
    event.time = at(ms);
    event.buffer = index;
    event.step = static_cast<std::uint8_t>(step);
    event.allocate = allocate;
    event.address = 4096u * (index + 1);
    event.allocated = event.active = allocated;
    event.reserved = reserved;
    ranks.memory.push_back(event);
  };
  memory(0, 0, 0, true, 2'000'000, 20'971'520);
  memory(0, 1, 0, true, 10'000'000, 20'971'520);
  memory(140, 1, 0, false, 2'000'000, 20'971'520);
  memory(200, 1, 1, true, 10'000'000, 20'971'520);
  memory(270, 1, 1, false, 2'000'000, 20'971'520);
  ranks.peak.allocated = ranks.peak.active = 10'000'000;
  ranks.peak.reserved = 20'971'520;
  ranks.peak.byCategory = {2'000'000, 0, 0, 8'000'000, 0, 0, 0, 0, 0};

  ExecutionLog log;
  log.executor = "simulator";
  log.program = std::make_shared<const StepProgram>(std::move(program));
  log.ranks = {ranks};
  log.instructionsExecuted = 26;
  return log;
}

inline core::RunFacts sampleFacts() {
  core::RunFacts facts;
  facts.scenario = "sample";
  facts.system = "vescale";
  facts.gpus = 8;
  facts.tokensPerStep = 100'000;
  facts.parameters = 2'000'000'000;
  facts.activeParameters = 1'000'000'000;
  facts.layers = 10;
  facts.heads = 16;
  facts.headDim = 128;
  facts.sequence = 4096;
  facts.recomputeFlopsPerToken = 2e9;
  facts.paddingRatio = 0.0125;
  facts.simulatedRanks = 1;
  facts.wallSeconds = 0.25;
  return facts;
}

inline core::HardwareFacts sampleHardware() {
  core::HardwareFacts hardware;
  hardware.gpu = "H100-SXM";
  hardware.peakFlops = 989.4e12;
  hardware.capacityBytes = 80'000'000;
  hardware.contextBytes = 1'000'000;
  hardware.ncclBytes = 500'000;
  return hardware;
}

}  // namespace vsim::test
