#include "gui/model/open_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "app/load.h"
#include "app/run.h"
#include "gui/model/imported_timeline.h"
#include "traces/chrome_import.h"
#include "traces/run_store.h"
#include "traces/run_time.h"

namespace vsim::gui {
namespace {

using Opened = core::ResultAll<std::shared_ptr<const OpenedRun>>;

tl::unexpected<core::Errors> failed(core::Error error) {
  return tl::unexpected(core::Errors{std::move(error)});
}

bool endsWith(const std::string& text, std::initializer_list<const char*> ends) {
  for (const char* end : ends)
    if (text.ends_with(end)) return true;
  return false;
}

std::optional<std::int64_t> numberIn(std::string_view text) {
  std::int64_t id = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return id;
}

core::Result<std::int64_t> storedId(traces::RunStore& store, std::int64_t id) {
  if (id != 0) return id;
  auto newest = store.newest();
  if (newest && *newest == 0) return core::fail("no runs are stored yet", "`vsim run` stores them");
  return newest;
}

/// All of a stored run but its logs.
core::Result<OpenedRun> storedRun(traces::RunStore& store, std::int64_t id) {
  auto stored = store.load(id);
  if (!stored) return tl::unexpected(stored.error());
  OpenedRun run;
  run.title = fmt::format("run {}", id);
  run.source = storedSource(id, store.path());
  run.store = store.path();
  run.id = id;
  run.scenario = std::move(stored->scenario);
  run.scenarioText = std::move(stored->scenarioText);
  run.configuration = std::move(stored->configuration);
  run.command = std::move(stored->command);
  run.createdSeconds = stored->createdSeconds;
  run.reports = std::move(stored->reports);
  if (run.reports.empty())
    return tl::unexpected(
        core::Error{.message = fmt::format("run {} is a calibration: it has no step to look at", id),
                    .hint = "the run browser shows its profile as text"});
  return run;
}

/// Whether anything is stored for first pictures. What cannot be read is worked out anew, as if it were not
/// there.
bool addLevels(OpenedRun& run, traces::RunStore& store) {
  bool any = false;
  for (std::size_t i = 0; i < run.reports.size(); ++i) {
    auto bytes = store.loadLevels(run.id, static_cast<std::int64_t>(i));
    run.levels.push_back(bytes ? std::move(*bytes) : std::string());
    any = any || !run.levels.back().empty();
  }
  return any;
}

Opened openStored(const RunSource& source, const OpenProgress& tell, const OpenCancelled& cancelled,
                  const OpenPreview& preview) {
  auto store = traces::RunStore::open(source.path, traces::RunStore::Access::readOnly);
  if (!store) return failed(store.error());
  const auto id = storedId(*store, source.id);
  if (!id) return failed(id.error());
  auto stored = storedRun(*store, *id);
  if (!stored) return failed(stored.error());
  auto run = std::make_shared<OpenedRun>(std::move(*stored));
  run->loading = true;
  if (addLevels(*run, *store) && preview) preview(std::make_shared<const OpenedRun>(*run));
  run->loading = false;
  for (std::size_t i = 0; i < run->reports.size(); ++i) {
    if (cancelled && cancelled()) return failed({.message = "cancelled"});
    tell(fmt::format("loading run {}", *id),
         static_cast<double>(i) / static_cast<double>(run->reports.size()));
    auto log = store->loadLog(*id, static_cast<std::int64_t>(i));
    if (log)
      run->logs.push_back(std::make_shared<const core::ExecutionLog>(std::move(*log)));
    else {  // a report without its log is still worth a look
      run->logs.push_back(nullptr);
      run->notes.push_back(log.error().message);
    }
  }
  return run;
}

/// The record of a simulated run, as `vsim run` would have written it.
traces::RunRecord recordOf(const OpenedRun& run) {
  traces::RunRecord record;
  record.scenario = run.scenario;
  record.scenarioText = run.scenarioText;
  record.configuration = run.configuration;
  record.command = run.command;
  record.createdSeconds = run.createdSeconds;
  record.reports = run.reports;
  for (const auto& log : run.logs) record.logs.push_back(log.get());
  return record;
}

core::Result<std::int64_t> keep(const RunSource& source, const OpenedRun& run) {
  auto store = traces::RunStore::open(source.storePath, traces::RunStore::Access::readWrite);
  if (!store) return tl::unexpected(store.error());
  return store->save(recordOf(run));
}

std::string commandOf(const RunSource& source) {
  std::string command = "vsim run " + source.path;
  for (const auto& [key, value] : source.overrides) command += fmt::format(" --set '{}={}'", key, value);
  return command;
}

Opened simulate(const RunSource& source, const OpenProgress& tell, const OpenCancelled& cancelled) {
  app::RunOptions options{.scenario = source.path, .overrides = source.overrides, .keepLogs = true};
  options.text = source.text;
  options.cancelled = cancelled;
  auto results = app::run(options, tell);
  if (!results) return tl::unexpected(results.error());
  if (cancelled && cancelled()) return failed({.message = "cancelled"});
  auto run = std::make_shared<OpenedRun>();
  run->title = std::filesystem::path(source.path).filename().string();
  run->source = source.text ? "edited text of " + source.path : source.path;
  run->command = commandOf(source);
  run->createdSeconds = traces::runTime();
  for (const auto& [key, value] : source.overrides) run->configuration += fmt::format("{}={}\n", key, value);
  for (app::RunResult& result : *results) {
    if (run->scenario.empty()) run->scenario = result.report.facts.scenario;
    if (run->scenarioText.empty()) run->scenarioText = std::move(result.scenarioText);
    run->reports.push_back(std::move(result.report));
    run->logs.push_back(std::move(result.log));
    for (std::string& note : result.notes)
      if (std::find(run->notes.begin(), run->notes.end(), note) == run->notes.end())
        run->notes.push_back(std::move(note));
  }
  if (!source.store) return run;
  if (const auto id = keep(source, *run)) {
    run->id = *id;
    run->title = fmt::format("run {}", *id);
    run->source = storedSource(*id, source.storePath);
    run->store = source.storePath;
  } else {  // the result is there; that it could not be kept is a remark
    run->notes.push_back("the run is not stored: " + id.error().text());
  }
  return run;
}

Opened openTrace(const RunSource& source, const OpenProgress& tell, const OpenCancelled& cancelled) {
  tell("reading " + std::filesystem::path(source.path).filename().string(), 0);
  auto trace = traces::importChromeTrace(source.path, cancelled);
  if (!trace) return failed(trace.error());
  tell("arranging its slices", 0.7);
  auto timeline = importedTimeline(std::move(*trace));
  auto run = std::make_shared<OpenedRun>();
  run->title = std::filesystem::path(source.path).filename().string();
  run->source = source.path;
  run->imported = std::move(timeline.data);
  run->notes = std::move(timeline.notes);
  return run;
}

}  // namespace

bool isDatabase(const std::string& path) {
  constexpr std::string_view kBegin("SQLite format 3\0", 16);
  std::array<char, kBegin.size()> begin{};
  std::ifstream in(path, std::ios::binary);
  return in.read(begin.data(), begin.size()) && std::string_view(begin.data(), begin.size()) == kBegin;
}

std::string storedSource(std::int64_t id, const std::string& store) {
  return fmt::format("run {} in {}", id, store);
}

core::Result<RunSource> sourceOf(const std::string& word, const std::string& storePath) {
  const std::string scheme = "vsim://run/";
  RunSource source{.path = storePath};
  if (word.starts_with("vsim://")) {
    const std::string rest = word.starts_with(scheme) ? word.substr(scheme.size()) : std::string();
    const auto id = numberIn(std::string_view(rest).substr(0, rest.find('?')));
    if (!id || *id <= 0) return core::fail(word + ": is no address of a run", "such as vsim://run/42");
    source.id = *id;
    return source;
  }
  std::error_code problem;
  if (word == "last") return source;
  if (const auto id = numberIn(word); id && !std::filesystem::exists(word, problem)) {
    if (*id <= 0) return core::fail(word + ": runs count from 1", "`vsim runs` lists them");
    source.id = *id;
    return source;
  }
  source.path = word;
  source.kind = RunSource::Kind::trace;
  if (endsWith(word, {".json", ".json.gz"})) {
    if (!std::filesystem::is_regular_file(word, problem)) return core::fail(word + ": there is no such file");
    return source;
  }
  source.kind = RunSource::Kind::scenario;
  const auto path = core::findScenario(word, app::readOptions({.scenario = word}));
  if (!path) return tl::unexpected(path.error());
  source.path = *path;
  return source;
}

Opened openRun(const RunSource& source, const OpenProgress& progress, const OpenCancelled& cancelled,
               const OpenPreview& preview) {
  const OpenProgress tell = progress ? progress : [](const std::string&, double) {};
  switch (source.kind) {
    case RunSource::Kind::stored:
      return openStored(source, tell, cancelled, preview);
    case RunSource::Kind::scenario:
      return simulate(source, tell, cancelled);
    case RunSource::Kind::trace:
      return openTrace(source, tell, cancelled);
  }
  return failed({.message = "nothing to open"});
}

}  // namespace vsim::gui
