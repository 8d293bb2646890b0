#pragma once

#include <string>

#include "gpu/job/launch.h"

namespace vsim::gpu {

/// The rack of this process's host: VSIM_RACK where it is set, else the switch that a Slurm step says the
/// host hangs on (SLURM_TOPOLOGY_ADDR "spine.leaf3.node17" with SLURM_TOPOLOGY_ADDR_PATTERN
/// "switch.switch.node" is "spine.leaf3"; man sbatch, "output environment variables"). Empty: nobody says.
[[nodiscard]] std::string rackName(const Variables& variables);
/// Of this process.
[[nodiscard]] std::string rackName();

}  // namespace vsim::gpu
