#include "cli/commands.h"

namespace vsim::cli {

const std::vector<std::pair<std::string, std::string>>& laterCommands() {
  static const std::vector<std::pair<std::string, std::string>> commands{
      {"sweep", "`vsim run SCENARIO` simulates the points of its sweep one after the other"},
      {"tune", "`vsim run SCENARIO --set KEY=VALUE` tries one layout"},
      {"memory", "`vsim run SCENARIO` shows the memory at the peak by category, --trace its course"},
      {"import", "a profile is a YAML file: write the measured costs there by hand"},
      {"export", "`vsim show RUN --trace FILE` and `--json FILE` write what is stored"},
      {"compare", "a scenario with several systems compares them; `vsim show RUN` prints one run"},
  };
  return commands;
}

}  // namespace vsim::cli
