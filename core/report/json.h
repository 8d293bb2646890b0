#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/report/report.h"

namespace vsim::core {

/// The documented result: {"scenario": ..., "runs": [{...}]}, one run per system and sweep point. Names are
/// stable; ratios are fractions; times are seconds, null when no step completed. Ends with a newline.
[[nodiscard]] std::string toJson(const std::string& scenario, std::span<const RunReport> runs);

/// Everything a RunReport holds, for the run store: reportsFromJson gives it back unchanged.
[[nodiscard]] std::string toCompleteJson(std::span<const RunReport> runs);
[[nodiscard]] Result<std::vector<RunReport>> reportsFromJson(std::string_view text);

}  // namespace vsim::core
