#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/profile/hardware.h"

namespace vsim::sim {

/// The board called `name` ("H100-SXM", "A100-PCIe-80GB", ...), or null when the catalogue has none. The
/// catalogue is constant: the pointer stays valid for the life of the program.
const core::GpuSpec* findGpu(std::string_view name);

/// Names of all boards, in the catalogue's order (by family, then by board).
std::vector<std::string> gpuNames();

}  // namespace vsim::sim
