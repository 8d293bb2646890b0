#include "cli/real_options.h"

#include <CLI/CLI.hpp>

#include "app/duration.h"

namespace vsim::cli {
namespace {

constexpr const char* kNames[] = {"--executor", "--ranks", "--timeout", "--budget"};

}  // namespace

void RealOptions::addTo(CLI::App& command, const std::string& standard) {
  budget = standard;
  command.add_option("--executor", executor, "auto (default): GPUs; cuda; host: this machine's processor")
      ->type_name("NAME");
  command.add_option("--ranks", ranks, "host executor without a launcher: ranks as threads (1 to 64)")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  command.add_option("--timeout", timeout, "end with an error when nothing moves for so long (default 60s)")
      ->type_name("TIME");
  command.add_option("--budget", budget, "of measuring: 90s, 10m, 1h (default " + standard + ")")
      ->type_name("TIME");
}

std::vector<std::string> RealOptions::given(const CLI::App& command) {
  std::vector<std::string> names;
  for (const char* name : kNames)
    if (const CLI::Option* option = command.get_option_no_throw(name);
        option != nullptr && option->count() > 0)
      names.emplace_back(name);
  return names;
}

core::ResultAll<RealOptions::Values> RealOptions::resolve(const std::string& command) const {
  core::Errors errors;
  Values values;
  const auto duration = [&](const char* option, const std::string& text, double& seconds) {
    const auto parsed = app::parseDuration(text);
    if (parsed)
      seconds = *parsed;
    else
      errors.push_back({.message = fmt::format("{}: {}: {}", command, option, parsed.error().message),
                        .hint = parsed.error().hint});
  };
  duration("--timeout", timeout, values.machine.timeoutSeconds);
  duration("--budget", budget, values.budgetSeconds);
  const auto choice = app::executorNamed(executor);
  if (choice)
    values.machine.executor = *choice;
  else
    errors.push_back(
        {.message = command + ": --executor: " + choice.error().message, .hint = choice.error().hint});
  values.machine.ranks = ranks;
  if (ranks > 0 && choice && *choice != app::ExecutorChoice::host)
    errors.push_back({.message = command + ": --ranks goes with --executor host",
                      .hint = "GPUs are counted, or started one process each: mpirun, srun, torchrun"});
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return values;
}

std::string RealOptions::text() const {
  return fmt::format("--executor {}\n--ranks {}\n--timeout {}\n--budget {}\n", executor, ranks, timeout,
                     budget);
}

}  // namespace vsim::cli
