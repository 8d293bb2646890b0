#pragma once

#include <span>
#include <string>

#include "app/plan.h"
#include "app/plan_problems.h"

namespace vsim::app {

/// A table of buckets per plan.
std::string plansText(std::span<const PlannedSystem> plans, const PlanOptions& options);
/// Group sizes as rows: one table per model and system.
std::string groupSizesText(std::span<const PlannedSystem> plans, const PlanOptions& options);
/// Systems as rows. One group size: padding by bucket. Several: padding by group size.
std::string comparisonText(std::span<const PlannedSystem> plans, const PlanOptions& options);
std::string fusionText(std::span<const FusionPlan> plans, const PlanOptions& options);
std::string problemsText(std::span<const PlannedProblem> plans, const PlanOptions& options);

/// {"scenario", "plans": [{"system", "devices", "planning_time_s", "padding_ratio", "total_elements",
/// "buckets": [{"name", "shard_elements", "unit_elements", "lower_bound_elements", "gap_ratio", "tensors":
/// [{"name", "shape", "elements", "block_elements", "offset_elements"}]}]}]}. Sizes in elements; "unit" is
/// what the shard size is a multiple of. Buckets that another group shares also have "devices" and
/// "instances". A budget in time is recorded as "budget_ms".
std::string plansJson(std::span<const PlannedSystem> plans, const PlanOptions& options);
/// {"plans": [{"name", "devices", "shard_elements", "lower_bound_elements", "proven_optimal",
/// "planning_time_s", "tensors": [{"name", "offset_elements"}]}]}
std::string problemsJson(std::span<const PlannedProblem> plans, const PlanOptions& options);

}  // namespace vsim::app
