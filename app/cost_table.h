#pragma once

#include "core/profile/cost.h"
#include "core/profile/hardware.h"
#include "core/profile/profile.h"
#include "core/program/step_program.h"
#include "core/scenario/scenario.h"
#include "sim/compute/kernel_model.h"
#include "sim/network/profiled_collectives.h"

namespace vsim::app {

/// Everything that turns a program's work into times on one cluster with one software.
struct CostModels {
  core::ClusterHardware cluster;
  core::Profile profile;  // empty: none
  sim::KernelModel kernels;
  sim::ProfiledCollectives collectives;
  bool compiled = false;
  std::int64_t nodes = 1;
};

/// Models for a scenario: cluster preset, kernel parameters, profile where it names one.
core::ResultAll<CostModels> costModels(const core::Scenario& scenario);
/// The same with `profile` in place of the one that the scenario names.
core::ResultAll<CostModels> costModels(const core::Scenario& scenario, core::Profile profile);

/// Cost of every operation and collective of `program`. Each operation: the profile's point where it fits,
/// else the kernel model. Each collective: point, fit, model, in this order.
core::CostTable costTable(const core::StepProgram& program, const CostModels& models);

/// Memory outside the caching allocator: CUDA context and library workspaces, and what NCCL holds for the
/// program's communicators.
core::Bytes contextBytes(const core::GpuSpec& gpu);
core::Bytes ncclBytes(const core::StepProgram& program, const CostModels& models);

}  // namespace vsim::app
