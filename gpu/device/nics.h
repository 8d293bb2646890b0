#pragma once

#include <string>
#include <vector>

#include "gpu/machine.h"

namespace vsim::gpu::device {

/// The network cards of this host by name, with their rate where the system tells it: InfiniBand and RoCE
/// ports (/sys/class/infiniband), then Ethernet devices with hardware below them (/sys/class/net) that are
/// not the same cards. `root` stands for "/".
[[nodiscard]] std::vector<NicFacts> findNics(const std::string& root = "/");

}  // namespace vsim::gpu::device
