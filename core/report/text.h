#pragma once

#include <span>
#include <string>

#include "core/report/report.h"

namespace vsim::core {

/// The report for a terminal: a table with one column per run, the phases and collectives of each run, and a
/// one-line verdict per run. Ends with a newline.
[[nodiscard]] std::string toText(std::span<const RunReport> runs);

/// "Fits: 61.2 of 80.0 GiB used ..." in one line, without a newline.
[[nodiscard]] std::string verdict(const RunReport& run);

/// How the figures come about: the formulas of MFU and HFU with the numbers put in, what counts as exposed,
/// where the step time comes from.
[[nodiscard]] std::string explain(const RunReport& run);

}  // namespace vsim::core
