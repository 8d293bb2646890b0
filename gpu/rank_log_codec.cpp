#include "gpu/rank_log_codec.h"

#include "gpu/byte_stream.h"

namespace vsim::gpu {

using core::MemoryEvent;
using core::MemoryPeak;
using core::RankLog;
using core::Slice;

namespace {

constexpr std::uint64_t kByte = 255, kIndex = core::kNone;
constexpr std::uint64_t kLogMark = 0x7673'0001, kFactsMark = 0x7673'1002;  // what the bytes are, and version

/// Sum that wraps: damaged bytes may say anything.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// Lists are no longer than the bytes that are left: each entry takes at least one.
std::size_t length(ByteReader& in) { return static_cast<std::size_t>(in.number(in.left())); }

void write(ByteWriter& out, const std::vector<Slice>& slices) {
  out.number(slices.size());
  std::int64_t last = 0;
  for (const Slice& s : slices) {
    out.number(s.instruction);
    out.number(s.stream);
    out.number(s.step);
    out.number(static_cast<std::uint64_t>(s.provenance));
    out.signedNumber(s.issued - last);
    out.signedNumber(s.begin - s.issued);
    out.signedNumber(s.end - s.begin);
    last = s.issued;
  }
}

void read(ByteReader& in, std::vector<Slice>& slices) {
  slices.resize(length(in));
  std::int64_t last = 0;
  for (Slice& s : slices) {
    s.instruction = static_cast<core::Index>(in.number(kIndex));
    s.stream = static_cast<core::StreamId>(in.number(kByte));
    s.step = static_cast<std::uint8_t>(in.number(kByte));
    s.provenance = static_cast<core::Provenance>(in.number(core::kProvenanceNames.size() - 1));
    last = s.issued = plus(last, in.signedNumber());
    s.begin = plus(s.issued, in.signedNumber());
    s.end = plus(s.begin, in.signedNumber());
  }
}

void write(ByteWriter& out, const std::vector<MemoryEvent>& events) {
  out.number(events.size());
  MemoryEvent last;
  for (const MemoryEvent& e : events) {
    out.number(e.buffer);
    out.number(e.step);
    out.number(e.allocate ? 1 : 0);
    out.number(e.address);
    out.signedNumber(e.time - last.time);
    out.signedNumber(e.allocated - last.allocated);
    out.signedNumber(e.active - e.allocated);
    out.signedNumber(e.reserved - last.reserved);
    last = e;
  }
}

void read(ByteReader& in, std::vector<MemoryEvent>& events) {
  events.resize(length(in));
  MemoryEvent last;
  for (MemoryEvent& e : events) {
    e.buffer = static_cast<core::Index>(in.number(kIndex));
    e.step = static_cast<std::uint8_t>(in.number(kByte));
    e.allocate = in.number(1) == 1;
    e.address = in.number();
    e.time = plus(last.time, in.signedNumber());
    e.allocated = plus(last.allocated, in.signedNumber());
    e.active = plus(e.allocated, in.signedNumber());
    e.reserved = plus(last.reserved, in.signedNumber());
    last = e;
  }
}

void write(ByteWriter& out, const MemoryPeak& peak) {
  for (const core::Bytes bytes : {peak.allocated, peak.active, peak.reserved}) out.signedNumber(bytes);
  for (const core::Bytes bytes : peak.byCategory) out.signedNumber(bytes);
  out.signedNumber(peak.time);
  out.signedNumber(peak.allocationRetries);
  out.number(peak.outOfMemory ? 1 : 0);
  out.text(peak.outOfMemoryBuffer);
}

void read(ByteReader& in, MemoryPeak& peak) {
  for (core::Bytes* bytes : {&peak.allocated, &peak.active, &peak.reserved}) *bytes = in.signedNumber();
  for (core::Bytes& bytes : peak.byCategory) bytes = in.signedNumber();
  peak.time = in.signedNumber();
  peak.allocationRetries = in.signedNumber();
  peak.outOfMemory = in.number(1) == 1;
  peak.outOfMemoryBuffer = in.text();
}

void write(ByteWriter& out, const std::vector<core::Picoseconds>& times) {
  out.number(times.size());
  for (const core::Picoseconds time : times) out.signedNumber(time);
}

void read(ByteReader& in, std::vector<core::Picoseconds>& times) {
  times.resize(length(in));
  for (core::Picoseconds& time : times) time = in.signedNumber();
}

void write(ByteWriter& out, const RankFacts& f) {
  for (const std::string* text : {&f.host, &f.device, &f.rack}) out.text(*text);
  for (const int value : {f.localRank, f.computeCapability, f.sms, f.processorSocket})
    out.signedNumber(value);
  out.signedNumber(f.memory);
  out.signedNumber(f.freeMemory);
  out.real(f.clockHertz);
  out.real(f.nvlinkBytesPerSecond);
  out.number(f.nics.size());
  for (const NicFacts& nic : f.nics) {
    out.text(nic.name);
    out.real(nic.bytesPerSecond);
  }
}

void read(ByteReader& in, RankFacts& f) {
  for (std::string* text : {&f.host, &f.device, &f.rack}) *text = in.text();
  for (int* value : {&f.localRank, &f.computeCapability, &f.sms, &f.processorSocket})
    *value = static_cast<int>(in.signedNumber());
  f.memory = in.signedNumber();
  f.freeMemory = in.signedNumber();
  f.clockHertz = in.real();
  f.nvlinkBytesPerSecond = in.real();
  f.nics.resize(length(in));
  for (NicFacts& nic : f.nics) {
    nic.name = in.text();
    nic.bytesPerSecond = in.real();
  }
}

/// Nothing may be missing, and nothing left over.
template <class T>
core::Result<T> whole(const ByteReader& in, T value, const char* what) {
  if (in.failed() || in.left() != 0)
    return core::fail(fmt::format("a process sent {} that this version of vsim cannot read", what),
                      "all processes of a job must run the same build of vsim");
  return value;
}

}  // namespace

std::string encodeProcessLog(const ProcessLog& log) {
  ByteWriter out;
  out.number(kLogMark);
  out.number(log.instructionsExecuted);
  out.number(log.ranks.size());
  for (const RankLog& rank : log.ranks) {
    out.text(rank.name);
    out.signedNumber(rank.firstRank);
    out.signedNumber(rank.ranks);
    write(out, rank.slices);
    write(out, rank.memory);
    write(out, rank.stepBegin);
    write(out, rank.stepEnd);
    write(out, rank.peak);
    write(out, rank.lastStepPeak);
  }
  return out.take();
}

core::Result<ProcessLog> decodeProcessLog(std::string_view bytes) {
  ByteReader in(bytes);
  ProcessLog log;
  if (in.number() != kLogMark) in.number(0);
  log.instructionsExecuted = in.number();
  log.ranks.resize(length(in));
  for (RankLog& rank : log.ranks) {
    rank.name = in.text();
    rank.firstRank = in.signedNumber();
    rank.ranks = in.signedNumber();
    read(in, rank.slices);
    read(in, rank.memory);
    read(in, rank.stepBegin);
    read(in, rank.stepEnd);
    read(in, rank.peak);
    read(in, rank.lastStepPeak);
  }
  return whole(in, std::move(log), "a log");
}

std::string encodeRankFacts(const std::vector<RankFacts>& ranks) {
  ByteWriter out;
  out.number(kFactsMark);
  out.number(ranks.size());
  for (const RankFacts& facts : ranks) write(out, facts);
  return out.take();
}

core::Result<std::vector<RankFacts>> decodeRankFacts(std::string_view bytes) {
  ByteReader in(bytes);
  std::vector<RankFacts> ranks;
  if (in.number() != kFactsMark) in.number(0);
  ranks.resize(length(in));
  for (RankFacts& facts : ranks) read(in, facts);
  return whole(in, std::move(ranks), "facts about its machine");
}

}  // namespace vsim::gpu
