#include "app/real_profile.h"

#include <algorithm>

#include "app/share_outcome.h"
#include "gpu/calibrate/calibration.h"

namespace vsim::app {
namespace {

using namespace core;

/// What is wrong with a profile for this run; empty: nothing.
std::string unfit(const Profile& profile, const gpu::MachineFacts& facts, double scale,
                  const std::vector<std::shared_ptr<const StepProgram>>& programs) {
  if (std::string other = hardwareDifference(profile, facts, scale); !other.empty())
    return "was measured on other hardware (" + other + ")";
  // A GPU's kernels can be modelled; nobody models this processor's.
  if (facts.executor == "host")
    if (const std::size_t lacking = operationsWithoutTime(profile, programs); lacking > 0)
      return fmt::format("has no time for {} of the program's kernels", lacking);
  return {};
}

/// In what a profile that is used all the same may mislead.
std::vector<std::string> doubtsOf(const Profile& profile, const gpu::MachineFacts& facts,
                                  const std::vector<std::shared_ptr<const StepProgram>>& programs) {
  std::vector<std::string> doubts = versionDifferences(profile, facts);
  if (const std::size_t lacking = operationsWithoutTime(profile, programs); lacking > 0)
    doubts.push_back(fmt::format("has no time for {} of the program's kernels: they are modelled", lacking));
  return doubts;
}

}  // namespace

std::vector<std::string> versionDifferences(const Profile& profile, const gpu::MachineFacts& facts) {
  std::vector<std::string> differences;
  if (!profile.hardware) return differences;
  for (const auto& [name, version] : profile.hardware->versions)
    for (const auto& [ours, present] : facts.versions)
      if (ours == name && version != present)
        differences.push_back(fmt::format("was measured with {} {}, here is {}", name, version, present));
  return differences;
}

std::string hardwareDifference(const Profile& profile, const gpu::MachineFacts& facts, double scale) {
  if (!profile.hardware) return "the profile does not say on which";
  const ProfiledHardware& hardware = *profile.hardware;
  if (hardware.executor != facts.executor)
    return fmt::format("its executor is {}, this one's {}", hardware.executor, facts.executor);
  const std::string device = facts.ranks.empty() ? std::string() : facts.ranks.front().device;
  if (hardware.device != device)
    return fmt::format("its device is {}, this one's {}", hardware.device, device);
  if (facts.executor != "host") return {};
  const auto ranks = static_cast<std::int64_t>(facts.ranks.size());
  if (profile.gpus != ranks) return fmt::format("it had {} ranks, this job {}", profile.gpus, ranks);
  if (hardware.scale != scale)
    return fmt::format("its real.scale is {}, this run's {}", hardware.scale, scale);
  return {};
}

std::size_t operationsWithoutTime(const Profile& profile,
                                  const std::vector<std::shared_ptr<const StepProgram>>& programs) {
  std::size_t lacking = 0;
  for (const auto& program : programs)
    for (const Operation& operation : program->operations)
      if (!matchOperation(profile, operation)) ++lacking;
  return lacking;
}

Outcome<Profile> profileFor(gpu::Machine& machine, const Scenario& scenario,
                            const std::vector<std::shared_ptr<const StepProgram>>& programs,
                            const RealRunOptions& options, const RealProgress& progress, RealRun& run) {
  const std::string file = options.profile.empty() ? scenario.profilePath : options.profile;
  Profile profile;
  std::string reason = "no profile was named";
  const auto read = shareOutcome(machine, [&]() -> Outcome<void> {
    if (file.empty()) return {};
    auto found = readProfile(file);
    if (!found) return wrongInput(found.error());
    profile = std::move(*found);
    reason = unfit(profile, machine.facts(), scenario.real.scale, programs);
    if (!reason.empty()) {
      run.warnings.push_back(fmt::format("{} {}: calibrated anew", file, reason));
    } else {
      for (const std::string& doubt : doubtsOf(profile, machine.facts(), programs))
        run.warnings.push_back(fmt::format("{} {}", file, doubt));
    }
    return {};
  });
  if (!read) return tl::unexpected(read.error());
  const auto decision = machine.broadcast(reason.empty() ? "use" : "measure");
  if (!decision) return machineFailed(decision.error());
  if (*decision == "use") {
    run.profileName = file;
    return profile;
  }

  gpu::CalibrationOptions calibration;
  calibration.budgetSeconds = options.budgetSeconds;
  calibration.programs = programs;
  calibration.grids = false;
  if (machine.facts().executor == "host") calibration.scale = scenario.real.scale;
  calibration.started = options.started;
  calibration.progress = [&](const std::string& what, double fraction, double remaining) {
    if (progress) progress("calibrating: " + what, fraction, remaining);
  };
  auto measured = gpu::calibrate(machine, calibration);
  if (!measured) return machineFailed(measured.error());
  if (machine.leads()) {
    for (std::string& note : measured->notes) run.notes.push_back(std::move(note));
    run.profileName = "measured for this run";
    run.calibrated = true;
  }
  return std::move(measured->profile);
}

}  // namespace vsim::app
