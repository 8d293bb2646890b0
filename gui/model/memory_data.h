#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "gui/model/allocator_map.h"
#include "gui/model/data_table.h"
#include "gui/model/live_set.h"

namespace vsim::gui {

/// Everything about the memory of one class of ranks. Immutable once made; parts refer to each other.
struct MemoryData {
  MemoryData(std::shared_ptr<const core::ExecutionLog> log, std::size_t rankClass,
             const MemoryLimit& boardLimit, const std::atomic<bool>* cancelled);
  MemoryData(const MemoryData&) = delete;
  MemoryData& operator=(const MemoryData&) = delete;

  std::size_t rankClass;
  MemoryLimit limit;
  MemoryCurve curve;
  Lifetimes lifetimes;
  MemoryCheck check;
  std::optional<AllocatorReplay> allocator;  // none for logs that begin in the middle

  [[nodiscard]] const core::StepProgram& program() const { return *curve.log().program; }
};

/// Why there is no memory to look at, as a sentence for the user; empty: there is.
[[nodiscard]] std::string whyNoMemory(const OpenedRun* run, std::size_t report, std::size_t rankClass);
/// The class whose peak is the highest, as the report has it.
[[nodiscard]] std::size_t worstMemoryClass(const core::ExecutionLog& log);
/// Takes O(n): for background threads. Null: cancelled, or whyNoMemory() says why.
[[nodiscard]] std::shared_ptr<const MemoryData> memoryOf(const OpenedRun& run, std::size_t report,
                                                         std::size_t rankClass,
                                                         const std::atomic<bool>* cancelled = nullptr);

/// What the user should know of where the numbers come from: sentences, most important first.
[[nodiscard]] std::vector<std::string> memoryRemarks(const MemoryData& data);
/// How far the map is what happened: "replayed: ..." or "as simulated".
[[nodiscard]] std::string allocatorRemark(const MemoryData& data);
/// The curve as rows: time and totals after each event, and bytes by category.
[[nodiscard]] DataTable curveTable(const MemoryCurve& curve, std::optional<TimeRange> limit);

}  // namespace vsim::gui
