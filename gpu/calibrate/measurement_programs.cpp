#include "gpu/calibrate/measurement_programs.h"

#include <algorithm>
#include <set>

namespace vsim::gpu {

using core::CollectiveKind;
using core::Index;
using core::kNone;
using core::ProgramBuilder;
using core::StreamId;

namespace {

constexpr char kSystem[] = "calibration";

ProgramPointer finish(ProgramBuilder builder) {
  return std::make_shared<const core::StepProgram>(std::move(builder).take());
}

ProgramBuilder started() {
  ProgramBuilder builder(kSystem);
  builder.stream("default");
  builder.beginStep();
  builder.setPhase(core::Phase::forward);
  return builder;
}

/// A collective with its group, unit and buffers in a program.
struct PlacedCollective {
  Index collective = kNone;
  std::set<Index> buffers;
};

PlacedCollective place(ProgramBuilder& builder, const CollectiveSpec& spec, StreamId stream) {
  core::StepProgram& program = builder.program();
  const Index group = builder.group(spec.group);
  program.tensorTables.emplace_back();
  core::Unit unit;
  unit.name = "measured";
  unit.devices = spec.group.size;
  unit.shardElements = std::min(spec.sendElements, spec.receiveElements);
  unit.group = group;
  unit.tensorTable = static_cast<Index>(program.tensorTables.size() - 1);
  program.units.push_back(unit);
  const auto unitIndex = static_cast<Index>(program.units.size() - 1);
  core::Collective collective{.kind = spec.kind,
                              .reduce = spec.reduce,
                              .group = group,
                              .unit = spec.hasData ? unitIndex : kNone,
                              .dtype = spec.dtype,
                              .sendElements = spec.sendElements,
                              .receiveElements = spec.receiveElements,
                              .inPlace = spec.inPlace,
                              .aligned16 = spec.aligned16};
  PlacedCollective placed;
  if (spec.hasData) {
    const auto make = [&](const char* name, std::int64_t elements) {
      const Index buffer = builder.buffer({.name = name,
                                           .unit = unitIndex,
                                           .stream = stream,
                                           .category = core::MemoryCategory::temporary,
                                           .dtype = spec.dtype,
                                           .elements = elements});
      placed.buffers.insert(buffer);
      return buffer;
    };
    const std::int64_t larger = std::max(spec.sendElements, spec.receiveElements);
    collective.input = make("input", spec.inPlace ? larger : spec.sendElements);
    collective.output = spec.inPlace ? collective.input : make("output", spec.receiveElements);
  }
  placed.collective = builder.collective(collective);
  return placed;
}

}  // namespace

CollectiveSpec collectiveOf(CollectiveKind kind, core::Bytes bytes, const core::CommGroup& group,
                            bool aligned) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.group = group;
  spec.aligned16 = aligned;
  const bool reduces = kind == CollectiveKind::reduceScatter || kind == CollectiveKind::allReduce;
  spec.dtype = reduces ? core::DType::fp32 : core::DType::bf16;
  spec.reduce = reduces ? core::ReduceOp::average : core::ReduceOp::none;
  const std::int64_t aligned16 = 16 / core::bytesOf(spec.dtype);
  const std::int64_t elements = std::max<std::int64_t>(1, bytes / core::bytesOf(spec.dtype));
  std::int64_t shard = std::max<std::int64_t>(1, elements / group.size);
  shard = std::max(aligned16, shard / aligned16 * aligned16) + (aligned ? 0 : 1);
  const std::int64_t all = shard * group.size;
  switch (kind) {
    case CollectiveKind::allGather:
      spec.sendElements = shard;
      spec.receiveElements = all;
      break;
    case CollectiveKind::reduceScatter:
      spec.sendElements = all;
      spec.receiveElements = shard;
      break;
    case CollectiveKind::allToAll:
      spec.inPlace = false;
      [[fallthrough]];
    default:
      spec.sendElements = spec.receiveElements = all;
  }
  return spec;
}

ProgramPointer collectiveProgram(const CollectiveSpec& spec, int repetitions) {
  ProgramBuilder builder = started();
  const PlacedCollective placed = place(builder, spec, 0);
  for (const Index buffer : placed.buffers) builder.allocate(buffer);
  for (int i = 0; i < repetitions; ++i) builder.communicate(placed.collective, 0);
  for (const Index buffer : placed.buffers) builder.release(buffer);
  return finish(std::move(builder));
}

ProgramPointer operationProgram(const core::Operation& operation, int repetitions) {
  ProgramBuilder builder = started();
  core::Kernel kernel;
  kernel.operation = builder.operation(operation);
  const Index index = builder.kernel(kernel);
  for (int i = 0; i < repetitions; ++i) builder.launch(index, 0);
  return finish(std::move(builder));
}

ProgramPointer kernelProgram(const core::StepProgram& program, Index kernel, int repetitions) {
  const core::Kernel& wanted = program.kernels[kernel];
  std::set<Index> buffers(wanted.reads.begin(), wanted.reads.end());
  buffers.insert(wanted.writes.begin(), wanted.writes.end());
  for (const Index buffer : buffers)
    if (buffer >= program.buffers.size()) return nullptr;
  ProgramBuilder builder(kSystem);
  builder.program() = program;
  core::StepProgram& derived = builder.program();
  derived.setup.clear();
  derived.step.clear();
  derived.events = 0;
  const bool ofUnit = wanted.unit < program.units.size();
  const auto setUp = [&](Index buffer) { return ofUnit && buffer == program.units[wanted.unit].parameters; };
  builder.beginSetup();
  builder.setPhase(core::Phase::setup);
  for (const Index buffer : buffers)
    if (setUp(buffer)) builder.allocate(buffer);
  builder.beginStep();
  builder.setPhase(core::Phase::optimizer);
  for (const Index buffer : buffers)
    if (!setUp(buffer)) builder.allocate(buffer);
  for (int i = 0; i < repetitions; ++i) builder.launch(kernel, 0);
  // The next step's memory is the next user of these buffers: their pools wait for the work on them.
  for (std::size_t stream = 1; stream < derived.streams.size(); ++stream)
    builder.waitStream(static_cast<StreamId>(stream), 0);
  for (const Index buffer : buffers)
    if (!setUp(buffer)) builder.release(buffer);
  return finish(std::move(builder));
}

ProgramPointer interferenceProgram(const core::Operation& product, const CollectiveSpec& spec,
                                   const InterferenceCounts& counts) {
  ProgramBuilder builder = started();
  const StreamId compute = 0, side = builder.stream("collectives");
  core::Kernel kernel;
  kernel.operation = builder.operation(product);
  const Index multiply = builder.kernel(kernel);
  const PlacedCollective placed = place(builder, spec, side);
  for (const Index buffer : placed.buffers) builder.allocate(buffer);
  for (int i = 0; i < counts.alone; ++i) builder.launch(multiply, compute);
  builder.wait(side, builder.record(compute));
  for (int i = 0; i < counts.collectivesAlone; ++i) builder.communicate(placed.collective, side);
  builder.wait(compute, builder.record(side));
  // In turns, so that neither stream runs dry while the host is at the other's.
  const int most = std::max(counts.productsTogether, counts.collectivesTogether);
  const auto share = [&](int i, int count) {
    return static_cast<std::int64_t>(i + 1) * count / most - static_cast<std::int64_t>(i) * count / most;
  };
  for (int i = 0; i < most; ++i) {
    if (share(i, counts.productsTogether) > 0) builder.launch(multiply, compute);
    if (share(i, counts.collectivesTogether) > 0) builder.communicate(placed.collective, side);
  }
  for (const Index buffer : placed.buffers) builder.release(buffer);
  return finish(std::move(builder));
}

ProgramPointer meetingProgram(const core::Operation& product, const CollectiveSpec& spec,
                              const MeetingCounts& counts) {
  ProgramBuilder builder = started();
  const StreamId compute = 0, side = counts.onSide ? builder.stream("collectives") : compute;
  core::Kernel kernel;
  kernel.operation = builder.operation(product);
  const Index multiply = builder.kernel(kernel);
  const PlacedCollective placed = place(builder, spec, side);
  const auto join = [&](StreamId waiting, StreamId other) {
    if (waiting != other) builder.wait(waiting, builder.record(other));
  };
  for (const Index buffer : placed.buffers) builder.allocate(buffer);
  for (int i = 0; i < counts.alone; ++i) builder.launch(multiply, compute);
  builder.hook("meetings");
  for (int i = 0; i < counts.meetings; ++i) {
    for (int j = 0; j < counts.productsBetween; ++j) builder.launch(multiply, compute);
    join(side, compute);
    builder.communicate(placed.collective, side);
    join(compute, side);
  }
  builder.hook("one ahead");
  for (int i = 0; i < counts.ahead; ++i) {
    join(side, compute);
    builder.communicate(placed.collective, side);
    for (int j = 0; j < counts.productsBetween; ++j) builder.launch(multiply, compute);
    join(compute, side);
  }
  for (const Index buffer : placed.buffers) builder.release(buffer);
  return finish(std::move(builder));
}

ProgramPointer hostCallProgram(const HostCallCounts& counts) {
  ProgramBuilder builder = started();
  const StreamId side = builder.stream("side");
  core::Operation nothing;
  nothing.name = "empty";
  core::Kernel kernel;
  kernel.operation = builder.operation(nothing);
  const Index empty = builder.kernel(kernel);
  for (int i = 0; i < counts.launches; ++i) builder.launch(empty, 0);
  for (int i = 0; i < counts.launches; ++i) {
    for (int call = 0; call < counts.calls; ++call) builder.wait(side, builder.record(0));
    builder.launch(empty, 0);
  }
  std::vector<Index> buffers;
  for (int i = 0; i < counts.buffers; ++i)
    buffers.push_back(builder.buffer({.name = "memory",
                                      .stream = 0,
                                      .category = core::MemoryCategory::temporary,
                                      .dtype = core::DType::uint8,
                                      .elements = counts.bytes}));
  for (int round = 0; round < counts.rounds; ++round) {
    builder.launch(empty, 0);
    builder.hostWait(builder.record(0));
    for (const Index buffer : buffers) builder.allocate(buffer);
    for (const Index buffer : buffers) builder.release(buffer);
  }
  return finish(std::move(builder));
}

}  // namespace vsim::gpu
