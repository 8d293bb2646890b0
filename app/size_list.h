#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace vsim::app {

/// "64,96,128..1024": sizes and ranges that double from their first size on, as far as the last; each size
/// once, in the order of writing. Errors: anything else, sizes outside 1 to 2^40, more than 1,000 sizes.
core::Result<std::vector<std::int64_t>> parseSizeList(const std::string& text);

/// "a,b,c" without empty parts.
std::vector<std::string> splitList(const std::string& text);

}  // namespace vsim::app
