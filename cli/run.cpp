#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <memory>

#include "app/run.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scenario_options.h"
#include "core/report/json.h"
#include "core/report/text.h"
#include "traces/chrome_trace.h"
#include "traces/run_store.h"

namespace vsim::cli {
namespace {

struct RunCommand {
  ScenarioOptions scenario;
  std::string json, trace, database;
  bool doNotStore = false, explain = false, real = false;
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
  record.createdSeconds = static_cast<std::int64_t>(std::time(nullptr));
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

/// Stores in the named file, or else in the user's; only the former may fail the command.
int store(const RunCommand& command, const traces::RunRecord& record) {
  const bool named = !command.database.empty();
  const auto path = named ? core::Result<std::string>(command.database) : traces::defaultStorePath();
  const auto saved = path.and_then([](const std::string& file) {
                           return traces::RunStore::open(file, traces::RunStore::Access::readWrite);
                         })
                         .and_then([&](traces::RunStore opened) { return opened.save(record); });
  if (saved) {
    note(fmt::format("stored as run {} in {}", *saved, *path));
    return kDone;
  }
  if (named) return reportFailure(saved.error());
  warn("the run is not stored: " + saved.error().text());
  return kDone;
}

core::ResultAll<std::vector<app::RunResult>> simulate(const app::RunOptions& options) {
  ProgressLine line;
  return app::run(options, [&](const std::string& what, double fraction) { line.show(what, fraction); });
}

int run(const RunCommand& command, const Call& call) {
  if (command.real)
    return reportWrongInput(
        {{.message = "run --real (running on this machine's GPUs) is not part of this version",
          .hint = "without --real the step is simulated"}});
  if (command.doNotStore && !command.database.empty())
    return reportWrongInput({{.message = "--db and --no-store exclude each other"}});
  if (command.json == "-" && command.trace == "-")
    return reportWrongInput({{.message = "--json and --trace cannot both go to standard output"}});
  auto options = command.scenario.resolve();
  if (!options) return reportWrongInput(options.error());
  options->explain = command.explain;
  options->keepLogs = !command.trace.empty() || !command.doNotStore;
  const auto results = simulate(*options);
  if (!results) return reportWrongInput(results.error());

  printNotes(*results);
  const std::vector<core::RunReport> reports = reportsOf(*results);
  if (command.json != "-" && command.trace != "-") {
    print(core::toText(reports));
    if (command.explain)
      for (const core::RunReport& report : reports) print("\n" + core::explain(report));
  }
  int exitCode = kDone;
  const auto keep = [&](int code) { exitCode = std::max(exitCode, code); };
  if (!command.json.empty()) {
    const std::string name = reports.empty() ? std::string() : reports.front().facts.scenario;
    keep(writeResult(command.json, core::toJson(name, reports)));
  }
  if (!command.trace.empty()) keep(writeResult(command.trace, traceText(*results)));
  if (!command.doNotStore) keep(store(command, recordOf(*options, *results, call)));
  return exitCode;
}

}  // namespace

void addRun(CLI::App& app, Call& call) {
  // Shared with the callback, which outlives this function.
  const auto command = std::make_shared<RunCommand>();
  CLI::App* const sub = app.add_subcommand("run", "simulate the step of a scenario, report, store");
  command->scenario.addTo(*sub);
  sub->add_option("--json", command->json, "write the result as JSON; - is standard output")
      ->type_name("FILE");
  sub->add_option("--trace", command->trace, "write a Chrome/Perfetto trace; - is standard output")
      ->type_name("FILE");
  sub->add_option("--db", command->database, "run store (default: in the user's data folder)")
      ->type_name("FILE");
  sub->add_flag("--no-store", command->doNotStore, "do not store the run");
  sub->add_flag("--explain", command->explain, "show the formulas with their numbers");
  sub->add_flag("--real", command->real)->group("");
  sub->callback([command, &call] { call.exitCode = run(*command, call); });
}

}  // namespace vsim::cli
