#include <fmt/format.h>

#include <algorithm>

#include "app/cluster.h"
#include "app/load.h"
#include "gui/model/figure_text.h"
#include "gui/model/network_map.h"
#include "gui/model/plan_set.h"

namespace vsim::gui {
namespace {

std::string microseconds(core::Picoseconds time) {
  return fmt::format("{:.3f}", static_cast<double>(time) * 1e-6);
}
std::string gigabytes(double bytesPerSecond) { return fmt::format("{:.3f}", bytesPerSecond * 1e-9); }
std::string percent(const NetworkMap& map, double share) {
  return map.known() ? fmt::format("{:.1f}", 100 * share) : std::string();
}
std::string bytesOf(double bytes) { return fmt::format("{:.0f}", bytes); }

std::string limitOf(const NetworkMap& map, LinkTier tier) {
  return map.known() ? map.tier(tier).name : std::string();
}

std::vector<std::string> flowRow(const NetworkMap& map, const NetworkFlow& flow) {
  const core::CommGroup& group = map.group(flow);
  return {map.nameOf(flow),
          fmt::format("{}", flow.step),
          microseconds(flow.begin),
          microseconds(flow.length()),
          map.known() ? microseconds(static_cast<core::Picoseconds>(flow.lost())) : std::string(),
          percent(map, flow.share),
          limitOf(map, flow.limit),
          group.name,
          fmt::format("{}", group.size),
          fmt::format("{}", group.stride),
          bytesOf(flow.bytes),
          gigabytes(flow.busBandwidth())};
}

DataTable emptyFlowTable() {
  DataTable table;
  table.header = {"collective",     "step",         "begin (us)",
                  "duration (us)",  "lost (us)",    "of line rate (%)",
                  "limiting links", "communicator", "ranks",
                  "stride",         "size (bytes)", "bus bandwidth (GB/s)"};
  table.numeric = {false, true, true, true, true, true, false, false, true, true, true, true};
  return table;
}

DataTable rowsOf(const NetworkMap& map, const std::vector<std::size_t>& flows) {
  DataTable table = emptyFlowTable();
  for (const std::size_t i : flows) table.rows.push_back(flowRow(map, map.flows()[i]));
  return table;
}

}  // namespace

core::Result<core::ClusterHardware> clusterOf(const OpenedRun& run, int report) {
  // The prediction of such a run rests on what the processors did, too.
  if (std::ranges::any_of(run.logs, [](const auto& log) { return log && log->executor == "host"; }))
    return core::fail(
        "The ranks ran on processors (host executor): their collectives load no link of a cluster.");
  const auto source = planSource(run, report);
  if (!source) return core::fail("The run does not say what cluster it ran on.");
  const auto scenarios = app::loadScenarios(source->scenario);
  if (!scenarios) return core::fail(scenarios.error().front().text());
  const auto at = std::ranges::find(*scenarios, source->point, &core::Scenario::overrides);
  auto cluster = app::clusterHardware(at == scenarios->end() ? scenarios->front() : *at);
  if (!cluster) return core::fail(cluster.error().front().text());
  return *cluster;
}

DataTable NetworkMap::flowTable() const {
  DataTable table = emptyFlowTable();
  for (const NetworkFlow& flow : flows_) table.rows.push_back(flowRow(*this, flow));
  return table;
}

DataTable NetworkMap::lostTable(std::optional<TimeRange> range, std::size_t most) const {
  return rowsOf(*this, mostLost(range, most));
}

DataTable NetworkMap::runningTable(core::Picoseconds time, std::optional<LinkTier> tier) const {
  return rowsOf(*this, runningAt(time, tier));
}

DataTable NetworkMap::groupTable(std::optional<TimeRange> range) const {
  DataTable table;
  table.header = {"collective",
                  "communicator",
                  "ranks",
                  "where",
                  "count",
                  "size, summed (bytes)",
                  "time, summed (us)",
                  "bus bandwidth (GB/s)",
                  "limiting links",
                  "of line rate (%)",
                  "lost (us)"};
  table.numeric = {false, false, true, false, true, true, true, true, false, true, true};
  for (const NetworkGroupRow& row : groupRows(range)) {
    const core::CommGroup& group = log_->program->groups[row.group];
    table.rows.push_back({std::string(core::kCollectiveNames[static_cast<std::size_t>(row.kind)]), group.name,
                          fmt::format("{}", group.size), row.place, fmt::format("{}", row.count),
                          bytesOf(row.bytes), fmt::format("{:.3f}", row.seconds * 1e6),
                          gigabytes(row.busBandwidth), limitOf(*this, row.limit), percent(*this, row.share),
                          known() ? fmt::format("{:.3f}", row.lostSeconds * 1e6) : std::string()});
  }
  return table;
}

DataTable NetworkMap::tierTable(std::optional<TimeRange> range) const {
  DataTable table;
  table.header = {"links",
                  "between",
                  "line rate of a GPU's share (GB/s)",
                  "carried by a GPU's share (bytes)",
                  "mean load (%)",
                  "peak load (%)",
                  "peak at (us)"};
  table.numeric = {false, false, true, true, true, true, true};
  const TimeRange window = range.value_or(lastStep_);
  for (std::size_t t = 0; t < kLinkTiers; ++t) {
    const NetworkTier& tier = tiers_[t];
    if (!tier.present) continue;
    const LoadCurve::Summary load = tier.load.summary(window);
    table.rows.push_back({tier.upperBound ? tier.name + " (at most)" : tier.name, tier.between,
                          gigabytes(tier.perGpu), bytesOf(carried(static_cast<LinkTier>(t), range)),
                          fmt::format("{:.1f}", 100 * sumOf(load.mean)),
                          fmt::format("{:.1f}", 100 * sumOf(load.peak)), microseconds(load.peakTime)});
  }
  return table;
}

DataTable NetworkMap::matrixTable(std::optional<TimeRange> range) const {
  const TrafficMatrix traffic = matrix(range);
  DataTable table;
  table.header = {"from node", "to node", "nodes in a block", "bytes"};
  table.numeric = {true, true, true, true};
  for (std::int64_t from = 0; from < traffic.bins; ++from)
    for (std::int64_t to = 0; to < traffic.bins; ++to)
      if (traffic.at(from, to) > 0)
        table.rows.push_back({fmt::format("{}", from * traffic.nodesPerBin),
                              fmt::format("{}", to * traffic.nodesPerBin),
                              fmt::format("{}", traffic.nodesPerBin), bytesOf(traffic.at(from, to))});
  return table;
}

}  // namespace vsim::gui
