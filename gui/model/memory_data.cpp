#include "gui/model/memory_data.h"

#include <fmt/format.h>

#include <algorithm>

namespace vsim::gui {
namespace {

using core::formatBytes;
using core::formatTime;

std::string failureText(const MemoryData& data) {
  const AllocatorReplay::Failure& f = *data.allocator->failure();
  return fmt::format(
      "out of memory at {}: {} of {} does not fit below the limit of {}; what follows shows how "
      "much would be needed",
      formatTime(data.curve.time(f.event)), bufferTitle(data.program(), f.buffer), formatBytes(f.asked),
      formatBytes(data.limit.allocator()));
}

}  // namespace

MemoryData::MemoryData(std::shared_ptr<const core::ExecutionLog> log, std::size_t rank,
                       const MemoryLimit& boardLimit, const std::atomic<bool>* cancelled)
    : rankClass(rank),
      limit(boardLimit),
      curve(std::move(log), rank, cancelled),
      lifetimes(curve, cancelled),
      check(checkMemory(curve, boardLimit, cancelled)) {
  if (curve.complete() && (cancelled == nullptr || !*cancelled))
    allocator.emplace(lifetimes, limit, cancelled);
}

std::string whyNoMemory(const OpenedRun* run, std::size_t report, std::size_t rankClass) {
  if (run == nullptr) return "No run is open. Open one in the run browser, or a scenario to simulate it.";
  if (run->imported) return "A trace of another program has no memory events. Runs of vsim have them.";
  if (run->loading) return "Reading the log of this run \u2026";
  if (report >= run->logs.size() || run->logs[report] == nullptr)
    return "The log of this run was not kept, so its memory over time is not known. The summary has its "
           "peak; "
           "run it once more to see how it came about.";
  const core::ExecutionLog& log = *run->logs[report];
  if (log.program == nullptr) return "The log of this run has no program: its buffers are not known.";
  if (log.ranks.empty()) return "The log of this run is empty: no rank has run.";
  if (rankClass >= log.ranks.size()) return "The log has no such class of ranks.";
  if (log.ranks[rankClass].memory.empty())
    return "This log has no memory events. Runs that were simulated or measured with vsim run have them.";
  return {};
}

std::size_t worstMemoryClass(const core::ExecutionLog& log) {
  std::size_t worst = 0;
  for (std::size_t i = 1; i < log.ranks.size(); ++i)
    if (log.ranks[i].peak.allocated > log.ranks[worst].peak.allocated) worst = i;
  return worst;
}

std::shared_ptr<const MemoryData> memoryOf(const OpenedRun& run, std::size_t report, std::size_t rankClass,
                                           const std::atomic<bool>* cancelled) {
  if (!whyNoMemory(&run, report, rankClass).empty()) return nullptr;
  const core::HardwareFacts hardware =
      report < run.reports.size() ? run.reports[report].hardware : core::HardwareFacts{};
  auto data =
      std::make_shared<const MemoryData>(run.logs[report], rankClass, memoryLimit(hardware), cancelled);
  if (cancelled != nullptr && *cancelled) return nullptr;
  return data;
}

std::vector<std::string> memoryRemarks(const MemoryData& data) {
  std::vector<std::string> remarks;
  if (data.allocator && data.allocator->failure()) remarks.push_back(failureText(data));
  if (!data.check.holds() && !(data.check.overLimitAlone && !remarks.empty()))
    remarks.push_back(fmt::format("{}{}", data.check.first,
                                  data.check.violations > 1
                                      ? fmt::format(" ({} events in all)", data.check.violations)
                                      : std::string()));
  if (!data.curve.complete())
    remarks.push_back(
        fmt::format("the log begins after {} were allocated: what they are is not known, except for "
                    "what is released later",
                    formatBytes(data.curve.allocated(-1))));
  const core::MemoryPeak& peak = data.curve.rank().peak;
  if (data.curve.peak() >= 0 && peak.allocated > data.curve.allocated(data.curve.peak()))
    remarks.push_back(fmt::format("the run's peak of {} was before the events that were kept",
                                  formatBytes(peak.allocated)));
  return remarks;
}

std::string allocatorRemark(const MemoryData& data) {
  if (!data.allocator)
    return "There is no map: the log begins after memory was allocated, so where that lies is not known.";
  const std::int64_t differs = data.allocator->differsFrom();
  const std::string& executor = data.curve.log().executor;
  if (differs < 0)
    return executor == "simulator" ? "as simulated"
                                   : "replayed: offsets in segments are the run's, addresses are not";
  if (executor == "host")
    return "replayed: what PyTorch's caching allocator would do with the requests of this host run";
  return fmt::format("replayed: totals differ from the log's from event {} on", differs + 1);
}

DataTable curveTable(const MemoryCurve& curve, std::optional<TimeRange> limit) {
  DataTable table;
  table.header = {"event",          "time (us)",       "action", "buffer", "allocated (bytes)",
                  "active (bytes)", "reserved (bytes)"};
  table.numeric = {true, true, false, false, true, true, true};
  for (std::size_t p = 0; p < kMemoryParts; ++p) {
    table.header.push_back(fmt::format("{} (bytes)", memoryPartName(p)));
    table.numeric.push_back(true);
  }
  const std::int64_t begin = limit ? curve.firstAt(limit->begin) : 0;
  const std::int64_t end = limit ? curve.firstAt(limit->end) : curve.size();
  MemoryParts parts = curve.partsAfter(begin - 1);
  for (std::int64_t i = begin; i < end; ++i) {
    const core::MemoryEvent& e = curve.events()[static_cast<std::size_t>(i)];
    parts[curve.part(e.buffer)] += curve.change(i);
    std::vector<std::string> row{std::to_string(i + 1),
                                 fmt::format("{:.6f}", static_cast<double>(e.time) * 1e-6),
                                 e.allocate ? "allocate" : "free",
                                 bufferTitle(*curve.log().program, e.buffer),
                                 std::to_string(e.allocated),
                                 std::to_string(e.active),
                                 std::to_string(e.reserved)};
    for (const core::Bytes bytes : parts) row.push_back(std::to_string(bytes));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace vsim::gui
