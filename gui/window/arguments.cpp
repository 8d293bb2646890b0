#include "gui/window/arguments.h"

#include <filesystem>

#include "gui/model/open_run.h"
#include "traces/run_store.h"

namespace vsim::gui {
namespace {

core::Result<Theme> themeFrom(const QString& name) {
  if (name == "light") return Theme::light;
  if (name == "dark") return Theme::dark;
  if (name == "contrast") return Theme::highContrast;
  return core::fail(fmt::format("--theme {}: no such theme", name.toStdString()), "light, dark or contrast");
}

}  // namespace

core::Result<Arguments> readArguments(const QStringList& words) {
  Arguments result;
  result.all = words;
  result.screenshot = words.contains("--screenshot");
  if (result.screenshot) return result;
  for (qsizetype i = 0; i < words.size(); ++i) {
    QString word = words[i], value;
    const bool joined = word.startsWith("--") && word.contains('=');
    if (joined) {
      value = word.section('=', 1);
      word = word.section('=', 0, 0);
    }
    if (word == "--help" || word == "-h") {
      result.help = true;
    } else if (word == "--version" || word == "-V") {
      result.version = true;
    } else if (word == "--db" || word == "--theme") {
      if (!joined && i + 1 == words.size()) return core::fail(word.toStdString() + ": its value is missing");
      if (!joined) value = words[++i];
      if (word == "--db") {
        result.store = value.toStdString();
        continue;
      }
      const auto theme = themeFrom(value);
      if (!theme) return tl::unexpected(theme.error());
      result.theme = *theme;
    } else if (word.startsWith('-')) {
      const std::string near =
          core::nearest(word.toStdString(), {"--db", "--theme", "--screenshot", "--help", "--version"});
      return core::fail("unknown option " + word.toStdString(),
                        near.empty() ? "vsim-gui --help lists them" : "did you mean " + near + "?");
    } else if (!result.word.isEmpty()) {
      return core::fail(fmt::format("{}: only one run is opened at the start", word.toStdString()));
    } else {
      result.word = word;
    }
  }
  return result;
}

const char* helpText() {
  return R"(vsim-gui shows runs of vsim: where the time of a step goes, where its memory peaks.

usage: vsim-gui [RUN|SCENARIO|TRACE|STORE] [--db FILE] [--theme light|dark|contrast]
       vsim-gui --screenshot VIEW --run RUN [--db FILE] -o FILE

  RUN         number of a stored run, "last", or an address such as vsim://run/42?view=timeline
  SCENARIO    file or name of a scenario: it is simulated first
  TRACE       Chrome trace, .json or .json.gz
  STORE       run store, as with --db
  --db FILE   run store (default: the one of the last time, else in the user's data folder)

exit codes: 0 done, 1 failed, 2 wrong input
)";
}

std::optional<core::Error> problemOf(const Arguments& arguments) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(arguments.store, ignored);
  if (exists) {  // one that is missing is made by the first run
    const auto store = traces::RunStore::open(arguments.store, traces::RunStore::Access::readOnly);
    if (!store && store.error().hint.find("name another file") != std::string::npos) return store.error();
  }
  if (arguments.word.isEmpty()) return std::nullopt;
  if (const std::string word = arguments.word.toStdString(); isDatabase(word)) {
    const auto store = traces::RunStore::open(word, traces::RunStore::Access::readOnly);
    return store || store.error().message.find("earlier version") != std::string::npos
               ? std::nullopt
               : std::optional(store.error());
  }
  const auto source = sourceOf(arguments.word.toStdString(), arguments.store);
  if (!source) return source.error();
  if (source->kind != RunSource::Kind::stored) return std::nullopt;
  auto store = traces::RunStore::open(source->path, traces::RunStore::Access::readOnly);
  if (!store) return store.error();
  if (source->id == 0) {
    const auto newest = store->newest();
    if (!newest) return newest.error();
    if (*newest == 0) return core::Error{.message = "no runs are stored yet", .file = source->path};
    return std::nullopt;
  }
  const auto run = store->load(source->id);
  return run ? std::nullopt : std::optional(run.error());
}

}  // namespace vsim::gui
