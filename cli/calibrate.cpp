#include "app/calibrate.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/real_options.h"
#include "cli/real_session.h"
#include "cli/scenario_options.h"
#include "cli/store.h"
#include "core/profile/profile.h"
#include "traces/atomic_file.h"
#include "traces/run_time.h"

namespace vsim::cli {
namespace {

struct CalibrateCommand {
  ScenarioOptions scenario;
  RealOptions real;
  std::string output;
  StoreOptions store;
};

traces::RunRecord recordOf(const gpu::Calibration& calibration, const std::string& text, const Call& call) {
  traces::RunRecord record;
  record.command = call.commandLine;
  record.createdSeconds = traces::runTime();
  record.profile = storedProfile(calibration.profile, text);
  record.scenario = record.profile->device;
  return record;
}

/// The leader's part: tables, profile, store.
int present(const CalibrateCommand& command, const gpu::Calibration& calibration, const Call& call) {
  const std::string text = core::profileText(calibration.profile);
  const std::string file =
      command.output.empty() ? app::profileFileName(calibration.profile) : command.output;
  if (file != "-") print(app::calibrationText(calibration));
  int code = writeResult(file, text);
  if (code == kDone && file != "-")
    note(
        fmt::format("profile written: {}; next: vsim run SCENARIO --real --profile {}, or `profile: {}` in a "
                    "scenario to predict larger jobs from it",
                    file, file, file));
  if (!command.store.none) code = std::max(code, store(command.store, recordOf(calibration, text, call)));
  return code;
}

RealInput inputOf(const CalibrateCommand& command, const RealOptions::Values& values,
                  std::optional<core::Scenario>& scenario) {
  RealInput input{
      .errors = {}, .what = "scenarios and options", .text = command.real.text(), .machine = values.machine};
  if (command.scenario.scenario.empty()) return input;
  const auto options = command.scenario.resolve();
  if (!options) {
    input.errors = options.error();
    return input;
  }
  auto loaded = app::loadRealScenario(*options, {});
  if (!loaded) {
    input.errors = loaded.error();
    return input;
  }
  input.text += scenarioText(*loaded);
  input.machine.defaultRanks = static_cast<int>(std::min<std::int64_t>(loaded->cluster.gpus, 64));
  input.machine.scale = loaded->real.scale;
  input.machine.seed = static_cast<std::uint64_t>(loaded->simulate.seed);
  scenario = std::move(*loaded);
  return input;
}

int calibrate(const CalibrateCommand& command, const Call& call) {
  core::Errors errors;
  auto values = command.real.resolve("calibrate");
  if (!values) errors = values.error();
  if (command.store.none && !command.store.database.empty())
    errors.push_back({.message = "--db and --no-store exclude each other"});
  if (command.scenario.scenario.empty() && !command.scenario.settings.empty())
    errors.push_back({.message = "calibrate: --set needs a scenario"});
  if (!errors.empty()) return followsAnother() ? int{kWrongInput} : reportWrongInput(errors);

  std::optional<core::Scenario> scenario;
  return withMachine(
      values->machine.timeoutSeconds, [&] { return inputOf(command, *values, scenario); },
      [&](gpu::Machine& machine) -> app::Outcome<int> {
        app::Outcome<gpu::Calibration> result = app::machineFailed({});
        {
          ProgressLine line;
          result = app::calibrateMachine(machine, scenario,
                                         {.budgetSeconds = values->budgetSeconds, .started = timestamp()},
                                         [&](const std::string& what, double fraction, double remaining) {
                                           if (machine.leads()) line.show(what, fraction, remaining);
                                         });
        }
        if (!result) return tl::unexpected(result.error());
        return machine.leads() ? present(command, *result, call) : int{kDone};
      });
}

}  // namespace

void addCalibrate(CLI::App& app, Call& call) {
  const auto command = std::make_shared<CalibrateCommand>();
  CLI::App* const sub =
      app.add_subcommand("calibrate", "measure this machine or job: collectives, kernels, host; a profile");
  command->scenario.addTo(*sub);
  sub->get_option("SCENARIO")->required(false)->description("measure its kernels and collectives first");
  command->real.addTo(*sub, "10m");
  sub->add_option("--output", command->output,
                  "the profile (default: vsim_profile_DEVICE_RANKS.yaml here); - is standard output")
      ->type_name("FILE");
  command->store.addTo(*sub);
  sub->callback([command, &call] { call.exitCode = calibrate(*command, call); });
}

}  // namespace vsim::cli
