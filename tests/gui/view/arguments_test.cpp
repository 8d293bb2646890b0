#include "gui/window/arguments.h"

#include <catch2/catch.hpp>

#include "tests/folders.h"
#include "tests/support/run_process.h"
#include "traces/run_store.h"

namespace vsim::gui {
namespace {

test::ProcessResult gui(const std::vector<std::string>& arguments) {
  // No display: what is wrong is said before one is looked for.
  return test::runProcess(std::string(VSIM_BINARY_DIR) + "/gui/vsim-gui", arguments,
                          {"DISPLAY=", "WAYLAND_DISPLAY=", "QT_QPA_PLATFORM="});
}

}  // namespace

TEST_CASE("Arguments of vsim-gui") {
  const auto all = readArguments({"42", "--db", "a b.sqlite", "--theme=dark"});
  REQUIRE(all.has_value());
  CHECK(all->word == "42");
  CHECK(all->store == "a b.sqlite");
  CHECK(all->theme == Theme::dark);
  CHECK(readArguments({"--screenshot", "plan", "--anything"})->screenshot);
  CHECK(readArguments({"-h"})->help);
  CHECK(readArguments({"--version"})->version);
  for (const QStringList& wrong :
       {QStringList{"--db"}, {"--theme", "pink"}, {"--them=dark"}, {"1", "2"}, {"-x"}})
    CHECK_FALSE(readArguments(wrong).has_value());
  CHECK(readArguments({"--them=dark"}).error().hint == "did you mean --theme?");
}

TEST_CASE("What is wrong is known before a window opens") {
  test::TemporaryFolder folder;
  const std::string store = folder / "runs.sqlite";
  const auto problem = [&](const char* word) {
    return problemOf({.word = word, .store = store, .theme = {}, .all = {}}).has_value();
  };
  CHECK_FALSE(problem(""));
  CHECK(problem("1"));
  CHECK(problem("last"));
  CHECK_FALSE(problem("tiny"));
  CHECK(problem("nosuch"));
  {
    traces::RunRecord run;
    run.reports.emplace_back();
    REQUIRE(traces::RunStore::open(store, traces::RunStore::Access::readWrite)->save(run).has_value());
  }
  CHECK_FALSE(problem("1"));
  CHECK_FALSE(problem("last"));
  CHECK(problem("2"));
  test::writeFile(store, "something else, longer than a header of SQLite");
  CHECK(problem(""));
}

TEST_CASE("The program's exit codes and messages") {
  const auto help = gui({"--help"});
  CHECK(help.exitCode == 0);
  CHECK(help.out.find("usage: vsim-gui") != std::string::npos);
  CHECK(gui({"--version"}).out.starts_with("vsim-gui "));
  test::TemporaryFolder folder;
  const std::string missing = folder / "runs.sqlite";
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--thme", "dark"}, {"--theme", "pink"}, {"nosuch.yaml"}, {"3", "--db", missing}, {"1", "2"}}) {
    const auto result = gui(wrong);
    INFO(result.err);
    CHECK(result.exitCode == 2);
    CHECK(result.err.starts_with("vsim-gui: "));
    CHECK(result.out.empty());
  }
  const auto dark = gui({"tiny", "--db", missing});
  CHECK(dark.exitCode == 1);
  CHECK(dark.err.find("no display") != std::string::npos);
}

}  // namespace vsim::gui
