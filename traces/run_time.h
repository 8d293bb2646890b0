#pragma once

#include <cstdint>

namespace vsim::traces {

/// When a run that is made now is said to be made, in seconds since 1970, UTC: now, or SOURCE_DATE_EPOCH
/// where that is a number (reproducible-builds.org), so that documents that show stored runs can be remade.
[[nodiscard]] std::int64_t runTime();

}  // namespace vsim::traces
