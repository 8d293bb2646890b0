#pragma once

#include "core/profile/cost.h"
#include "core/profile/hardware.h"
#include "core/profile/profile.h"
#include "core/program/step_program.h"
#include "core/scenario/scenario.h"
#include "sim/compute/profiled_kernels.h"
#include "sim/network/profiled_collectives.h"

namespace vsim::app {

/// Everything that turns a program's work into times on one cluster with one software.
struct CostModels {
  core::ClusterHardware cluster;
  core::Profile profile;  // empty: none
  sim::ProfiledKernels kernels;
  sim::ProfiledCollectives collectives;
  bool compiled = false;
  std::int64_t nodes = 1;
};

/// Models for a scenario: its cluster, kernel parameters, and the profile that it names, else that of its
/// cluster where a profile describes it.
core::ResultAll<CostModels> costModels(const core::Scenario& scenario);
/// Models of the hardware that `profile` was measured on (the scenario's cluster where it does not say), with
/// its costs: for predicting what runs on that hardware.
core::ResultAll<CostModels> costModels(const core::Scenario& scenario, core::Profile profile);

/// Cost of every operation and collective of `program`, by ProfiledKernels and ProfiledCollectives. Host
/// costs: those of the profile, estimates where it has none.
core::CostTable costTable(const core::StepProgram& program, const CostModels& models);

/// Memory outside the caching allocator: CUDA context and library workspaces, and what NCCL holds for the
/// program's communicators. Processors (compute capability 0) have neither.
core::Bytes contextBytes(const core::GpuSpec& gpu);
core::Bytes ncclBytes(const core::StepProgram& program, const CostModels& models);

}  // namespace vsim::app
