#include <CLI/CLI.hpp>
#include <memory>

#include "app/validate.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace vsim::cli {
namespace {

struct ValidateCommand {
  app::KernelValidationOptions options;
  std::string json;
  std::size_t worst = 10;
};

int validate(const ValidateCommand& command) {
  const auto report = app::validate(command.options);
  if (!report) return reportWrongInput(report.error());
  if (command.json != "-") print(app::validationText(*report, command.worst));
  return command.json.empty() ? int{kDone} : writeResult(command.json, app::validationJson(*report));
}

}  // namespace

void addValidate(CLI::App& app, Call& call) {
  const auto command = std::make_shared<ValidateCommand>();
  CLI::App* const sub = app.add_subcommand("validate", "predictions against a table of measurements");
  sub->add_option("TABLE", command->options.table, "CSV; its columns say what was measured")->required();
  sub->add_option("--fit", command->options.fitTable, "fit the models on this table first")
      ->type_name("TABLE");
  sub->add_option("--folds", command->options.folds, "cross-validate TABLE in this many parts")
      ->type_name("K");
  sub->add_option("--parameters", command->options.parameters, "kernel parameters (default: bundled)")
      ->type_name("FILE");
  sub->add_option("--threads", command->options.threads, "default: as many as the machine has")
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  sub->add_option("--worst", command->worst, "how many of the worst rows to print")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
  sub->add_option("--json", command->json, "write the result as JSON; - is standard output")
      ->type_name("FILE");
  sub->callback([command, &call] { call.exitCode = validate(*command); });
}

}  // namespace vsim::cli
