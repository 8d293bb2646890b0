#include "cli/run_real.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "app/real_run.h"
#include "cli/command_line.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/real_session.h"
#include "core/report/verdict.h"
#include "traces/chrome_trace.h"
#include "traces/run_time.h"

namespace vsim::cli {
namespace {

constexpr const char* kNames[] = {"--profile", "--save-profile", "--steps", "--warmup", "--max-error"};

traces::RunRecord recordOf(const ScenarioOptions& options, const core::Scenario& scenario,
                           const app::RealRun& run, const Call& call) {
  traces::RunRecord record;
  record.command = call.commandLine;
  record.createdSeconds = traces::runTime();
  record.scenario = scenario.name;
  record.scenarioText = fileText(scenario.path);
  for (const std::string& setting : options.settings) record.configuration += setting + "\n";
  for (const app::RealResult& result : run.results) {
    record.reports.push_back(result.measured);
    record.logs.push_back(result.measuredLog.get());
    record.reports.push_back(result.predicted);
    record.logs.push_back(result.predictedLog.get());
  }
  for (const app::RealResult& result : run.results) record.verdict += core::toText(result.verdict) + "\n";
  if (!record.verdict.empty()) record.verdict += "costs: " + run.profileName + "\n";
  if (run.calibrated) record.profile = storedProfile(run.profile, core::profileText(run.profile));
  return record;
}

std::string traceText(const app::RealRun& run) {
  std::vector<traces::TraceSource> sources;
  for (const app::RealResult& result : run.results) {
    sources.push_back({result.measured.facts.system, result.measuredLog.get()});
    sources.push_back({result.predicted.facts.system, result.predictedLog.get()});
  }
  return traces::chromeTrace(sources);
}

std::vector<core::Verdict> verdictsOf(const app::RealRun& run) {
  std::vector<core::Verdict> verdicts;
  for (const app::RealResult& result : run.results) verdicts.push_back(result.verdict);
  return verdicts;
}

/// kFailed where a system's step is further off than `most` (a fraction; 0: no gate).
int gate(const std::vector<core::Verdict>& verdicts, double most) {
  if (most <= 0) return kDone;
  int code = kDone;
  for (const core::Verdict& verdict : verdicts) {
    const auto error = verdict.stepSeconds.error();
    if (error && std::abs(*error) <= most) continue;
    code = kFailed;
    fmt::print(stderr, "vsim: {}: the prediction is {:+.1f} % off, more than --max-error {} allows\n",
               verdict.system, 100 * error.value_or(0), most);
  }
  return code;
}

/// The leader's part.
int present(const ScenarioOptions& scenarioOptions, const RealRunOptions& options, const RunOutput& output,
            const core::Scenario& scenario, const app::RealRun& run, const Call& call) {
  for (const std::string& text : run.warnings) warn(text);
  for (const std::string& text : run.notes) note(text);
  const std::vector<core::Verdict> verdicts = verdictsOf(run);
  if (output.json != "-" && output.trace != "-" && options.saveProfile != "-") {
    for (const core::Verdict& verdict : verdicts) print(core::toText(verdict) + "\n");
    print("costs: " + run.profileName + "\n");
  }
  int exitCode = kDone;
  const auto keep = [&](int code) { exitCode = std::max(exitCode, code); };
  if (!output.json.empty()) {
    std::vector<std::string> notes = run.warnings;
    notes.insert(notes.end(), run.notes.begin(), run.notes.end());
    const std::optional<double> most = options.maxError > 0 ? std::optional(options.maxError) : std::nullopt;
    keep(writeResult(output.json,
                     core::toJson(verdicts, {.profile = run.profileName, .notes = notes, .maxError = most})));
  }
  if (!output.trace.empty()) keep(writeResult(output.trace, traceText(run)));
  if (!options.saveProfile.empty()) keep(writeResult(options.saveProfile, core::profileText(run.profile)));
  if (!output.store.none) keep(store(output.store, recordOf(scenarioOptions, scenario, run, call)));
  keep(gate(verdicts, options.maxError));
  return exitCode;
}

app::RealRunOptions useCaseOptions(const RealRunOptions& options, double budgetSeconds) {
  app::RealRunOptions result;
  result.profile = options.profile;
  if (options.steps > 0) result.steps = options.steps;
  if (options.warmup >= 0) result.warmup = options.warmup;
  result.budgetSeconds = budgetSeconds;
  result.started = timestamp();
  return result;
}

RealInput inputOf(const ScenarioOptions& scenarioOptions, const RealRunOptions& options,
                  const app::RealRunOptions& real, const RealOptions::Values& values,
                  std::optional<core::Scenario>& scenario) {
  RealInput input{.errors = {}, .what = "scenarios and options", .text = {}, .machine = values.machine};
  const auto resolved = scenarioOptions.resolve();
  if (!resolved) {
    input.errors = resolved.error();
    return input;
  }
  auto loaded = app::loadRealScenario(*resolved, real);
  if (!loaded) {
    input.errors = loaded.error();
    return input;
  }
  input.text = scenarioText(*loaded) + "\n" + options.real.text() +
               fmt::format("--profile {}\n--steps {}\n--warmup {}\n", options.profile, loaded->real.steps,
                           loaded->real.warmup);
  input.machine.defaultRanks = static_cast<int>(std::min<std::int64_t>(loaded->cluster.gpus, 64));
  input.machine.scale = loaded->real.scale;
  input.machine.seed = static_cast<std::uint64_t>(loaded->simulate.seed);
  scenario = std::move(*loaded);
  return input;
}

}  // namespace

void RealRunOptions::addTo(CLI::App& command) {
  real.addTo(command, "60s");
  command.add_option("--profile", profile, "measured costs to predict from (default: the scenario's)")
      ->type_name("FILE");
  command.add_option("--save-profile", saveProfile, "write the costs that predicted; - is standard output")
      ->type_name("FILE");
  command.add_option("--steps", steps, "measured steps (default: `real.steps` of the scenario)")
      ->check(CLI::Range(1, 255))
      ->type_name("N");
  command.add_option("--warmup", warmup, "steps before them (default: `real.warmup`)")
      ->check(CLI::Range(0, 254))
      ->type_name("N");
  command.add_option("--max-error", maxError, "exit code 1 when the step time is further off, 0.1 is 10 %")
      ->check(CLI::Range(1e-6, 1e6))
      ->type_name("FRACTION");
}

std::vector<std::string> RealRunOptions::given(const CLI::App& command) {
  std::vector<std::string> names = RealOptions::given(command);
  for (const char* name : kNames)
    if (const CLI::Option* option = command.get_option_no_throw(name);
        option != nullptr && option->count() > 0)
      names.emplace_back(name);
  return names;
}

int runReal(const ScenarioOptions& scenarioOptions, const RealRunOptions& options, const RunOutput& output,
            const Call& call) {
  const auto values = options.real.resolve("run");
  if (!values) return followsAnother() ? int{kWrongInput} : reportWrongInput(values.error());
  const app::RealRunOptions real = useCaseOptions(options, values->budgetSeconds);
  std::optional<core::Scenario> scenario;
  return withMachine(
      values->machine.timeoutSeconds,
      [&] { return inputOf(scenarioOptions, options, real, *values, scenario); },
      [&](gpu::Machine& machine) -> app::Outcome<int> {
        app::Outcome<app::RealRun> run = app::machineFailed({});
        {
          ProgressLine line;
          run = app::realRun(machine, *scenario, real,
                             [&](const std::string& what, double fraction, double remaining) {
                               if (machine.leads()) line.show(what, fraction, remaining);
                             });
        }
        if (!run) return tl::unexpected(run.error());
        return machine.leads() ? present(scenarioOptions, options, output, *scenario, *run, call)
                               : int{kDone};
      });
}

}  // namespace vsim::cli
