#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/run.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/real_session.h"
#include "cli/run_real.h"
#include "cli/scenario_options.h"
#include "core/report/json.h"
#include "core/report/text.h"
#include "traces/chrome_trace.h"
#include "traces/run_time.h"

namespace vsim::cli {
namespace {

struct RunCommand {
  ScenarioOptions scenario;
  RealRunOptions onHardware;
  RunOutput output;
  bool explain = false, real = false;
  std::vector<std::string> realOptionsGiven;
};

std::vector<core::RunReport> reportsOf(const std::vector<app::RunResult>& results) {
  std::vector<core::RunReport> reports;
  for (const app::RunResult& result : results) reports.push_back(result.report);
  return reports;
}

void printNotes(const std::vector<app::RunResult>& results) {
  std::vector<std::string> printed;  // systems of one scenario have most notes in common
  for (const app::RunResult& result : results)
    for (const std::string& text : result.notes) {
      if (std::find(printed.begin(), printed.end(), text) != printed.end()) continue;
      note(text);
      printed.push_back(text);
    }
}

std::string traceText(const std::vector<app::RunResult>& results) {
  std::vector<traces::TraceSource> sources;
  for (const app::RunResult& result : results) {
    if (result.log == nullptr) continue;
    std::string title = result.report.facts.system;
    for (const auto& [key, value] : result.report.facts.overrides) title += fmt::format(" {}={}", key, value);
    sources.push_back({title, result.log.get()});
  }
  return traces::chromeTrace(sources);
}

traces::RunRecord recordOf(const app::RunOptions& options, const std::vector<app::RunResult>& results,
                           const Call& call) {
  traces::RunRecord record;
  record.command = call.commandLine;
  record.createdSeconds = traces::runTime();
  record.reports = reportsOf(results);
  for (const auto& [key, value] : options.overrides)
    record.configuration += fmt::format("{}={}\n", key, value);
  for (const app::RunResult& result : results) record.logs.push_back(result.log.get());
  if (!results.empty()) {
    record.scenario = results.front().report.facts.scenario;
    record.scenarioText = results.front().scenarioText;
  }
  return record;
}

core::ResultAll<std::vector<app::RunResult>> simulate(const app::RunOptions& options) {
  ProgressLine line;
  return app::run(options, [&](const std::string& what, double fraction) { line.show(what, fraction); });
}

/// Options that contradict each other.
core::Errors contradictions(const RunCommand& command) {
  const RunOutput& output = command.output;
  core::Errors errors;
  if (output.store.none && !output.store.database.empty())
    errors.push_back({.message = "--db and --no-store exclude each other"});
  const int toStandardOutput =
      int{output.json == "-"} + int{output.trace == "-"} + int{command.onHardware.saveProfile == "-"};
  if (toStandardOutput > 1)
    errors.push_back({.message = "only one of --json, --trace and --save-profile can go to standard output"});
  if (!command.real)
    for (const std::string& name : command.realOptionsGiven)
      errors.push_back({.message = fmt::format("run: {} goes with --real", name),
                        .hint = "without --real the step is simulated"});
  if (command.real && command.explain)
    errors.push_back(
        {.message = "run: --explain shows the formulas of a simulation; it does not go with --real"});
  return errors;
}

int run(const RunCommand& command, const Call& call) {
  if (const core::Errors errors = contradictions(command); !errors.empty())
    return command.real && followsAnother() ? int{kWrongInput} : reportWrongInput(errors);
  if (command.real) return runReal(command.scenario, command.onHardware, command.output, call);
  auto options = command.scenario.resolve();
  if (!options) return reportWrongInput(options.error());
  options->explain = command.explain;
  options->keepLogs = !command.output.trace.empty() || !command.output.store.none;
  const auto results = simulate(*options);
  if (!results) return reportWrongInput(results.error());

  printNotes(*results);
  const std::vector<core::RunReport> reports = reportsOf(*results);
  if (command.output.json != "-" && command.output.trace != "-") {
    print(core::toText(reports));
    if (command.explain)
      for (const core::RunReport& report : reports) print("\n" + core::explain(report));
  }
  int exitCode = kDone;
  const auto keep = [&](int code) { exitCode = std::max(exitCode, code); };
  if (!command.output.json.empty()) {
    const std::string name = reports.empty() ? std::string() : reports.front().facts.scenario;
    keep(writeResult(command.output.json, core::toJson(name, reports)));
  }
  if (!command.output.trace.empty()) keep(writeResult(command.output.trace, traceText(*results)));
  if (!command.output.store.none) keep(store(command.output.store, recordOf(*options, *results, call)));
  return exitCode;
}

}  // namespace

void addRun(CLI::App& app, Call& call) {
  // Shared with the callback, which outlives this function.
  const auto command = std::make_shared<RunCommand>();
  CLI::App* const sub = app.add_subcommand("run", "simulate the step of a scenario, report, store");
  command->scenario.addTo(*sub);
  sub->add_option("--json", command->output.json, "write the result as JSON; - is standard output")
      ->type_name("FILE");
  sub->add_option("--trace", command->output.trace, "write a Chrome/Perfetto trace; - is standard output")
      ->type_name("FILE");
  command->output.store.addTo(*sub);
  sub->add_flag("--explain", command->explain, "show the formulas with their numbers");
  sub->add_flag("--real", command->real, "run it on this machine or job, and compare with the simulation");
  command->onHardware.addTo(*sub);
  sub->callback([command, sub, &call] {
    command->realOptionsGiven = RealRunOptions::given(*sub);
    call.exitCode = run(*command, call);
  });
}

}  // namespace vsim::cli
