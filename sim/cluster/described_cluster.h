#pragma once

#include <string_view>

#include "core/base/error.h"
#include "core/profile/profile.h"

namespace vsim::sim {

/// The catalogue's board that a driver calls `device` ("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB"), or
/// whose name it is; null when the catalogue has none.
const core::GpuSpec* boardOfDevice(std::string_view device);

/// The cluster that a profile describes, completed for the simulator. A cluster that names a preset and no
/// board is the preset. What a hand-written description leaves out of its board comes from the catalogue.
/// Measured descriptions (with an executor) of boards that the catalogue knows keep their memory and NVLink
/// alone: their peaks are what kernels reached, and the kernel model's efficiencies are shares of the
/// datasheet's. On the host executor the description is all there is: cores, and the rates that its kernels
/// reached.
///
/// Errors: an unknown preset without a board; a board that neither the description nor the catalogue knows,
/// with what is missing.
core::Result<core::ClusterHardware> describedCluster(const core::ProfiledHardware& hardware);

}  // namespace vsim::sim
