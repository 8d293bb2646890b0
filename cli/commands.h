#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace vsim::cli {

/// What a command needs of the call besides its own options, and where it leaves its exit code.
struct Call {
  std::string commandLine;  // as typed, for the store
  int exitCode = 0;
};

// Each adds one command with its options to `app`; parsing runs it. `call` outlives the app.
void addRun(CLI::App& app, Call& call);
void addPlan(CLI::App& app, Call& call);
void addProgram(CLI::App& app, Call& call);
void addTopo(CLI::App& app, Call& call);
void addCollective(CLI::App& app, Call& call);
void addValidate(CLI::App& app, Call& call);
void addRuns(CLI::App& app, Call& call);
void addShow(CLI::App& app, Call& call);
void addCalibrate(CLI::App& app, Call& call);

/// Becomes vsim-gui with these arguments; answers an exit code only where that is not there.
int runGui(const std::vector<std::string>& arguments);

/// Commands of later versions: name and what serves instead today.
const std::vector<std::pair<std::string, std::string>>& laterCommands();

}  // namespace vsim::cli
