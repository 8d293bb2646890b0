#pragma once

#include <cstdint>
#include <string>

#include "core/report/report.h"

namespace vsim::gui {

// Figures as the report for a terminal writes them (core/report/text.h), so that both say the same.

/// "12.34 ms"; "0" for nothing.
[[nodiscard]] std::string timeText(double seconds);
/// "12.3 %".
[[nodiscard]] std::string percentText(double fraction);
/// "123.4 M", "9,876.5": a rate with three to five significant digits.
[[nodiscard]] std::string rateText(double perSecond);
/// "123.4 GB/s".
[[nodiscard]] std::string bandwidthText(double bytesPerSecond);
/// "12.8 TB/s" of a whole cluster; below 1 TB/s as bandwidthText().
[[nodiscard]] std::string largeBandwidthText(double bytesPerSecond);
/// "+1.5 ms", "-3.00 GiB", "0": always with its sign.
[[nodiscard]] std::string signedTimeText(double seconds);
[[nodiscard]] std::string signedBytesText(double bytes);
[[nodiscard]] std::string signedPercentText(double fraction);

/// What the terminal's report calls a category: "unsharded parameters", "NCCL and context".
[[nodiscard]] std::string categoryText(core::MemoryCategory category);
/// The sweep point, "cluster.gpus=1024 batch.micro_batch=2"; empty without overrides.
[[nodiscard]] std::string pointText(const core::RunReport& report);
/// Number for a table cell: nine significant digits, no thousands.
[[nodiscard]] std::string plainNumber(double value);

}  // namespace vsim::gui
