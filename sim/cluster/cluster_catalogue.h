#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/profile/hardware.h"

namespace vsim::sim {

/// The cluster called `name` ("h100-rail-optimized", "gb200-nvl72", ...). An unknown name is refused with the
/// nearest known one, or the list of them.
core::Result<core::ClusterHardware> clusterPreset(const std::string& name);

/// Names of all presets, in the catalogue's order (by GPU, then by fabric).
std::vector<std::string> clusterPresetNames();

/// One line about a preset: board, GPUs per node, NICs, fabric. Empty when the name is unknown.
std::string clusterPresetSummary(const std::string& name);

/// GPUs that reach each other without a NIC: the NVLink domain of a rack-scale system, else the node.
int gpusPerDomain(const core::ClusterHardware& cluster);

/// NICs of all nodes of one domain.
int nicsPerDomain(const core::ClusterHardware& cluster);

}  // namespace vsim::sim
