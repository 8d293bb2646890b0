#include "app/collective.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace vsim::cli {

void addCollective(CLI::App& app, Call& call) {
  const auto options = std::make_shared<app::CollectiveOptions>();
  CLI::App* const sub =
      app.add_subcommand("collective", "one collective on a cluster, in nccl-tests' columns");
  sub->add_option("KIND", options->kind, "all_gather, reduce_scatter, all_reduce, all_to_all or broadcast")
      ->required();
  sub->add_option("--cluster", options->cluster, "a preset (vsim topo --list)")->capture_default_str();
  sub->add_option("--ranks", options->ranks, "size of the group")->capture_default_str();
  sub->add_option("--stride", options->stride,
                  "distance of its ranks: 1 fills nodes, 8 takes one GPU of each")
      ->capture_default_str();
  sub->add_option("--bytes", options->bytes, "a size or a range by doubling; M is 2^20 as in nccl-tests")
      ->capture_default_str();
  sub->add_option("--type", options->dtype, "of the elements")->capture_default_str();
  sub->add_option("--profile", options->profile, "measured collectives to start from")->type_name("FILE");
  sub->callback([options, &call] {
    const auto text = app::collectiveText(*options);
    if (text) print(*text);
    call.exitCode = text ? int{kDone} : reportWrongInput(text.error());
  });
}

}  // namespace vsim::cli
