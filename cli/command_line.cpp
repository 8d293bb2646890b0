#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>

#include "cli/commands.h"
#include "cli/output.h"
#include "core/base/error.h"

namespace vsim::cli {
namespace {

constexpr const char* kHelp =
    R"(vsim predicts how fast a model trains under FSDP on a cluster, and in how much memory.

usage: vsim COMMAND ...

  run SCENARIO        simulate a training step; report, store    --json --trace --set --explain
  run SCENARIO --real run the step on this machine or job, simulate the same, compare  --steps --max-error
  calibrate [SCENARIO]  measure this machine or job, write a profile; the same as vsim --real  --budget
  plan SCENARIO       the layouts alone: shard sizes, padding   --systems --group-sizes --fuse --json
  program SCENARIO    what one rank's host thread issues in a step
  topo SCENARIO       the cluster; --list: all cluster presets
  collective KIND     one collective on a cluster, in nccl-tests' columns
  validate TABLE.csv  predictions against measurements           --fit --folds --json
  runs                the stored runs
  show RUN            a stored run's report again                --json --trace --scenario
  gui [RUN|SCENARIO|TRACE]  all of that in a window              --db --theme --screenshot

  vsim COMMAND --help says more; vsim --version

examples:
  vsim run moe_10k
  vsim run scenario.yaml --set cluster.gpus=2048 --json result.json --trace trace.json
  vsim show last --explain
  vsim run SCENARIO --real --executor host               (ranks as threads of this machine's processor)
  mpirun -np 8 vsim run SCENARIO --real --executor host  (srun and torchrun start GPU ranks alike)

exit codes: 0 done (also when the model does not fit), 1 failed, 2 wrong input
)";

std::vector<std::string> commandNames() {
  std::vector<std::string> names{"run",      "plan", "program", "topo",      "collective",
                                 "validate", "runs", "show",    "calibrate", "gui"};
  for (const auto& [name, instead] : laterCommands()) names.push_back(name);
  return names;
}

/// The arguments as one would type them in a shell.
std::string commandLineText(const std::vector<std::string>& arguments) {
  std::string text = "vsim";
  for (const std::string& argument : arguments) {
    const bool plain =
        !argument.empty() && argument.find_first_of(" \t\n'\"\\$`*?[]{}()<>|&;#~!") == std::string::npos;
    if (plain) {
      text += " " + argument;
      continue;
    }
    text += " '";
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += "'";
  }
  return text;
}

int wrongCommandLine(const std::string& message, const std::string& hint) {
  return reportWrongInput({{.message = "vsim: " + message, .hint = hint}});
}

/// What is no command of this version. Answers nothing for the others.
std::optional<int> refuseCommand(const std::string& name) {
  for (const auto& [later, instead] : laterCommands())
    if (name == later) return wrongCommandLine(name + " is not part of this version", instead);
  const std::vector<std::string> names = commandNames();
  if (std::find(names.begin(), names.end(), name) != names.end()) return std::nullopt;
  if (name.starts_with('-'))
    return wrongCommandLine("a command comes first, not " + name, "vsim --help lists the commands");
  const std::string near = core::nearest(name, names);
  return wrongCommandLine("unknown command " + name,
                          near.empty() ? "vsim --help lists the commands" : "did you mean " + near + "?");
}

std::vector<std::string> optionNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames())
      if (!option->get_group().empty()) names.push_back("--" + name);
  return names;
}

/// A mistake that the parser found, in one line.
int explainMistake(const CLI::App& command, const CLI::ParseError& problem) {
  std::string hint = "vsim " + command.get_name() + " --help says more";
  for (const std::string& extra : command.remaining()) {
    if (!extra.starts_with('-')) continue;
    const std::string near = core::nearest(extra.substr(0, extra.find('=')), optionNames(command));
    if (!near.empty()) hint = "did you mean " + near + "?";
    return wrongCommandLine(command.get_name() + ": unknown option " + extra, hint);
  }
  std::string message = problem.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return wrongCommandLine(command.get_name() + ": " + message, hint);
}

int parseAndRun(const std::vector<std::string>& arguments) {
  Call call{.commandLine = commandLineText(arguments)};
  CLI::App app("", "vsim");
  app.require_subcommand(1);
  addRun(app, call);
  addPlan(app, call);
  addProgram(app, call);
  addTopo(app, call);
  addCollective(app, call);
  addValidate(app, call);
  addRuns(app, call);
  addShow(app, call);
  addCalibrate(app, call);
  CLI::App* const command = app.get_subcommand(arguments.front());
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    print(command->help("vsim"));
  } catch (const CLI::ParseError& problem) {
    return explainMistake(*command, problem);
  }
  return call.exitCode;
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    std::fputs(kHelp, stderr);
    return kWrongInput;
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    print(kHelp);
    return kDone;
  }
  if (first == "--version" || first == "-V") {
    print("vsim " VSIM_VERSION "\n");
    return kDone;
  }
  if (first == "--real") {  // measures the machine, as `calibrate` does
    std::vector<std::string> renamed = arguments;
    renamed.front() = "calibrate";
    return parseAndRun(renamed);
  }
  if (first == "gui") return runGui({arguments.begin() + 1, arguments.end()});
  if (const auto refused = refuseCommand(first)) return *refused;
  return parseAndRun(arguments);
}

}  // namespace

int runCommandLine(const std::vector<std::string>& arguments) {
  int exitCode = kFailed;
  try {
    exitCode = dispatch(arguments);
  } catch (const std::bad_alloc&) {
    std::fputs("vsim: out of memory\n", stderr);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "vsim: %s\n", problem.what());
  }
  if (!outputSucceeded() && exitCode == kDone) {
    std::fputs("vsim: standard output cannot be written\n", stderr);
    exitCode = kFailed;
  }
  return exitCode;
}

}  // namespace vsim::cli
