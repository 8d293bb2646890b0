#pragma once

#include "core/base/error.h"
#include "core/profile/profile.h"
#include "core/scenario/scenario.h"

namespace vsim::app {

/// The cluster that a scenario means: its preset, or the one that its cluster's profile describes. Errors: an
/// unknown preset; an unreadable profile, one without a description, or one that says too little: of the
/// board, or of the NICs where the scenario's GPUs are more than one node's.
core::ResultAll<core::ClusterHardware> clusterHardware(const core::Scenario& scenario);

/// The same where the profile is at hand.
core::ResultAll<core::ClusterHardware> clusterHardware(const core::Scenario& scenario,
                                                       const core::Profile& described);

}  // namespace vsim::app
