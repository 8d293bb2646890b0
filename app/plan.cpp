#include "app/plan.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>

#include "app/load.h"
#include "app/prediction.h"
#include "sim/cluster/cluster_catalogue.h"
#include "sim/cluster/topology.h"

namespace vsim::app {
namespace {

void appendTable(std::string& out, const core::Scenario& scenario, const Prepared& prepared, double seconds) {
  const auto buckets = core::bucketLayouts(prepared.model, prepared.options, prepared.layouts);
  core::BuiltProgram all;
  all.layouts = buckets;
  auto at = std::back_inserter(out);
  fmt::format_to(at, "{}: {} on {} GPUs, planned and verified in {:.2f} ms\n", prepared.system->name(),
                 scenario.model.name, scenario.cluster.gpus, seconds * 1e3);
  fmt::format_to(at, "  {:<16} {:>6} {:>8} {:>8} {:>18} {:>15} {:>13} {:>15} {:>9}\n", "bucket", "copies",
                 "tensors", "devices", "elements", "shard S", "padding", "lower bound", "gap");
  for (const core::BucketLayout& b : buckets) {
    const double gap = b.lowerBound > 0
                           ? static_cast<double>(b.shardElements) / static_cast<double>(b.lowerBound) - 1.0
                           : 0.0;
    fmt::format_to(at, "  {:<16} {:>6} {:>8} {:>8} {:>18} {:>15} {:>12.4f}% {:>15} {:>9}\n", b.name, b.copies,
                   b.tensors, b.devices, core::formatCount(b.elements), core::formatCount(b.shardElements),
                   100.0 * b.paddingRatio(), core::formatCount(b.lowerBound),
                   gap <= 0 ? std::string("optimal") : fmt::format("{:.3f}%", 100.0 * gap));
  }
  fmt::format_to(at, "  padding of all buckets together: {:.4f}%\n", 100.0 * all.paddingRatio());
}

}  // namespace

core::ResultAll<std::string> planText(const RunOptions& options) {
  using Clock = std::chrono::steady_clock;
  auto scenarios = loadScenarios(options);
  if (!scenarios) return tl::unexpected(scenarios.error());
  std::string out;
  for (const core::Scenario& scenario : *scenarios) {
    const core::ModelGraph graph(scenario.model);
    for (const core::SystemSpec& spec : scenario.systems) {
      auto prepared = prepare(graph, scenario, spec);
      if (!prepared) return tl::unexpected(core::Errors{prepared.error()});
      const auto begin = Clock::now();
      auto layouts = prepared->system->plan(prepared->model, prepared->options);
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (!layouts) return tl::unexpected(core::Errors{layouts.error()});
      if (!out.empty()) out += '\n';
      appendTable(out, scenario, *prepared, seconds);
    }
  }
  return out;
}

core::ResultAll<std::string> topologyText(const RunOptions& options) {
  auto scenarios = loadScenarios(options);
  if (!scenarios) return tl::unexpected(scenarios.error());
  const core::Scenario& scenario = scenarios->front();
  auto cluster = sim::clusterPreset(scenario.cluster.preset);
  if (!cluster) return tl::unexpected(core::Errors{cluster.error()});
  auto text = sim::describeTopology(*cluster, scenario.cluster.gpus);
  if (!text) return tl::unexpected(core::Errors{text.error()});
  return *text;
}

std::string clusterListText() {
  std::string out;
  for (const std::string& name : sim::clusterPresetNames())
    out += fmt::format("{:<34}{}\n", name, sim::clusterPresetSummary(name));
  return out;
}

}  // namespace vsim::app
