#pragma once

#include <string_view>

#include "core/base/error.h"

namespace vsim::app {

/// "90", "90s", "10m", "1.5h" as seconds. Errors: no number, another unit, not above 0, more than 30 days.
[[nodiscard]] core::Result<double> parseDuration(std::string_view text);

/// "45 s", "3 min 20 s", "1 h 5 min".
[[nodiscard]] std::string durationText(double seconds);

}  // namespace vsim::app
