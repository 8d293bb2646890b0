#include "traces/log_codec.h"

#include <iterator>
#include <memory>

#include "traces/byte_archive.h"
#include "traces/packed_bytes.h"
#include "traces/slice_text.h"

namespace vsim::traces {
namespace {

constexpr std::string_view kMagic = "vlog";
constexpr int kFormat = 1;

// One list of members per type serves writing and reading.

template <class Archive, class... T>
void fields(Archive& archive, T&... values) {
  (archive(values), ...);
}
template <class Archive, class List>
void scalars(Archive& archive, List& values) {
  archive.list(values);
  for (auto& value : values) archive(value);
}
template <class Archive, class List, class Each>
void each(Archive& archive, List& values, Each&& visit) {
  archive.list(values);
  for (auto& value : values) visit(value);
}

template <class Archive, class Operation>
void operationFields(Archive& a, Operation& o) {
  fields(a, o.kind, o.memoryOp, o.backward, o.dtype, o.name, o.count, o.m, o.n, o.k, o.groups,
         o.accumulatesFp32, o.batch, o.sequence, o.heads, o.kvHeads, o.headDim, o.headDimValue, o.window,
         o.causal, o.flops, o.causalFlops, o.bytesRead, o.bytesWritten);
}

template <class Archive, class List>
void instructionFields(Archive& a, List& instructions) {
  each(a, instructions,
       [&](auto& i) { fields(a, i.kind, i.stream, i.phase, i.firstStepOnly, i.operand, i.label); });
}

template <class Archive, class Program>
void programFields(Archive& a, Program& p) {
  fields(a, p.system, p.events, p.microBatches);
  scalars(a, p.streams);
  scalars(a, p.labels);
  each(a, p.groups, [&](auto& g) { fields(a, g.name, g.size, g.stride); });
  each(a, p.units, [&](auto& u) {
    fields(a, u.name, u.contiguous, u.devices, u.shardElements, u.group, u.tensorTable, u.parameters,
           u.gradients);
  });
  each(a, p.tensorTables, [&](auto& table) {
    each(a, table, [&](auto& t) {
      fields(a, t.name, t.elements, t.rowElements, t.offset, t.shardRows, t.shardOffset);
    });
  });
  each(a, p.buffers,
       [&](auto& b) { fields(a, b.name, b.unit, b.stream, b.category, b.dtype, b.elements, b.extraBytes); });
  each(a, p.operations, [&](auto& o) { operationFields(a, o); });
  each(a, p.kernels, [&](auto& k) {
    fields(a, k.operation, k.role, k.unit);
    scalars(a, k.reads);
    scalars(a, k.writes);
  });
  each(a, p.collectives, [&](auto& c) {
    fields(a, c.kind, c.reduce, c.group, c.unit, c.dtype, c.sendElements, c.receiveElements, c.input,
           c.output, c.inPlace, c.aligned16);
  });
  instructionFields(a, p.setup);
  instructionFields(a, p.step);
}

/// Integers that change little from one element to the next, as differences (modulo 2^64).
class Delta {
 public:
  template <class T>
  void operator()(ByteWriter& archive, const T& value) {
    const auto bits = static_cast<std::uint64_t>(value);
    archive.number(static_cast<std::int64_t>(bits - last_));
    last_ = bits;
  }
  template <class T>
  void operator()(ByteReader& archive, T& value) {
    last_ += static_cast<std::uint64_t>(archive.number());
    value = static_cast<T>(last_);
  }

 private:
  std::uint64_t last_ = 0;
};

// Long lists go column by column: equal neighbours compress to almost nothing.

template <class Archive, class List, class Member>
void column(Archive& archive, List& list, Member&& member) {
  for (auto& item : list) archive(member(item));
}
template <class Archive, class List, class Member>
void differences(Archive& archive, List& list, Member&& member) {
  Delta delta;
  for (auto& item : list) delta(archive, member(item));
}

template <class Archive, class Ranks>
void rankFields(Archive& a, Ranks& r) {
  fields(a, r.name, r.firstRank, r.ranks);
  scalars(a, r.stepBegin);
  scalars(a, r.stepEnd);
  a.list(r.slices);
  differences(
      a, r.slices, [](auto& s) -> auto& { return s.instruction; });
  column(
      a, r.slices, [](auto& s) -> auto& { return s.stream; });
  column(
      a, r.slices, [](auto& s) -> auto& { return s.step; });
  column(
      a, r.slices, [](auto& s) -> auto& { return s.provenance; });
  differences(
      a, r.slices, [](auto& s) -> auto& { return s.issued; });
  differences(
      a, r.slices, [](auto& s) -> auto& { return s.begin; });
  differences(
      a, r.slices, [](auto& s) -> auto& { return s.end; });
  a.list(r.memory);
  differences(
      a, r.memory, [](auto& m) -> auto& { return m.time; });
  differences(
      a, r.memory, [](auto& m) -> auto& { return m.buffer; });
  column(
      a, r.memory, [](auto& m) -> auto& { return m.step; });
  column(
      a, r.memory, [](auto& m) -> auto& { return m.allocate; });
  differences(
      a, r.memory, [](auto& m) -> auto& { return m.address; });
  differences(
      a, r.memory, [](auto& m) -> auto& { return m.allocated; });
  differences(
      a, r.memory, [](auto& m) -> auto& { return m.active; });
  differences(
      a, r.memory, [](auto& m) -> auto& { return m.reserved; });
  fields(a, r.peak.allocated, r.peak.active, r.peak.reserved, r.peak.time, r.peak.allocationRetries,
         r.peak.outOfMemory, r.peak.outOfMemoryBuffer);
  for (auto& bytes : r.peak.byCategory) a(bytes);
}

/// Values that index arrays of names.
bool namesAreKnown(const core::ExecutionLog& log) {
  const auto in = [](auto value, std::size_t size) { return static_cast<std::size_t>(value) < size; };
  for (const auto* list : {&log.program->setup, &log.program->step})
    for (const core::Instruction& i : *list)
      if (!in(i.phase, std::size(core::kPhaseNames))) return false;
  for (const core::Buffer& b : log.program->buffers)
    if (!in(b.category, std::size(core::kMemoryCategoryNames))) return false;
  for (const core::Collective& c : log.program->collectives)
    if (!in(c.kind, std::size(core::kCollectiveNames))) return false;
  for (const core::RankLog& ranks : log.ranks)
    for (const core::Slice& s : ranks.slices)
      if (!in(s.provenance, core::kProvenanceNames.size())) return false;
  return true;
}

tl::unexpected<core::Error> damaged() { return core::fail("the stored log is damaged"); }

}  // namespace

std::string encodeLog(const core::ExecutionLog& log) {
  VSIM_CHECK(log.program != nullptr, "the log carries its program");
  ByteWriter writer;
  fields(writer, kFormat, log.executor, log.instructionsExecuted);
  programFields(writer, *log.program);
  each(writer, log.ranks, [&](const core::RankLog& ranks) { rankFields(writer, ranks); });
  return packBytes(kMagic, std::move(writer).take());
}

core::Result<core::ExecutionLog> decodeLog(std::string_view blob) {
  const auto plain = unpackBytes(kMagic, blob);
  if (!plain) return damaged();
  ByteReader reader(*plain);
  int format = 0;
  reader(format);
  if (format != kFormat) return core::fail("the stored log has a format of another version of vsim");
  core::ExecutionLog log;
  fields(reader, log.executor, log.instructionsExecuted);
  const auto program = std::make_shared<core::StepProgram>();
  programFields(reader, *program);
  log.program = program;
  each(reader, log.ranks, [&](core::RankLog& ranks) { rankFields(reader, ranks); });
  if (!reader.ok() || !reader.atEnd() || !namesAreKnown(log) || !isConsistent(log)) return damaged();
  return log;
}

}  // namespace vsim::traces
