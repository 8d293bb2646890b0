#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/plan.h"
#include "gui/model/data_table.h"
#include "gui/model/opened_run.h"

namespace vsim::gui {

/// What is planned of a run: its scenario as the run read it, at the sweep point of one report.
struct PlanSource {
  app::RunOptions scenario;
  std::vector<std::pair<std::string, std::string>> point;  // overrides of the sweep point
  std::string system;                                      // of the report
  friend bool operator==(const PlanSource& a, const PlanSource& b) {
    return a.scenario.scenario == b.scenario.scenario && a.scenario.text == b.scenario.text &&
           a.scenario.overrides == b.scenario.overrides && a.point == b.point;
  }
};

/// Errors: nothing to plan from, as in traces of other programs; says why in a sentence.
[[nodiscard]] core::Result<PlanSource> planSource(const OpenedRun& run, int report);

/// One system's plan of all buckets.
struct PlanChoice {
  std::string label;  // "vescale" as the scenario sets it up; "fsdp2 rule": the layout rule alone
  bool asRun = false;
  app::PlannedSystem plan;
};

/// The plans of one size of the FSDP group: the scenario's systems, then layout rules that differ from them.
struct PlanSet {
  std::int64_t devices = 0;
  std::string dtype;  // of stored parameters
  std::vector<PlanChoice> choices;
  [[nodiscard]] std::int64_t find(const std::string& label) const;  // -1: none
};

/// Rules that every plan is set beside.
[[nodiscard]] const std::vector<std::string>& comparedRules();

/// Plans with app::makePlans: numbers are those of `vsim plan`. `groupSize` 0: the scenario's. For background
/// threads; `cancelled` is looked at between systems, a cancelled set has no choices. Errors: those of
/// makePlans.
[[nodiscard]] core::ResultAll<PlanSet> makePlanSet(const PlanSource& source, std::int64_t groupSize,
                                                   const std::atomic<bool>& cancelled);

/// One system at one size of the FSDP group.
struct GroupSizeValue {
  bool refused = true;
  double padding = 0;  // of all buckets, as a fraction
  std::int64_t shardBytes = 0, cutTensors = 0;
};
struct GroupSizeStudy {
  std::vector<std::int64_t> sizes;                  // those that can be planned
  std::vector<std::string> systems;                 // labels
  std::vector<std::vector<GroupSizeValue>> values;  // [system][size]
  std::vector<std::string> notes;                   // sizes left out, and why
};
inline constexpr std::int64_t kSmallestGroup = 8, kLargestGroup = 1024;  // doubling
/// Plans every size; cancelled between sizes.
[[nodiscard]] GroupSizeStudy studyGroupSizes(const PlanSource& source, const std::atomic<bool>& cancelled);

/// "1.3857%", as `vsim plan` prints padding; "optimal" or "0.123%", as it prints the gap to the bound.
[[nodiscard]] std::string planPercent(double ratio);
[[nodiscard]] std::string planGap(const app::PlannedBucket& bucket);

/// Systems as rows: padding, bytes a rank, cut tensors and blocks, buckets.
[[nodiscard]] DataTable comparisonTable(const PlanSet& set);
[[nodiscard]] DataTable groupSizeTable(const GroupSizeStudy& study);
/// Facts of one bucket under one or two systems, one column each. A bucket may be missing (-1).
struct BucketOf {
  const PlanSet* set = nullptr;
  std::int64_t choice = -1, bucket = -1;
  [[nodiscard]] bool valid() const { return set && choice >= 0 && bucket >= 0; }
  [[nodiscard]] const PlanChoice& system() const { return set->choices[static_cast<std::size_t>(choice)]; }
  [[nodiscard]] const app::PlannedBucket& planned() const {
    return system().plan.buckets[static_cast<std::size_t>(bucket)];
  }
};
class PlanMap;
[[nodiscard]] DataTable factsTable(const BucketOf& a, const PlanMap* mapA, const BucketOf& b,
                                   const PlanMap* mapB);
/// Facts that must not be: blocks cut although the scenario asks for whole ones. By row of factsTable.
[[nodiscard]] std::vector<bool> badFacts(const DataTable& facts);

/// The bucket of `choice` that goes with a bucket of another system: it holds `tensor`, where that is given,
/// or has the same name, or the same name without what its system split off. -1: none.
[[nodiscard]] std::int64_t bucketLike(const PlanChoice& choice, const std::string& bucket,
                                      const std::string& tensor);

/// Every tensor of a bucket: size, block, where it lies.
[[nodiscard]] DataTable tensorTable(const BucketOf& bucket, const PlanMap& map);

}  // namespace vsim::gui
