#include "app/plan_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units.h"
#include "core/report/text_table.h"

namespace vsim::app {
namespace {

using core::formatBytes;
using core::formatCount;
using core::TextTable;

std::string percent(double ratio) { return fmt::format("{:.4f}%", 100.0 * ratio); }

std::string gap(double ratio, bool optimal) {
  return optimal || ratio <= 0 ? "optimal" : fmt::format("{:.3f}%", 100.0 * ratio);
}

std::string milliseconds(double seconds) { return fmt::format("{:.3f} ms", seconds * 1e3); }

std::string title(const PlannedSystem& plan) {
  std::string text = plan.model;
  for (const auto& [key, value] : plan.overrides) text += fmt::format(" {}={}", key, value);
  return text;
}

/// How the layouts were searched, where that is not the default.
std::string method(const PlanOptions& options) {
  std::string text;
  if (!options.searchOrder) text += "given order only\n";
  if (options.budgetMilliseconds > 0)
    text += fmt::format("search budget {} ms: layouts depend on the machine\n", options.budgetMilliseconds);
  if (options.expertsApart) text += "stacked experts planned as one tensor per expert\n";
  if (options.align > 0) text += fmt::format("starts and shards aligned to {} elements\n", options.align);
  return text;
}

/// Plans that differ only in the group size, or only in the system, side by side.
template <class Same>
std::vector<std::vector<const PlannedSystem*>> grouped(std::span<const PlannedSystem> plans, Same same) {
  std::vector<std::vector<const PlannedSystem*>> groups;
  for (const PlannedSystem& plan : plans) {
    const auto at = std::find_if(groups.begin(), groups.end(),
                                 [&](const auto& group) { return same(*group.front(), plan); });
    if (at == groups.end())
      groups.push_back({&plan});
    else
      at->push_back(&plan);
  }
  return groups;
}

bool sameModel(const PlannedSystem& a, const PlannedSystem& b) {
  return a.scenario == b.scenario && a.overrides == b.overrides;
}

const PlannedSystem* find(const std::vector<const PlannedSystem*>& plans, const std::string& system,
                          std::int64_t devices) {
  for (const PlannedSystem* plan : plans)
    if (plan->system == system && plan->devices == devices) return plan;
  return nullptr;
}

std::string refusals(const std::vector<const PlannedSystem*>& plans) {
  std::string text;
  for (const PlannedSystem* plan : plans)
    if (!plan->refusal.empty())
      text += fmt::format("  {} on {} GPUs: {}\n", plan->system, plan->devices, plan->refusal);
  return text;
}

/// Padding of those buckets of a plan that lie where one bucket of the first plan does.
std::string bucketPadding(const PlannedSystem& plan, const std::string& name) {
  if (!plan.refusal.empty()) return "-";
  double held = 0, needed = 0;
  for (const PlannedBucket& b : plan.buckets) {
    if (b.name != name && !b.name.starts_with(name + ".")) continue;
    held += static_cast<double>(b.layout.totalElements());
    needed += static_cast<double>(b.layout.unitElements);
  }
  return needed > 0 ? percent(held / needed - 1.0) : "-";
}

/// One group size: what every system makes of every bucket.
std::string bucketComparison(const std::vector<const PlannedSystem*>& plans) {
  const PlannedSystem& first = *plans.front();
  TextTable table(2);
  std::vector<std::string> head{"system"};
  for (const PlannedBucket& b : first.buckets)
    if (b.name.find('.') == std::string::npos) head.push_back(b.name);
  const std::vector<std::string> names(head.begin() + 1, head.end());
  for (const char* column : {"all buckets", "bytes a rank", "cut tensors"}) head.emplace_back(column);
  table.add(head);
  for (const PlannedSystem* plan : plans) {
    std::vector<std::string> row{plan->system};
    for (const std::string& name : names) row.push_back(bucketPadding(*plan, name));
    if (plan->refusal.empty())
      row.insert(row.end(),
                 {percent(plan->paddingRatio()), formatBytes(plan->shardElements() * plan->parameterBytes),
                  formatCount(plan->cutTensors())});
    else
      row.insert(row.end(), {"refused", "-", "-"});
    table.add(std::move(row));
  }
  return table.text();
}

template <class Cell>
std::string sizeTable(const std::vector<const PlannedSystem*>& plans, const std::string& corner, Cell cell) {
  std::vector<std::string> systems, head{corner};
  std::vector<std::int64_t> sizes;
  for (const PlannedSystem* plan : plans) {
    if (std::find(systems.begin(), systems.end(), plan->system) == systems.end())
      systems.push_back(plan->system);
    if (std::find(sizes.begin(), sizes.end(), plan->devices) == sizes.end()) sizes.push_back(plan->devices);
  }
  for (const std::int64_t size : sizes) head.push_back(formatCount(size));
  TextTable table(2);
  table.add(std::move(head));
  for (const std::string& system : systems) {
    std::vector<std::string> row{system};
    for (const std::int64_t size : sizes) {
      const PlannedSystem* plan = find(plans, system, size);
      row.push_back(!plan ? "" : plan->refusal.empty() ? cell(*plan) : "refused");
    }
    table.add(std::move(row));
  }
  return table.text();
}

}  // namespace

std::string plansText(std::span<const PlannedSystem> plans, const PlanOptions& options) {
  std::string text = method(options);
  for (const PlannedSystem& plan : plans) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{}: {} on {} GPUs, planned and verified in {}\n", plan.system, title(plan),
                        plan.devices, milliseconds(plan.seconds));
    TextTable table(2);
    table.add({"bucket", "copies", "tensors", "devices", "elements", "shard S", "padding", "lower bound",
               "gap", "order", "time"});
    for (const PlannedBucket& b : plan.buckets)
      table.add({b.name, formatCount(b.copies),
                 formatCount(static_cast<std::int64_t>(b.problem.tensors.size())),
                 formatCount(b.layout.devices), formatCount(b.layout.unitElements),
                 formatCount(b.layout.shardElements), percent(b.layout.paddingRatio()),
                 formatCount(b.layout.lowerBound), gap(b.layout.gapRatio(), b.provenOptimal),
                 b.order.empty() ? "-" : b.order, b.order.empty() ? "-" : milliseconds(b.seconds)});
    text += table.text();
    text += fmt::format("  padding of all buckets together: {}\n", percent(plan.paddingRatio()));
  }
  return text;
}

std::string groupSizesText(std::span<const PlannedSystem> plans, const PlanOptions& options) {
  std::string text = method(options);
  const auto same = [](const PlannedSystem& a, const PlannedSystem& b) {
    return sameModel(a, b) && a.system == b.system;
  };
  for (const auto& group : grouped(plans, same)) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{}: {}\n", group.front()->system, title(*group.front()));
    TextTable table(2);
    table.add({"group size", "shard S, all buckets", "bytes a rank", "padding", "gap",
               "largest bucket gathered", "time"});
    for (const PlannedSystem* plan : group)
      table.add({formatCount(plan->devices), formatCount(plan->shardElements()),
                 formatBytes(plan->shardElements() * plan->parameterBytes), percent(plan->paddingRatio()),
                 gap(plan->gapRatio(), plan->provenOptimal()), formatCount(plan->gatheredElements()),
                 milliseconds(plan->seconds)});
    text += table.text();
  }
  return text;
}

std::string comparisonText(std::span<const PlannedSystem> plans, const PlanOptions& options) {
  std::string text = method(options);
  for (const auto& group : grouped(plans, sameModel)) {
    if (!text.empty()) text += '\n';
    const bool oneSize = std::all_of(group.begin(), group.end(), [&](const PlannedSystem* plan) {
      return plan->devices == group.front()->devices;
    });
    if (oneSize) {
      text += fmt::format("{} on {} GPUs: padding by bucket; bytes of parameters\n", title(*group.front()),
                          group.front()->devices);
      text += bucketComparison(group);
    } else {
      text += fmt::format("{}: padding of all buckets by size of the FSDP group\n", title(*group.front()));
      text +=
          sizeTable(group, "system", [](const PlannedSystem& plan) { return percent(plan.paddingRatio()); });
      text += "  bytes of parameters a rank\n";
      text += sizeTable(group, "system", [](const PlannedSystem& plan) {
        return formatBytes(plan.shardElements() * plan.parameterBytes);
      });
      text += "  tensors with a block that lies on two devices\n";
      text += sizeTable(group, "system",
                        [](const PlannedSystem& plan) { return formatCount(plan.cutTensors()); });
    }
    text += refusals(group);
  }
  return text;
}

std::string fusionText(std::span<const FusionPlan> plans, const PlanOptions& options) {
  std::string text = method(options);
  for (const FusionPlan& plan : plans) {
    if (!text.empty()) text += '\n';
    const std::string layers = plan.first == plan.last ? plan.first : plan.first + " to " + plan.last;
    text += fmt::format("{} on {} GPUs, {}: layers a bucket\n", plan.model, plan.devices, layers);
    TextTable table(2);
    table.add({"layers", "buckets", "padding", "", "shard bytes", "bucket gathered", "buffers", "memory",
               "communication", "of it exposed", ""});
    const auto bytes = [](double value) { return formatBytes(static_cast<core::Bytes>(value)); };
    for (std::size_t i = 0; i < plan.choice.candidates.size(); ++i) {
      const core::FusionCandidate& c = plan.choice.candidates[i];
      table.add({formatCount(c.layersPerBucket), formatCount(c.buckets), percent(c.paddingRatio),
                 c.provenOptimal ? "optimal" : "", bytes(c.shardBytes), formatCount(c.gatheredElements),
                 bytes(c.bufferBytes), bytes(c.memoryBytes()), bytes(c.trafficBytes), bytes(c.exposedBytes),
                 i == plan.choice.chosen ? "<-" : ""});
    }
    text += table.text();
    text += fmt::format("  {} a bucket; {}\n", plan.choice.candidates[plan.choice.chosen].layersPerBucket,
                        plan.choice.reason);
  }
  return text;
}

std::string problemsText(std::span<const PlannedProblem> plans, const PlanOptions& options) {
  std::string text = method(options);
  TextTable table;
  table.add({"problem", "devices", "tensors", "elements", "shard S", "padding", "lower bound", "gap", "order",
             "time"});
  std::size_t proven = 0;
  double seconds = 0;
  for (const PlannedProblem& plan : plans) {
    const core::Layout& layout = plan.found.layout;
    table.add({plan.name, formatCount(plan.problem.devices),
               formatCount(static_cast<std::int64_t>(plan.problem.tensors.size())),
               formatCount(layout.unitElements), formatCount(layout.shardElements),
               percent(layout.paddingRatio()), formatCount(layout.lowerBound),
               gap(layout.gapRatio(), plan.found.provenOptimal), plan.found.order,
               milliseconds(plan.seconds)});
    proven += plan.found.provenOptimal ? 1 : 0;
    seconds += plan.seconds;
  }
  text += table.text();
  text += fmt::format("{} of {} proven optimal, planned in {:.3f} s\n", proven, plans.size(), seconds);
  return text;
}

}  // namespace vsim::app
