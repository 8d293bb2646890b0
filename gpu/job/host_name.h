#pragma once

#include <string>

namespace vsim::gpu {

/// This machine's name, or "localhost" where the system does not say it.
[[nodiscard]] std::string hostName();

}  // namespace vsim::gpu
