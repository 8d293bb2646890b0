#include "cli/command_line.h"

int main(int argc, char** argv) {
  return vsim::cli::runCommandLine(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
