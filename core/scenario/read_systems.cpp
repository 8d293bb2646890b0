#include <algorithm>
#include <array>

#include "core/scenario/sections.h"

namespace vsim::core {
namespace {

constexpr std::size_t kMaxSystems = 16;
constexpr std::int64_t kMaxPrefetch = 1024;
const std::vector<std::string> kSystems{"vescale", "fsdp2"};

constexpr std::array<std::pair<std::string_view, ReshardAfterForward>, 5> kReshard{
    {{"auto", ReshardAfterForward::automatic},
     {"true", ReshardAfterForward::always},
     {"false", ReshardAfterForward::never},
     {"always", ReshardAfterForward::always},
     {"never", ReshardAfterForward::never}}};

bool readName(Problems& problems, const Node& node, const std::string& path, std::string& name) {
  const auto word = wordAt(problems, node, path);
  if (!word) return false;
  if (std::find(kSystems.begin(), kSystems.end(), *word) == kSystems.end()) {
    // "fsdp1" is one letter from "fsdp2" and means another system: no guess is better than that one.
    std::string known;
    for (const std::string& system : kSystems) known += (known.empty() ? "" : ", ") + system;
    problems.add(node.place, fmt::format("{}: {} is not known", path, shownValue(*word)),
                 "known systems: " + known);
    return false;
  }
  name = *word;
  return true;
}

void readOptions(Section& section, SystemSpec& spec) {
  section.choice("reshard_after_forward", spec.reshardAfterForward, Choices<ReshardAfterForward>(kReshard),
                 "values");
  const Node* shortName = section.find("prefetch");
  const Node* longName = section.find("forward_prefetch");
  if (shortName && longName)
    section.problems().add(
        shortName->place, section.pathOf("prefetch") + " and forward_prefetch are the same", "leave one out");
  section.count("prefetch", spec.forwardPrefetch, 0, kMaxPrefetch);
  section.count("forward_prefetch", spec.forwardPrefetch, 0, kMaxPrefetch);
  section.count("backward_prefetch", spec.backwardPrefetch, 0, kMaxPrefetch);
  section.count("layers_per_bucket", spec.layersPerBucket, 1, kMaxPrefetch);
  section.count("reduce_scatter_inputs", spec.reduceScatterInputs, 1, kMaxPrefetch);
  section.flag("async_unshard", spec.asyncUnshard);
  section.flag("separate_roots", spec.separateRoots);
  section.flag("accumulate_unsharded", spec.accumulateUnsharded);
  section.flag("defer_final_wait", spec.deferFinalWait);
  section.flag("separate_reduce_communicator", spec.separateReduceCommunicator);
}

void readSystem(Problems& problems, const Node& node, const std::string& path, Scenario& scenario) {
  SystemSpec spec;
  if (node.kind != NodeKind::map) {
    if (readName(problems, node, path, spec.name)) scenario.systems.push_back(spec);
    return;
  }
  Section section(problems, &node, path);
  const Node* name = section.require("name", "for example {name: fsdp2, prefetch: 2}");
  const bool known = name && readName(problems, *name, section.pathOf("name"), spec.name);
  readOptions(section, spec);
  section.finish();
  if (known) scenario.systems.push_back(std::move(spec));
}

}  // namespace

void readSystems(ReadContext& context, Section& top, Scenario& scenario) {
  scenario.systems.clear();
  const Node* node = top.find("systems");
  if (!node) {
    scenario.systems.push_back(SystemSpec{.name = "vescale"});
    return;
  }
  if (node->kind != NodeKind::sequence) {
    readSystem(context.problems, *node, "systems", scenario);
    return;
  }
  if (node->items.empty()) context.problems.add(node->place, "systems: the list is empty");
  if (node->items.size() > kMaxSystems) {
    context.problems.add(node->place,
                         fmt::format("systems: {} are more than {}", node->items.size(), kMaxSystems));
    return;
  }
  for (std::size_t i = 0; i < node->items.size(); ++i)
    readSystem(context.problems, *node->items[i], fmt::format("systems.{}", i), scenario);
}

}  // namespace vsim::core
