#include "gui/model/allocation_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace vsim::gui {
namespace {

using Column = AllocationColumn;
using core::Bytes;
using core::Index;
using core::Picoseconds;

const Lifetime& at(const MemoryData& data, std::uint32_t index) { return data.lifetimes.all()[index]; }
const core::Buffer& bufferOf(const MemoryData& data, std::uint32_t index) {
  return data.program().buffers[at(data, index).buffer];
}
Picoseconds endOf(const MemoryData& data, const Lifetime& l) {
  return l.end == kNeverFreed ? data.curve.whole().end : data.curve.time(l.end);
}
std::uint64_t addressOf(const MemoryData& data, const Lifetime& l) {
  return data.curve.events()[static_cast<std::size_t>(l.begin >= 0 ? l.begin : l.end)].address;
}
std::string unitName(const core::StepProgram& program, Index unit) {
  return unit < program.units.size() ? program.units[unit].name : std::string();
}
std::string streamName(const core::StepProgram& program, core::StreamId stream) {
  return stream < program.streams.size() ? program.streams[stream] : std::to_string(stream);
}
std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// [buffer]: whether its words are all there.
std::vector<bool> matching(const MemoryData& data, const std::string& text) {
  const core::StepProgram& program = data.program();
  std::vector<std::string> words;
  std::string word;
  for (const char c : lower(text) + " ") {
    if (c != ' ')
      word += c;
    else if (!word.empty())
      words.push_back(std::exchange(word, {}));
  }
  std::vector<bool> matches(program.buffers.size(), true);
  if (words.empty()) return matches;
  for (Index i = 0; i < program.buffers.size(); ++i) {
    const std::string all =
        lower(fmt::format("{}\n{}\n{}", bufferTitle(program, i), memoryPartName(data.curve.part(i)),
                          streamName(program, program.buffers[i].stream)));
    matches[i] = std::all_of(words.begin(), words.end(),
                             [&](const std::string& w) { return all.find(w) != std::string::npos; });
  }
  return matches;
}

/// [buffer]: its place in the order of names.
template <class Name>
std::vector<std::int64_t> ranks(const core::StepProgram& program, Name name) {
  std::vector<std::string> names;
  for (const core::Buffer& buffer : program.buffers) names.push_back(name(buffer));
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int64_t> result;
  for (const std::string& n : names)
    result.push_back(std::lower_bound(sorted.begin(), sorted.end(), n) - sorted.begin());
  return result;
}

std::int64_t keyOf(const MemoryData& data, std::uint32_t index, Column column) {
  const Lifetime& l = at(data, index);
  const core::Buffer& buffer = data.program().buffers[l.buffer];
  switch (column) {
    case Column::unit:
      return buffer.unit == core::kNone ? -1 : static_cast<std::int64_t>(buffer.unit);
    case Column::category:
      return static_cast<std::int64_t>(data.curve.part(l.buffer));
    case Column::stream:
      return buffer.stream;
    case Column::taken:
      return data.lifetimes.charge(index);
    case Column::asked:
      return buffer.bytes();
    case Column::freedAt:
      return l.end;
    case Column::lifetime:
      return endOf(data, l) - data.curve.time(l.begin);
    case Column::address:
      return static_cast<std::int64_t>(addressOf(data, l) >> 1);
    case Column::allocatedAfter:
      return data.curve.allocated(l.begin);
    case Column::buffer:
    case Column::allocatedAt:
    case Column::step:
      return index;
  }
  return index;
}

std::string microseconds(Picoseconds time) { return fmt::format("{:.6f}", static_cast<double>(time) * 1e-6); }

}  // namespace

std::vector<std::uint32_t> allocationsFor(const MemoryData& data, const AllocationQuery& query,
                                          const std::atomic<bool>* cancelled) {
  const auto stopped = [&] { return cancelled != nullptr && *cancelled; };
  const std::vector<bool> matches = matching(data, query.text);
  std::vector<std::uint32_t> rows;
  const auto count = static_cast<std::uint32_t>(data.lifetimes.all().size());
  for (std::uint32_t i = 0; i < count && !stopped(); ++i) {
    const Lifetime& l = at(data, i);
    if (!matches[l.buffer]) continue;
    if (query.limit && (data.curve.time(l.begin) >= query.limit->end || endOf(data, l) < query.limit->begin))
      continue;
    rows.push_back(i);
  }
  if (query.sort != Column::allocatedAt && query.sort != Column::step && !stopped()) {
    std::vector<std::int64_t> byName;
    if (query.sort == Column::buffer)
      byName = ranks(data.program(), [](const core::Buffer& buffer) { return buffer.name; });
    std::vector<std::pair<std::int64_t, std::uint32_t>> keyed;
    keyed.reserve(rows.size());
    for (const std::uint32_t row : rows)
      keyed.emplace_back(byName.empty() ? keyOf(data, row, query.sort) : byName[at(data, row).buffer], row);
    if (!stopped()) std::sort(keyed.begin(), keyed.end());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = keyed[i].second;
  }
  if (query.descending) std::reverse(rows.begin(), rows.end());
  return rows;
}

std::string allocationText(const MemoryData& data, std::uint32_t lifetime, AllocationColumn column) {
  const Lifetime& l = at(data, lifetime);
  switch (column) {
    case Column::taken:
      return core::formatBytes(data.lifetimes.charge(lifetime));
    case Column::asked:
      return core::formatBytes(bufferOf(data, lifetime).bytes());
    case Column::allocatedAt:
      return l.begin < 0 ? "before the log" : core::formatTime(data.curve.time(l.begin));
    case Column::freedAt:
      return l.end == kNeverFreed ? "never" : core::formatTime(data.curve.time(l.end));
    case Column::lifetime:
      return l.begin < 0 || l.end == kNeverFreed
                 ? "> " + core::formatTime(endOf(data, l) - data.curve.time(l.begin))
                 : core::formatTime(endOf(data, l) - data.curve.time(l.begin));
    case Column::allocatedAfter:
      return core::formatBytes(data.curve.allocated(l.begin));
    default:
      return allocationValue(data, lifetime, column);
  }
}

std::string allocationValue(const MemoryData& data, std::uint32_t lifetime, AllocationColumn column) {
  const Lifetime& l = at(data, lifetime);
  const core::Buffer& buffer = bufferOf(data, lifetime);
  switch (column) {
    case Column::buffer:
      return buffer.name;
    case Column::unit:
      return unitName(data.program(), buffer.unit);
    case Column::category:
      return std::string(memoryPartName(data.curve.part(l.buffer)));
    case Column::stream:
      return streamName(data.program(), buffer.stream);
    case Column::taken:
      return std::to_string(data.lifetimes.charge(lifetime));
    case Column::asked:
      return std::to_string(buffer.bytes());
    case Column::allocatedAt:
      return l.begin < 0 ? "" : microseconds(data.curve.time(l.begin));
    case Column::freedAt:
      return l.end == kNeverFreed ? "" : microseconds(data.curve.time(l.end));
    case Column::lifetime:
      return microseconds(endOf(data, l) - data.curve.time(l.begin));
    case Column::address:
      return fmt::format("0x{:x}", addressOf(data, l));
    case Column::step:
      return l.begin < 0 || data.curve.time(l.begin) == 0
                 ? "setup"
                 : std::to_string(data.curve.events()[static_cast<std::size_t>(l.begin)].step + 1);
    case Column::allocatedAfter:
      return std::to_string(data.curve.allocated(l.begin));
  }
  return {};
}

DataTable allocationTable(const MemoryData& data, const std::vector<std::uint32_t>& rows) {
  DataTable table;
  for (std::size_t c = 0; c < kAllocationColumns; ++c) {
    const auto column = static_cast<Column>(c);
    const bool bytes = column == Column::taken || column == Column::asked || column == Column::allocatedAfter;
    const bool time = column >= Column::allocatedAt && column <= Column::lifetime;
    table.header.push_back(std::string(kAllocationColumnNames[c]) + (bytes  ? " (bytes)"
                                                                     : time ? " (us)"
                                                                            : ""));
    table.numeric.push_back(isNumeric(column));
  }
  for (const std::uint32_t row : rows) {
    std::vector<std::string> cells;
    for (std::size_t c = 0; c < kAllocationColumns; ++c)
      cells.push_back(allocationValue(data, row, static_cast<Column>(c)));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace vsim::gui
