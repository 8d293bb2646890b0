#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/command_line.h"
#include "tests/support/run_process.h"

namespace vsim::cli {
namespace fs = std::filesystem;

TEST_CASE("vsim gui starts vsim-gui beside it, or in the build's folder, and says when there is none") {
  test::TemporaryFolder folder;
  fs::create_directories(folder / "cli");
  fs::copy_file(VSIM_EXECUTABLE, folder / "cli/vsim");
  const auto missing = test::runProcess(folder / "cli/vsim", {"gui", "42"});
  CHECK(missing.exitCode == kFailed);
  CHECK(missing.out.empty());
  CHECK(missing.err.find("vsim-gui is not built") != std::string::npos);
  std::string place = "gui/vsim-gui";
  SECTION("beside") { place = "cli/vsim-gui"; }
  SECTION("built") { fs::create_directories(folder / "gui"); }
  test::writeFile(folder / place, "#!/bin/sh\necho \"[$1] [$2]\"\nexit 5\n");
  fs::permissions(folder / place, fs::perms::owner_all);
  const auto started = test::runProcess(folder / "cli/vsim", {"gui", "run one", "--theme"});
  CHECK(started.exitCode == 5);
  CHECK(started.out == "[run one] [--theme]\n");
}

}  // namespace vsim::cli
