#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "app/plan_output.h"

namespace vsim::app {
namespace {

using Json = nlohmann::ordered_json;

// Names come from files: bytes that are no UTF-8 are replaced instead of ending the command.
std::string dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

void recordBudget(Json& json, const PlanOptions& options) {
  if (options.budgetMilliseconds > 0) json["budget_ms"] = options.budgetMilliseconds;
}

Json bucketJson(const std::string& name, const PlannedBucket& bucket, std::int64_t devices) {
  Json json{{"name", name},
            {"shard_elements", bucket.layout.shardElements},
            {"unit_elements", bucket.problem.unit},
            {"lower_bound_elements", bucket.layout.lowerBound},
            {"gap_ratio", bucket.layout.gapRatio()}};
  if (bucket.layout.devices != devices || bucket.instances != 1) {
    json["devices"] = bucket.layout.devices;
    json["instances"] = bucket.instances;
  }
  Json tensors = Json::array();
  for (std::size_t i = 0; i < bucket.problem.tensors.size(); ++i) {
    const core::PlanTensor& tensor = bucket.problem.tensors[i];
    tensors.push_back(Json{{"name", tensor.name},
                           {"shape", tensor.shape},
                           {"elements", tensor.elements},
                           {"block_elements", tensor.block},
                           {"offset_elements", bucket.layout.offsets[i]}});
  }
  json["tensors"] = std::move(tensors);
  return json;
}

Json planJson(const PlannedSystem& plan) {
  Json json{{"system", plan.system},
            {"devices", plan.devices},
            {"planning_time_s", plan.seconds},
            {"padding_ratio", plan.paddingRatio()},
            {"total_elements", plan.totalElements()}};
  if (!plan.overrides.empty()) {
    Json overrides = Json::object();
    for (const auto& [key, value] : plan.overrides) overrides[key] = value;
    json["overrides"] = std::move(overrides);
  }
  if (!plan.refusal.empty()) json["refusal"] = plan.refusal;
  Json buckets = Json::array();
  for (const auto& [name, at] : plan.units)
    buckets.push_back(bucketJson(name, plan.buckets[at], plan.devices));
  json["buckets"] = std::move(buckets);
  return json;
}

}  // namespace

std::string plansJson(std::span<const PlannedSystem> plans, const PlanOptions& options) {
  // Several models (presets): the plan says which.
  bool several = false;
  for (const PlannedSystem& plan : plans) several = several || plan.scenario != plans.front().scenario;
  Json json{{"scenario", several || plans.empty() ? std::string() : plans.front().scenario}};
  recordBudget(json, options);
  Json list = Json::array();
  for (const PlannedSystem& plan : plans) {
    list.push_back(planJson(plan));
    if (several) list.back()["scenario"] = plan.scenario;
  }
  json["plans"] = std::move(list);
  return dump(json);
}

std::string problemsJson(std::span<const PlannedProblem> plans, const PlanOptions& options) {
  Json json = Json::object();
  recordBudget(json, options);
  Json list = Json::array();
  for (const PlannedProblem& plan : plans) {
    Json tensors = Json::array();
    for (std::size_t i = 0; i < plan.problem.tensors.size(); ++i)
      tensors.push_back(
          Json{{"name", plan.problem.tensors[i].name}, {"offset_elements", plan.found.layout.offsets[i]}});
    list.push_back(Json{{"name", plan.name},
                        {"devices", plan.problem.devices},
                        {"shard_elements", plan.found.layout.shardElements},
                        {"lower_bound_elements", plan.found.layout.lowerBound},
                        {"proven_optimal", plan.found.provenOptimal},
                        {"planning_time_s", plan.seconds},
                        {"tensors", std::move(tensors)}});
  }
  json["plans"] = std::move(list);
  return dump(json);
}

}  // namespace vsim::app
