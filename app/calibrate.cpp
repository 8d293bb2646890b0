#include "app/calibrate.h"

#include <cctype>

#include "app/group_kernels.h"
#include "app/prediction.h"
#include "core/model/model_graph.h"

namespace vsim::app {

using namespace core;

Outcome<gpu::Calibration> calibrateMachine(gpu::Machine& machine, const std::optional<Scenario>& scenario,
                                           const CalibrateOptions& options, const RealProgress& progress) {
  gpu::CalibrationOptions calibration;
  calibration.budgetSeconds = options.budgetSeconds;
  calibration.started = options.started;
  calibration.progress = progress;
  if (scenario) {
    calibration.scale = machine.facts().executor == "host" ? scenario->real.scale : 1;
    if (auto fits = checkRanks(*scenario, machine.ranks()); !fits) return wrongInput(fits.error());
    const ModelGraph graph(scenario->model);
    for (const SystemSpec& spec : scenario->systems) {
      auto prepared = prepare(graph, *scenario, spec);
      if (!prepared) return wrongInput(prepared.error());
      auto program = emitProgram(*prepared);
      if (!program) return wrongInput(program.error());
      calibration.programs.push_back(std::move(*program));
    }
  }
  const auto groupKernels = groupKernelPrograms(machine.ranks());
  if (groupKernels) calibration.groupKernels = *groupKernels;
  auto result = gpu::calibrate(machine, calibration);
  if (!result) return machineFailed(result.error());
  if (!groupKernels && machine.leads())  // models that this number of ranks cannot train
    result->notes.push_back("kernels that move data were not measured by themselves: " +
                            core::text(groupKernels.error()));
  return std::move(*result);
}

std::string profileFileName(const Profile& profile) {
  std::string device;
  for (const char c : profile.hardware ? profile.hardware->device : profile.gpu) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (kept)
      device += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!device.empty() && device.back() != '_')
      device += '_';
  }
  while (!device.empty() && device.back() == '_') device.pop_back();
  constexpr std::size_t kLongest = 40;
  device.resize(std::min(device.size(), kLongest));
  return fmt::format("vsim_profile_{}_{}.yaml", device.empty() ? "unknown" : device, profile.gpus);
}

}  // namespace vsim::app
