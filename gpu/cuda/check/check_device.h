#pragma once

#include <nlohmann/json_fwd.hpp>

#include "gpu/cuda/check/checks.h"

namespace vsim::gpu::cuda {

/// All checks of the Api's first device, and of the collectives between all; rows go to `table`. `speed`:
/// measures too. The JSON says what was checked with what result: device, versions, clocks before and after,
/// rows.
[[nodiscard]] nlohmann::json checkDevice(device::Api& api, unsigned int seed, bool speed, CheckTable& table);

}  // namespace vsim::gpu::cuda
