#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/plan/layout_rules.h"
#include "gui/model/plan_map.h"
#include "gui/model/plan_set.h"

namespace vsim::gui {
namespace {

using app::PlannedBucket;
using core::formatBytes;
using core::formatCount;

constexpr const char* kCutBlocks = "blocks cut by device boundaries";

std::string copiesText(const PlanMap& map) {
  const PlanFacts& facts = map.facts();
  if (facts.copiesAfter == 0) return "none: the gathered buffer is the tensors";
  return fmt::format("{} tensors after a gather, {} before a reduction", facts.copiesAfter,
                     facts.copiesBefore);
}

/// Name of the fact, and how it reads for one bucket.
struct Fact {
  const char* name;
  std::string (*text)(const PlannedBucket& bucket, const PlanMap& map);
};

const Fact kFacts[] = {
    {"devices", [](const PlannedBucket& b, const PlanMap&) { return formatCount(b.layout.devices); }},
    {"buckets with this layout",
     [](const PlannedBucket& b, const PlanMap&) {
       return b.instances > 1 ? fmt::format("{} x {} side by side", formatCount(b.copies), b.instances)
                              : formatCount(b.copies);
     }},
    {"tensors",
     [](const PlannedBucket& b, const PlanMap&) {
       return formatCount(static_cast<std::int64_t>(b.problem.tensors.size()));
     }},
    {"elements", [](const PlannedBucket& b, const PlanMap&) { return formatCount(b.layout.unitElements); }},
    {"shard S (elements)",
     [](const PlannedBucket& b, const PlanMap&) { return formatCount(b.layout.shardElements); }},
    {"shard (bytes stored)",
     [](const PlannedBucket&, const PlanMap& m) {
       return formatBytes(m.facts().shardElements * m.facts().elementBytes);
     }},
    {"whole bucket (bytes stored)",
     [](const PlannedBucket& b, const PlanMap& m) {
       return formatBytes(b.layout.totalElements() * m.facts().elementBytes);
     }},
    {"padding", [](const PlannedBucket& b, const PlanMap&) { return planPercent(b.layout.paddingRatio()); }},
    {"padding (bytes stored)",
     [](const PlannedBucket&, const PlanMap& m) {
       return formatBytes(m.facts().paddingElements * m.facts().elementBytes);
     }},
    {"used of a shard, most (elements)",
     [](const PlannedBucket&, const PlanMap& m) { return formatCount(m.facts().mostUsed); }},
    {"used of a shard, least (elements)",
     [](const PlannedBucket&, const PlanMap& m) { return formatCount(m.facts().leastUsed); }},
    {"tensors on several devices",
     [](const PlannedBucket&, const PlanMap& m) { return formatCount(m.facts().splitTensors); }},
    {"tensors with a cut block",
     [](const PlannedBucket& b, const PlanMap&) { return formatCount(b.cutTensors); }},
    {kCutBlocks, [](const PlannedBucket&, const PlanMap& m) { return formatCount(m.facts().cutBlocks); }},
    {"copies", [](const PlannedBucket&, const PlanMap& m) { return copiesText(m); }},
    {"lower bound of S (elements)",
     [](const PlannedBucket& b, const PlanMap&) { return formatCount(b.layout.lowerBound); }},
    {"gap to the bound", [](const PlannedBucket& b, const PlanMap&) { return planGap(b); }},
    {"order",
     [](const PlannedBucket& b, const PlanMap&) { return b.order.empty() ? std::string("-") : b.order; }},
};

/// Blocks of all buckets that lie on two devices.
std::int64_t cutBlocks(const app::PlannedSystem& plan) {
  std::int64_t sum = 0;
  for (const PlannedBucket& bucket : plan.buckets) {
    if (bucket.cutTensors == 0) continue;
    const auto map = PlanMap::make(bucket, plan.system, plan.parameterBytes);
    if (map) sum += bucket.copies * map->facts().cutBlocks;
  }
  return sum;
}

}  // namespace

std::string planPercent(double ratio) { return fmt::format("{:.4f}%", 100.0 * ratio); }

std::string planGap(const PlannedBucket& bucket) {
  const double ratio = bucket.layout.gapRatio();
  return bucket.provenOptimal || ratio <= 0 ? "optimal" : fmt::format("{:.3f}%", 100.0 * ratio);
}

DataTable comparisonTable(const PlanSet& set) {
  DataTable table;
  table.header = {"system",
                  "padding (%)",
                  "parameters a rank (bytes)",
                  "shard S, all buckets (elements)",
                  "largest bucket gathered (elements)",
                  "tensors with a cut block",
                  "blocks cut",
                  "all-gathers a pass",
                  "gap to the bound (%)",
                  "planning (ms)",
                  "note"};
  table.numeric = {false, true, true, true, true, true, true, true, true, true, false};
  for (const PlanChoice& choice : set.choices) {
    const app::PlannedSystem& plan = choice.plan;
    if (!plan.refusal.empty()) {
      table.rows.push_back({choice.label, "", "", "", "", "", "", "", "", "", plan.refusal});
      continue;
    }
    table.rows.push_back({choice.label, fmt::format("{:.4f}", 100 * plan.paddingRatio()),
                          fmt::format("{}", plan.shardElements() * plan.parameterBytes),
                          fmt::format("{}", plan.shardElements()), fmt::format("{}", plan.gatheredElements()),
                          fmt::format("{}", plan.cutTensors()), fmt::format("{}", cutBlocks(plan)),
                          fmt::format("{}", plan.units.size()), fmt::format("{:.3f}", 100 * plan.gapRatio()),
                          fmt::format("{:.3f}", plan.seconds * 1e3),
                          choice.asRun ? "as the scenario sets it up" : "layout rule on veScale's buckets"});
  }
  return table;
}

DataTable groupSizeTable(const GroupSizeStudy& study) {
  DataTable table{.header = {"FSDP group (GPUs)"}, .rows = {}, .numeric = {true}};
  for (const std::string& system : study.systems)
    for (const char* what : {"padding (%)", "parameters a rank (bytes)", "tensors with a cut block"}) {
      table.header.push_back(fmt::format("{}: {}", system, what));
      table.numeric.push_back(true);
    }
  for (std::size_t size = 0; size < study.sizes.size(); ++size) {
    std::vector<std::string> row{fmt::format("{}", study.sizes[size])};
    for (const auto& values : study.values) {
      const GroupSizeValue& v = values[size];
      row.push_back(v.refused ? "refused" : fmt::format("{:.4f}", 100 * v.padding));
      row.push_back(v.refused ? "" : fmt::format("{}", v.shardBytes));
      row.push_back(v.refused ? "" : fmt::format("{}", v.cutTensors));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

DataTable factsTable(const BucketOf& a, const PlanMap* mapA, const BucketOf& b, const PlanMap* mapB) {
  DataTable table{.header = {"fact"}, .rows = {}, .numeric = {false}};
  const auto title = [](const BucketOf& of) {
    return fmt::format("{}: {}", of.system().label, of.planned().name);
  };
  const bool first = a.valid() && mapA, second = b.valid() && mapB;
  if (first) table.header.push_back(title(a));
  if (second) table.header.push_back(title(b));
  table.numeric.resize(table.header.size(), true);
  for (const Fact& fact : kFacts) {
    std::vector<std::string> row{fact.name};
    if (first) row.push_back(fact.text(a.planned(), *mapA));
    if (second) row.push_back(fact.text(b.planned(), *mapB));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<bool> badFacts(const DataTable& facts) {
  std::vector<bool> bad;
  for (const auto& row : facts.rows) {
    bool wrong = false;
    if (!row.empty() && row.front() == kCutBlocks)
      for (std::size_t i = 1; i < row.size(); ++i) wrong = wrong || row[i] != "0";
    bad.push_back(wrong);
  }
  return bad;
}

DataTable tensorTable(const BucketOf& bucket, const PlanMap& map) {
  DataTable table;
  table.header = {"system",           "bucket",       "tensor",  "shape",
                  "elements",         "first device", "devices", "offset (elements)",
                  "block (elements)", "blocks cut"};
  table.numeric = {false, false, false, false, true, true, true, true, true, true};
  const bool contiguous = map.buffer().viewsIntoGathered();
  for (std::size_t i = 0; i < map.tensors().size(); ++i) {
    const core::PlanTensor& t = map.tensors()[i];
    const auto index = static_cast<std::int64_t>(i);
    const auto [first, last] = map.buffer().owners(i);
    // In the gathered buffer, or in every shard where the system cuts each tensor on its own.
    const std::int64_t offset = contiguous ? map.buffer().tensorOffset(i) : map.buffer().layout().offsets[i];
    table.rows.push_back({bucket.system().label, bucket.planned().name, t.name,
                          fmt::format("{}", fmt::join(t.shape, " x ")), fmt::format("{}", t.elements),
                          fmt::format("{}", first), fmt::format("{}", last - first),
                          fmt::format("{}", offset), fmt::format("{}", map.block(index)),
                          fmt::format("{}", map.cutBlocks(index))});
  }
  return table;
}

}  // namespace vsim::gui
