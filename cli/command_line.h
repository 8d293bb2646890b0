#pragma once

#include <string>
#include <vector>

namespace vsim::cli {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,      // the system or vsim itself
  kWrongInput = 2,  // the command line, a scenario, a table
};

/// Runs the command line (without the program's name). Answers the exit code; never throws.
int runCommandLine(const std::vector<std::string>& arguments);

}  // namespace vsim::cli
