#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "gpu/machine.h"

namespace vsim::gpu {

/// What the system says about this machine: processor, cores that this process may use, memory that is
/// available (of the control group, where that is less), clock, network cards with their link speeds, NUMA
/// node. `root`: where /proc and /sys are. What is not known is left empty or 0.
[[nodiscard]] RankFacts hostFacts(const std::filesystem::path& root = "/");

/// {"kernel", "6.1.0"}, {"compiler", "g++ 12.2.0"}
[[nodiscard]] std::vector<std::pair<std::string, std::string>> hostVersions();

}  // namespace vsim::gpu
