#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/csv_table.h"
#include "core/base/error.h"

namespace vsim::app {

/// One measured kernel, as the table states it. Sizes that the row leaves empty are 0.
struct KernelRow {
  std::string id, source, gpu, op, format, library, flag, note;
  std::int64_t m = 0, n = 0, k = 0, groups = 0, topk = 0;
  std::int64_t batch = 0, queries = 0, keys = 0, heads = 0, kvHeads = 0, headDim = 0, headDimValue = 0;
  bool causal = false;
  std::int64_t elements = 0, bytes = 0;
  double timeUs = 0;  // 0: not stated
  /// Hash of the shape columns: rows of one shape share it whatever measured them.
  std::uint64_t shapeHash = 0;

  /// Value of "name=value" in the note (separated by ';' or spaces); empty when it is not there.
  [[nodiscard]] std::string noteValue(std::string_view name) const;
  /// Whether the note contains the word.
  [[nodiscard]] bool noteHas(std::string_view word) const;
};

/// True when `table` has the columns of a kernel table.
bool isKernelTable(const CsvTable& table);

/// Rows of a kernel table (columns row_id, gpu, op, dtype, m, n, k, time_us; more where an operation needs
/// them). Errors with line and column: missing columns, sizes that are no integers, negative or above 10^15,
/// times that are no positive finite numbers.
core::ResultAll<std::vector<KernelRow>> readKernelRows(const CsvTable& table);

}  // namespace vsim::app
