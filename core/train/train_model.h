#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/model/costs.h"
#include "core/model/model_graph.h"
#include "core/scenario/scenario.h"

namespace vsim::core {

/// What one FSDP system shards and computes, free of any schedule: wrap units in module order and compute
/// blocks in execution order. Tensors are what one rank would hold without FSDP (tensor and expert
/// parallelism applied).

/// Tensors that are gathered and reduced together, on one communicator.
struct GroupSpec {
  std::string name;     // "L1", or "L1[efsdp]" where a unit has two
  bool expert = false;  // routed experts: sharded over the efsdp ranks
  int kind = 0;         // equal kinds have equal tensors: layouts are made once
  using Tensors = std::vector<TensorSpec>;
  std::shared_ptr<const Tensors> tensors;  // shared by equal groups; names relative to the unit
  std::vector<std::size_t> blockOf;        // per tensor: the block whose backward makes its gradient
  [[nodiscard]] std::int64_t elements() const;
};

/// One `fully_shard` call: its own hooks, gathers and reductions.
struct WrapUnit {
  std::string name;
  bool root = false;
  std::vector<GroupSpec> groups;  // forward order: dense, then experts; empty for a root without parameters
};

/// A stretch of compute inside one unit.
struct Block {
  std::string name;       // "embed", "L1", "head"
  std::size_t unit = 0;   // index of the wrap unit
  std::size_t costs = 0;  // index into TrainModel::costs
};

struct TrainModel {
  std::vector<WrapUnit> units;     // module order; the root, where it has parameters, first
  std::vector<ModuleCosts> costs;  // one per kind of block
  std::vector<Block> blocks;       // execution order: embedding, layers, head
};

/// How experts of one layer are stored: one tensor each, or stacked into [experts, ...] as the fused kernels
/// of the common training frameworks want them.
enum class ExpertStorage : std::uint8_t { perExpert, stacked };

/// Wrap policy: every layer is a unit; embedding, final norm and head belong to the root, or are units of
/// their own
/// (`separateRoots`). Errors: parallel sizes that do not divide the model.
Result<TrainModel> makeTrainModel(const ModelGraph& graph, const Scenario& scenario, const SystemSpec& system,
                                  ExpertStorage experts);

/// Turns routed experts that are stacked into [experts, ...] into one tensor per expert: grouped kernels that
/// take a pointer per expert do not need them side by side. Stacked vectors (biases) stay as they are.
void separateStackedExperts(TrainModel& model);

/// Makes one unit of every `layersPerBucket` neighbouring layers with equal tensors (the last of a run may
/// have fewer). Their tensors are gathered and reduced together: less padding where blocks are coarse, fewer
/// and larger collectives, and as many layers' parameters alive at once.
void fuseLayers(TrainModel& model, std::int64_t layersPerBucket);

/// The work shape that a scenario asks of every module.
WorkShape workShape(const Scenario& scenario);

}  // namespace vsim::core
