#include "app/plan.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

#include "app/plan_output.h"
#include "app/plan_problems.h"
#include "app/size_list.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/scenario_options.h"

namespace vsim::cli {
namespace {

struct PlanCommand {
  ScenarioOptions scenario;
  std::string problems, presets, order = "search", groupSizes, systems, fuse, json;
  double budget = 0;
  std::int64_t align = 0, rows = -1;
  bool perExpert = false;
};

/// Options that contradict each other, or ask for nothing.
core::Errors contradictions(const PlanCommand& c) {
  core::Errors errors;
  const auto wrong = [&](std::string message, std::string hint = {}) {
    errors.push_back({.message = "plan: " + std::move(message), .hint = std::move(hint)});
  };
  const int inputs = int{!c.scenario.scenario.empty()} + int{!c.problems.empty()} + int{!c.presets.empty()};
  if (inputs == 0) wrong("which scenario?", "or --problems FILE.json, or --presets NAME,...");
  if (inputs > 1) wrong("SCENARIO, --problems and --presets exclude each other");
  if (!c.problems.empty() && (!c.groupSizes.empty() || !c.systems.empty() || !c.fuse.empty() || c.perExpert))
    wrong("--problems goes with --order, --budget, --align and --json only");
  if (c.scenario.scenario.empty() && !c.scenario.settings.empty()) wrong("--set needs a scenario");
  if (c.presets.empty() && c.rows >= 0) wrong("--rows goes with --presets", "a scenario has `granularity`");
  if (c.order == "given" && c.budget > 0) wrong("--budget has nothing to search with --order given");
  if (!c.fuse.empty() && !c.systems.empty()) wrong("--fuse and --systems exclude each other");
  if (!c.fuse.empty() && !c.json.empty()) wrong("--fuse prints a table only, no --json");
  return errors;
}

/// "auto": 0.
core::Result<std::int64_t> layersPerBucket(const std::string& text) {
  if (text == "auto") return 0;
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 1)
    return core::fail(fmt::format("--fuse {:.40}: neither auto nor a number of layers", text));
  return value;
}

core::ResultAll<app::PlanOptions> planOptions(const PlanCommand& command) {
  if (core::Errors errors = contradictions(command); !errors.empty()) return tl::unexpected(errors);
  auto scenario = command.scenario.resolve();
  if (!scenario) return tl::unexpected(scenario.error());
  app::PlanOptions options{.scenario = std::move(*scenario),
                           .presets = app::splitList(command.presets),
                           .presetRows = command.rows >= 0 ? command.rows : 1,
                           .searchOrder = command.order == "search",
                           .budgetMilliseconds = command.budget,
                           .align = command.align,
                           .expertsApart = command.perExpert,
                           .groupSizes = {},
                           .rules = app::splitList(command.systems)};
  if (!command.groupSizes.empty()) {
    auto sizes = app::parseSizeList(command.groupSizes);
    if (!sizes) return tl::unexpected(core::Errors{sizes.error()});
    options.groupSizes = std::move(*sizes);
  }
  return options;
}

int show(const PlanCommand& command, const std::string& text, const std::string& json) {
  if (command.json != "-") print(text);
  return command.json.empty() ? int{kDone} : writeResult(command.json, json);
}

int planProblems(const PlanCommand& command, const app::PlanOptions& options) {
  const auto plans = app::planProblems(command.problems, options);
  if (!plans) return reportWrongInput(plans.error());
  return show(command, app::problemsText(*plans, options),
              command.json.empty() ? std::string() : app::problemsJson(*plans, options));
}

int planFusion(const PlanCommand& command, const app::PlanOptions& options) {
  const auto layers = layersPerBucket(command.fuse);
  if (!layers) return reportWrongInput({layers.error()});
  const auto plans = app::planFusion(options, *layers);
  if (!plans) return reportWrongInput(plans.error());
  print(app::fusionText(*plans, options));
  return kDone;
}

int plan(const PlanCommand& command) {
  const auto options = planOptions(command);
  if (!options) return reportWrongInput(options.error());
  if (!command.problems.empty()) return planProblems(command, *options);
  if (!command.fuse.empty()) return planFusion(command, *options);
  const auto plans = app::makePlans(*options);
  if (!plans) return reportWrongInput(plans.error());
  const std::string text = !options->rules.empty()        ? app::comparisonText(*plans, *options)
                           : !options->groupSizes.empty() ? app::groupSizesText(*plans, *options)
                                                          : app::plansText(*plans, *options);
  return show(command, text, command.json.empty() ? std::string() : app::plansJson(*plans, *options));
}

}  // namespace

void addPlan(CLI::App& app, Call& call) {
  const auto command = std::make_shared<PlanCommand>();
  CLI::App* const sub = app.add_subcommand("plan", "the layouts alone: shard sizes, padding, gap");
  command->scenario.addTo(*sub);
  sub->get_option("SCENARIO")->required(false);
  sub->add_option("--problems", command->problems, "plan the problems of a JSON file instead of a scenario")
      ->type_name("FILE");
  sub->add_option("--presets", command->presets, "models instead of a scenario, on 8 GPUs or --group-sizes")
      ->type_name("NAME,...");
  sub->add_option("--rows", command->rows,
                  "with --presets: blocks of so many rows (default 1; 0: element by element)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->type_name("N");
  sub->add_option("--order", command->order, "given: the model's order of tensors; search (default)")
      ->check(CLI::IsMember({"given", "search"}));
  sub->add_option("--budget", command->budget,
                  "search for so long instead of the default budget, which counts work")
      ->check(CLI::Range(0.001, 3.6e6))
      ->type_name("MS");
  sub->add_option("--align", command->align, "alignment of tensor starts and shards, in elements")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->type_name("A");
  sub->add_option("--group-sizes", command->groupSizes, "sizes of the FSDP group: 64,96,128..1024 (doubling)")
      ->type_name("LIST");
  sub->add_option("--systems", command->systems, "compare layout rules on the same buckets: all, or a list")
      ->type_name("LIST");
  sub->add_flag("--per-expert", command->perExpert, "plan stacked expert tensors as one tensor per expert");
  sub->add_option("--fuse", command->fuse, "how many neighbouring layers to put into one bucket")
      ->type_name("auto|N");
  sub->add_option("--json", command->json, "write the plans as JSON; - is standard output")
      ->type_name("FILE");
  sub->callback([command, &call] { call.exitCode = plan(*command); });
}

}  // namespace vsim::cli
