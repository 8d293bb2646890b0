#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/plan/bucket_plans.h"
#include "core/plan/layout.h"
#include "core/program/step_program.h"
#include "core/train/train_model.h"

namespace vsim::core {

/// How layouts are made, for systems that plan them. No part of a scenario.
struct PlanningOptions {
  BucketPlanOptions buckets{};
  /// Alignment of tensor starts and unit of the shard size, in elements; 0: 16 bytes of the smallest dtype
  /// communicated.
  std::int64_t align = 0;
  bool expertsApart = false;  // tensors stacked over experts are planned as one tensor per expert
};

/// The parts of a scenario that shape a program, apart from the model.
struct TrainOptions {
  ParallelSpec parallel;
  PrecisionSpec precision;
  OptimizerSpec optimizer;
  std::string optimizerKernel = "foreach";
  std::vector<GranularityRule> granularity;
  std::int64_t accumulation = 1;
  SystemSpec system;
  PlanningOptions planning{};
};

/// One bucket's layout, for the plan and the report.
struct BucketLayout {
  std::string name;
  std::int64_t copies = 1;     // how many units have this layout
  std::int64_t instances = 1;  // buckets of it that the ranks hold side by side: one per expert or TP rank
  std::int64_t devices = 1;
  std::int64_t tensors = 0;
  std::int64_t elements = 0;       // of the tensors
  std::int64_t shardElements = 0;  // per rank, padding included
  std::int64_t lowerBound = 0;     // no layout can have a smaller shard
  std::int64_t unitElements = 1;   // the shard size is a multiple of it
  std::string order{};             // where the order of the tensors is from (SearchResult); empty: no search
  bool provenOptimal = false;      // no layout of these tensors has a smaller shard
  double planSeconds = 0;          // see BucketPlan
  [[nodiscard]] double paddingRatio() const {
    return elements == 0 ? 0.0
                         : static_cast<double>(shardElements) * static_cast<double>(devices) /
                                   static_cast<double>(elements) -
                               1.0;
  }
};

/// Layouts of all groups of a TrainModel. Equal groups share one.
struct LayoutSet {
  std::vector<LayoutProblem> problems;
  std::vector<Layout> layouts;       // one per problem
  std::vector<BucketPlan> plans;     // of systems that search: one per problem, layouts moved out
  std::vector<std::size_t> ofGroup;  // per group, in the order of units and groups: its problem
};

/// The layouts as a report lists them: equal ones folded.
std::vector<BucketLayout> bucketLayouts(const TrainModel& model, const TrainOptions& options,
                                        const LayoutSet& layouts);

/// A rank's program with the layouts it was made from.
struct BuiltProgram {
  StepProgram program;
  std::vector<BucketLayout> layouts;
  /// Padding of all units together: shards * devices / elements - 1.
  [[nodiscard]] double paddingRatio() const;
};

/// An FSDP system: how it lays tensors out, and the order in which its host thread issues work.
class System {
 public:
  virtual ~System() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view description() const = 0;
  /// How the frameworks that use this system store routed experts.
  [[nodiscard]] virtual ExpertStorage expertStorage() const = 0;
  /// Puts tensors into the form this system shards (which dimension it cuts). Called once, before plan().
  virtual void prepare(TrainModel& /*model*/, const TrainOptions& /*options*/) const {}
  /// Layouts by this system's rule, verified. Errors: layouts that do not exist (a tensor that cannot be
  /// cut).
  [[nodiscard]] virtual Result<LayoutSet> plan(const TrainModel& model,
                                               const TrainOptions& options) const = 0;
  /// The program of one rank. Errors: an unknown optimizer.
  [[nodiscard]] virtual Result<StepProgram> emit(const TrainModel& model, const TrainOptions& options,
                                                 const LayoutSet& layouts) const = 0;
  /// prepare, plan and emit.
  [[nodiscard]] Result<BuiltProgram> build(TrainModel model, const TrainOptions& options) const;
};

/// All systems that exist, in the order they are listed to users.
const std::vector<std::unique_ptr<System>>& systems();
/// nullptr when there is none of that name.
const System* findSystem(std::string_view name);

/// The whole way: wrap policy, layouts, schedule.
Result<BuiltProgram> buildProgram(const ModelGraph& graph, const Scenario& scenario,
                                  const SystemSpec& system);
TrainOptions trainOptions(const Scenario& scenario, const SystemSpec& system);

}  // namespace vsim::core
