#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "core/report/json.h"
#include "core/report/text.h"
#include "core/report/text_table.h"
#include "traces/chrome_trace.h"
#include "traces/run_store.h"

namespace vsim::cli {
namespace {

constexpr std::string_view kNoRuns = "no runs are stored yet\n";

core::Result<traces::RunStore> openStore(const std::string& database) {
  const auto path = database.empty() ? traces::defaultStorePath() : core::Result<std::string>(database);
  return path.and_then([](const std::string& file) {
    return traces::RunStore::open(file, traces::RunStore::Access::readOnly);
  });
}

std::string dateOf(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) return "?";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

/// Before the first run there is no file, which is no mistake unless one was named.
bool isBeforeFirstRun(const std::string& database) {
  const auto path = traces::defaultStorePath();
  std::error_code ignored;
  return database.empty() && path && !std::filesystem::exists(*path, ignored);
}

int listRuns(const std::string& database, std::int64_t limit) {
  if (isBeforeFirstRun(database)) {
    print(kNoRuns);
    return kDone;
  }
  auto store = openStore(database);
  if (!store) return reportFailure(store.error());
  const auto rows = store->list(limit);
  if (!rows) return reportFailure(rows.error());
  core::TextTable table;
  table.add({"run", "created (UTC)", "scenario", "system", "GPUs", "step time", "tokens/s", "MFU", "fits"});
  for (const traces::RunSummary& row : *rows)
    if (row.calibration)
      table.add({std::to_string(row.id), dateOf(row.createdSeconds), row.scenario,
                 row.system + " (calibration)", core::formatCount(row.gpus), "-", "-", "-", "-"});
    else
      table.add({std::to_string(row.id), dateOf(row.createdSeconds), row.scenario, row.system,
                 core::formatCount(row.gpus),
                 row.completed ? core::formatTime(core::picosecondsFromSeconds(row.stepSeconds)) : "-",
                 row.completed ? core::formatCount(std::llround(row.tokensPerSecond)) : "-",
                 row.completed ? fmt::format("{:.1f} %", row.mfu * 100) : "-", row.fits ? "yes" : "no"});
  print(rows->empty() ? std::string(kNoRuns) : table.text());
  return kDone;
}

struct ShowCommand {
  std::string id, database, json, trace;
  bool explain = false, scenario = false;
};

int showTrace(traces::RunStore& store, const traces::StoredRun& run, const std::string& file) {
  std::vector<core::ExecutionLog> logs;
  logs.reserve(run.reports.size());  // the sources point into it
  std::vector<traces::TraceSource> sources;
  for (std::size_t i = 0; i < run.reports.size(); ++i) {
    auto log = store.loadLog(run.id, static_cast<std::int64_t>(i));
    if (!log) return reportFailure(log.error());
    logs.push_back(std::move(*log));
    sources.push_back({run.reports[i].facts.system, &logs.back()});
  }
  return writeResult(file, traces::chromeTrace(sources));
}

/// The number that `text` means: an id, or "last".
core::Result<std::int64_t> runId(traces::RunStore& store, const std::string& text) {
  if (text == "last") {
    auto newest = store.newest();
    if (newest && *newest == 0) return core::fail("no runs are stored yet", "`vsim run` stores them");
    return newest;
  }
  std::int64_t id = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (problem != std::errc() || end != text.data() + text.size() || id <= 0)
    return core::fail(fmt::format("show {}: a run is named by its number, or \"last\"", text),
                      "`vsim runs` lists them");
  return id;
}

int show(const ShowCommand& command) {
  auto store = openStore(command.database);
  if (!store) return reportFailure(store.error());
  const auto id = runId(*store, command.id);
  if (!id) return reportWrongInput({id.error()});
  const auto run = store->load(*id);
  if (!run) return reportWrongInput({run.error()});
  if (!command.trace.empty()) return showTrace(*store, *run, command.trace);
  if (!command.json.empty()) return writeResult(command.json, core::toJson(run->scenario, run->reports));
  if (command.scenario) {
    for (std::size_t at = 0; at < run->configuration.size();) {  // overrides as comments on top
      const std::size_t end = std::min(run->configuration.find('\n', at), run->configuration.size());
      print(fmt::format("# --set {}\n", run->configuration.substr(at, end - at)));
      at = end + 1;
    }
    print(run->scenarioText);
    return kDone;
  }
  print(fmt::format("run {}, {} UTC: {}\n", run->id, dateOf(run->createdSeconds), run->command));
  if (run->reports.empty() && run->profile) {
    print(run->profile->text);
    return kDone;
  }
  if (!run->verdict.empty()) print(run->verdict + "\n");
  print(core::toText(run->reports));
  if (command.explain)
    for (const core::RunReport& report : run->reports) print("\n" + core::explain(report));
  return kDone;
}

void addDatabase(CLI::App& sub, std::string& database) {
  sub.add_option("--db", database, "run store (default: in the user's data folder)")->type_name("FILE");
}

}  // namespace

void addRuns(CLI::App& app, Call& call) {
  const auto database = std::make_shared<std::string>();
  const auto limit = std::make_shared<std::int64_t>(20);
  CLI::App* const sub = app.add_subcommand("runs", "the stored runs");
  addDatabase(*sub, *database);
  sub->add_option("--limit", *limit, "how many, newest first (default 20)")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("N");
  sub->callback([database, limit, &call] { call.exitCode = listRuns(*database, *limit); });
}

void addShow(CLI::App& app, Call& call) {
  const auto command = std::make_shared<ShowCommand>();
  CLI::App* const sub = app.add_subcommand("show", "a stored run's report again");
  sub->add_option("RUN", command->id, "number of the run, or \"last\"")->required();
  addDatabase(*sub, command->database);
  sub->add_option("--json", command->json, "write the result as JSON; - is standard output")
      ->type_name("FILE");
  sub->add_option("--trace", command->trace, "write the stored log as a Chrome/Perfetto trace")
      ->type_name("FILE");
  sub->add_flag("--explain", command->explain, "show the formulas with their numbers");
  sub->add_flag("--scenario", command->scenario, "the scenario as it was read");
  sub->callback([command, &call] { call.exitCode = show(*command); });
}

}  // namespace vsim::cli
