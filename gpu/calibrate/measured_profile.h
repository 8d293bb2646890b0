#pragma once

#include "gpu/calibrate/schedule.h"

namespace vsim::gpu {

/// The profile of everything in `schedule` that has a result, with the hardware as the ranks found it. Peaks
/// that nobody states are those of the best measurement: FLOP/s of the fastest product, memory bandwidth of
/// the fastest copy (any memory-bound kernel where there is none).
[[nodiscard]] core::Profile measuredProfile(const MachineFacts& facts, const Schedule& schedule,
                                            const std::string& started);

/// The cluster that the ranks make. What was not found stays 0.
[[nodiscard]] core::ClusterHardware clusterOf(const MachineFacts& facts);

}  // namespace vsim::gpu
