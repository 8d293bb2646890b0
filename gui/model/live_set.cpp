#include "gui/model/live_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace vsim::gui {
namespace {

using core::Bytes;
using core::Index;
using core::kNone;

LiveBuffer describe(const Lifetimes& lifetimes, std::int64_t index) {
  const MemoryCurve& curve = lifetimes.curve();
  const Lifetime& l = lifetimes.all()[static_cast<std::size_t>(index)];
  LiveBuffer live;
  live.buffer = l.buffer;
  live.lifetime = index;
  live.bytes = lifetimes.charge(index);
  live.asked = curve.log().program->buffers[l.buffer].bytes();
  const std::int64_t known = l.begin >= 0 ? l.begin : l.end;  // either event has the address
  live.address = curve.events()[static_cast<std::size_t>(known)].address;
  if (l.begin >= 0) live.allocatedAt = curve.time(l.begin);
  if (l.end != kNeverFreed) live.freedAt = curve.time(l.end);
  live.peakIfRemoved = lifetimes.peakWithout(l.buffer);
  return live;
}

std::string microseconds(const std::optional<core::Picoseconds>& time, const char* otherwise) {
  return time ? fmt::format("{:.3f}", static_cast<double>(*time) * 1e-6) : otherwise;
}

}  // namespace

std::size_t LiveSet::buffers() const {
  std::size_t count = 0;
  for (const Part& part : parts)
    for (const Unit& unit : part.units) count += unit.buffers.size();
  return count;
}

std::string bufferTitle(const core::StepProgram& program, Index buffer) {
  if (buffer >= program.buffers.size()) return fmt::format("buffer {}", buffer);
  const core::Buffer& b = program.buffers[buffer];
  return b.unit < program.units.size() ? fmt::format("{} ({})", b.name, program.units[b.unit].name) : b.name;
}

LiveSet liveAfter(const Lifetimes& lifetimes, std::int64_t event) {
  const MemoryCurve& curve = lifetimes.curve();
  const core::StepProgram& program = *curve.log().program;
  LiveSet set;
  set.event = event;
  set.time = curve.time(event);
  const MemoryExtent now = curve.extent(event, event + 1);
  set.allocated = now.allocated.most;
  set.active = now.active.most;
  set.reserved = now.reserved.most;
  if (curve.peak() >= 0) set.runPeak = curve.allocated(curve.peak());
  std::array<std::map<Index, LiveSet::Unit>, kMemoryParts> units;
  for (const std::int64_t index : lifetimes.liveAfter(event)) {
    const LiveBuffer live = describe(lifetimes, index);
    LiveSet::Unit& unit = units[curve.part(live.buffer)][program.buffers[live.buffer].unit];
    unit.bytes += live.bytes;
    unit.buffers.push_back(live);
  }
  const MemoryParts bytes = curve.partsAfter(event);
  for (std::size_t part = 0; part < kMemoryParts; ++part) {
    if (bytes[part] == 0 && units[part].empty()) continue;
    LiveSet::Part entry{part, bytes[part], curve.peakWithout(part), {}};
    for (auto& [index, unit] : units[part]) {
      unit.unit = index;
      unit.name = index < program.units.size() ? program.units[index].name : "no unit";
      std::stable_sort(unit.buffers.begin(), unit.buffers.end(),
                       [](const LiveBuffer& a, const LiveBuffer& b) { return a.bytes > b.bytes; });
      entry.units.push_back(std::move(unit));
    }
    set.parts.push_back(std::move(entry));
  }
  return set;
}

DataTable tableOf(const LiveSet& live, const core::StepProgram& program) {
  DataTable table;
  table.header = {"category",      "unit",
                  "buffer",        "bytes",
                  "asked (bytes)", "address",
                  "stream",        "allocated at (us)",
                  "freed at (us)", "peak if removed (bytes)"};
  table.numeric = {false, false, false, true, true, false, false, true, true, true};
  for (const LiveSet::Part& part : live.parts) {
    const std::string category(memoryPartName(part.part));
    if (part.units.empty())
      table.rows.push_back({category, "", "", std::to_string(part.bytes), "", "", "", "", "", ""});
    for (const LiveSet::Unit& unit : part.units)
      for (const LiveBuffer& b : unit.buffers) {
        const core::Buffer& buffer = program.buffers[b.buffer];
        const std::string stream = buffer.stream < program.streams.size() ? program.streams[buffer.stream]
                                                                          : std::to_string(buffer.stream);
        table.rows.push_back({category, unit.name, buffer.name, std::to_string(b.bytes),
                              std::to_string(b.asked), fmt::format("0x{:x}", b.address), stream,
                              microseconds(b.allocatedAt, "before the log"), microseconds(b.freedAt, "never"),
                              std::to_string(b.peakIfRemoved)});
      }
  }
  return table;
}

}  // namespace vsim::gui
