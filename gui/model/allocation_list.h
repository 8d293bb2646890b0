#pragma once

#include <array>
#include <string>
#include <vector>

#include "gui/model/memory_data.h"

namespace vsim::gui {

enum class AllocationColumn : std::uint8_t {
  buffer,
  unit,
  category,
  stream,
  taken,
  asked,
  allocatedAt,
  freedAt,
  lifetime,
  address,
  step,
  allocatedAfter,
};
inline constexpr std::size_t kAllocationColumns = 12;
inline constexpr std::array<std::string_view, kAllocationColumns> kAllocationColumnNames{
    "buffer",       "unit",     "category", "stream",  "taken", "asked",
    "allocated at", "freed at", "lifetime", "address", "step",  "allocated after"};
[[nodiscard]] constexpr bool isNumeric(AllocationColumn column) {
  return column == AllocationColumn::taken || column == AllocationColumn::asked ||
         (column >= AllocationColumn::allocatedAt && column != AllocationColumn::address);
}

/// Which allocations are listed, and in what order. Plain value.
struct AllocationQuery {
  std::string text{};  // words that the name, unit, category or stream must all contain; case does not count
  std::optional<TimeRange> limit{};  // live at some time within
  AllocationColumn sort = AllocationColumn::allocatedAt;
  bool descending = false;
};

/// Indices into Lifetimes::all(). O(n log n) for columns other than the time of allocation.
[[nodiscard]] std::vector<std::uint32_t> allocationsFor(const MemoryData& data, const AllocationQuery& query,
                                                        const std::atomic<bool>* cancelled = nullptr);
/// What the cell shows: "12.50 MiB", "3.20 ms", "never".
[[nodiscard]] std::string allocationText(const MemoryData& data, std::uint32_t lifetime,
                                         AllocationColumn column);
/// The same as a plain number where it is one: bytes, microseconds.
[[nodiscard]] std::string allocationValue(const MemoryData& data, std::uint32_t lifetime,
                                          AllocationColumn column);
/// Allocations with units in the header.
[[nodiscard]] DataTable allocationTable(const MemoryData& data, const std::vector<std::uint32_t>& rows);

}  // namespace vsim::gui
