#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace vsim::cli {
namespace {

namespace fs = std::filesystem;

/// Beside this program, as it is installed, or in the folder where the build puts it.
fs::path findGui() {
  std::error_code problem;
  const fs::path folder = fs::read_symlink("/proc/self/exe", problem).parent_path();
  if (problem) return {};
  for (const fs::path& candidate : {folder / "vsim-gui", folder.parent_path() / "gui" / "vsim-gui"})
    if (fs::is_regular_file(candidate, problem)) return candidate;
  return {};
}

}  // namespace

int runGui(const std::vector<std::string>& arguments) {
  const fs::path program = findGui();
  if (program.empty())
    return reportFailure({.message = "vsim-gui is not built",
                          .hint = "`./vsim gui` in the checkout builds it; with CMake: -DVSIM_GUI=ON"});
  std::string name = program.string();
  std::vector<std::string> copies = arguments;  // exec takes them as changeable
  std::vector<char*> words{name.data()};
  for (std::string& copy : copies) words.push_back(copy.data());
  words.push_back(nullptr);
  ::execv(name.c_str(), words.data());
  return reportFailure({.message = "cannot start " + name + ": " + std::strerror(errno)});
}

}  // namespace vsim::cli
