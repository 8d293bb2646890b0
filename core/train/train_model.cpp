#include "core/train/train_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/checked.h"

namespace vsim::core {
namespace {

/// "model.layers.3.mlp.experts.17.up_proj.weight" inside layer 3 -> "mlp.experts.17.up_proj.weight".
std::string relativeName(const std::string& name, const std::string& module) {
  return name.starts_with(module + ".") ? name.substr(module.size() + 1) : name;
}

/// Position of the expert number in "mlp.experts.17.up_proj.weight": [begin, end), or npos.
std::pair<std::size_t, std::size_t> expertNumber(const std::string& name) {
  static constexpr std::string_view kMark = "experts.";
  const std::size_t at = name.find(kMark);
  if (at == std::string::npos) return {std::string::npos, 0};
  const std::size_t begin = at + kMark.size();
  std::size_t end = begin;
  while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
  return end == begin ? std::pair{std::string::npos, std::size_t{0}} : std::pair{begin, end};
}

/// This rank's part of the routed experts: the first experts/EP of them, one tensor each or stacked.
std::vector<TensorSpec> localExperts(const std::vector<TensorSpec>& tensors, std::int64_t expertParallel,
                                     std::int64_t experts, ExpertStorage storage) {
  const std::int64_t local = experts / expertParallel;
  std::vector<TensorSpec> result;
  std::map<std::string, std::size_t> stacks;  // name without the number -> index in result
  for (const TensorSpec& tensor : tensors) {
    const auto [begin, end] = expertNumber(tensor.name);
    if (begin == std::string::npos) {  // fused over experts on dim 0
      TensorSpec part = tensor;
      part.shape[0] = local;
      result.push_back(std::move(part));
      continue;
    }
    if (std::stoll(tensor.name.substr(begin, end - begin)) >= local) continue;
    if (storage == ExpertStorage::perExpert) {
      result.push_back(tensor);
      continue;
    }
    TensorSpec stack = tensor;
    stack.name.erase(begin, std::min(end + 1, stack.name.size()) - begin);
    const auto [at, added] = stacks.try_emplace(stack.name, result.size());
    if (!added) continue;
    stack.shape.insert(stack.shape.begin(), local);
    result.push_back(std::move(stack));
  }
  return result;
}

class ModelBuilder {
 public:
  ModelBuilder(const ModelGraph& graph, const Scenario& scenario, const SystemSpec& system,
               ExpertStorage experts)
      : graph_(graph), scenario_(scenario), system_(system), storage_(experts) {}

  Result<TrainModel> build() {
    const bool tied = graph_.config().tiedEmbeddings;
    separate_ = system_.separateRoots && !tied;
    model_.units.push_back(WrapUnit{.name = "R", .root = true, .groups = {}});
    const std::vector<Module>& modules = graph_.modules();
    for (std::size_t i = 0; i < modules.size(); ++i) {
      const Module& module = modules[i];
      const bool endsBlock = module.kind != ModuleKind::finalNorm;
      auto costs = moduleCosts(graph_, module, workShape(scenario_));
      if (!costs) return tl::unexpected(costs.error());
      if (module.kind == ModuleKind::finalNorm) {  // joins the head's block
        pendingNorm_ = std::move(*costs);
        pendingTensors_ = trained(module);
        continue;
      }
      if (endsBlock) addBlock(module, std::move(*costs));
    }
    if (model_.units.front().groups.empty()) dropEmptyRoot();
    return std::move(model_);
  }

 private:
  std::vector<TensorSpec> trained(const Module& module) const {
    std::vector<TensorSpec> result;
    for (TensorSpec tensor : module.tensors) {
      if (tensor.buffer) continue;
      tensor.name = relativeName(tensor.name, module.name);
      const int dim = tensor.tensorParallelDim;
      if (dim >= 0 && !tensor.routedExpert)
        tensor.shape[static_cast<std::size_t>(dim)] =
            ceilDivide(tensor.shape[static_cast<std::size_t>(dim)], scenario_.parallel.tensor);
      result.push_back(std::move(tensor));
    }
    return result;
  }

  void addBlock(const Module& module, ModuleCosts costs) {
    const bool layer = module.kind == ModuleKind::layer;
    const bool head = module.kind == ModuleKind::head;
    const std::string name = layer ? "L" + std::to_string(module.layer + 1) : head ? "head" : "embed";
    std::vector<TensorSpec> tensors = trained(module);
    if (head) {
      std::vector<TensorSpec> both = std::move(pendingTensors_);
      both.insert(both.end(), tensors.begin(), tensors.end());
      tensors = std::move(both);
      costs = joined(std::move(pendingNorm_), std::move(costs));
    }
    std::size_t unit = 0;
    if (layer || separate_) {
      unit = model_.units.size();
      model_.units.push_back(WrapUnit{.name = name, .root = false, .groups = {}});
    }
    const std::size_t block = model_.blocks.size();
    model_.blocks.push_back(Block{.name = name, .unit = unit, .costs = costsIndex(module, std::move(costs))});
    addTensors(unit, block, tensors, layer ? module.kindId : -1 - static_cast<int>(block));
  }

  std::size_t costsIndex(const Module& module, ModuleCosts costs) {
    if (module.kind == ModuleKind::layer) {
      const auto [at, added] = costsOfKind_.try_emplace(module.kindId, model_.costs.size());
      if (!added) return at->second;
    }
    model_.costs.push_back(std::move(costs));
    return model_.costs.size() - 1;
  }

  /// Final norm and head as one stretch of compute.
  static ModuleCosts joined(ModuleCosts norm, ModuleCosts head) {
    ModuleCosts both = std::move(head);
    both.forward.insert(both.forward.begin(), norm.forward.begin(), norm.forward.end());
    both.backward.insert(both.backward.end(), norm.backward.begin(), norm.backward.end());
    std::vector<SavedTensor> saved = std::move(norm.saved);
    for (SavedTensor& tensor : both.saved) {
      if (tensor.layerInput)
        tensor.layerInput = false;  // the norm's output: made and owned inside this block
      saved.push_back(std::move(tensor));
    }
    both.saved = std::move(saved);
    both.inputBytes = norm.inputBytes;
    both.forwardTransient = std::max(both.forwardTransient, norm.forwardTransient);
    both.backwardTransient = std::max(both.backwardTransient, norm.backwardTransient);
    return both;
  }

  void addTensors(std::size_t unitIndex, std::size_t block, const std::vector<TensorSpec>& tensors,
                  int kind) {
    std::vector<TensorSpec> dense, experts;
    for (const TensorSpec& tensor : tensors) (tensor.routedExpert ? experts : dense).push_back(tensor);
    const ParallelSpec& parallel = scenario_.parallel;
    const bool split = parallel.expert > 1;
    if (!experts.empty()) experts = localExperts(experts, parallel.expert, graph_.config().experts, storage_);
    if (!split) {  // experts are sharded like everything else; keep checkpoint order: dense first
      dense.insert(dense.end(), experts.begin(), experts.end());
      experts.clear();
    }
    append(unitIndex, block, dense, kind, false);
    append(unitIndex, block, experts, kind, true);
  }

  void append(std::size_t unitIndex, std::size_t block, const std::vector<TensorSpec>& tensors, int kind,
              bool expert) {
    if (tensors.empty()) return;
    WrapUnit& unit = model_.units[unitIndex];
    GroupSpec* group = nullptr;
    for (GroupSpec& existing : unit.groups)
      if (existing.expert == expert) group = &existing;
    if (!group) {
      unit.groups.push_back(GroupSpec{});
      group = &unit.groups.back();
      group->name = expert ? unit.name + "[efsdp]" : unit.name;
      group->expert = expert;
      group->kind = 2 * kind + (expert ? 1 : 0);
    }
    for (const TensorSpec& tensor : tensors) {
      group->tensors.push_back(tensor);
      group->blockOf.push_back(block);
    }
  }

  void dropEmptyRoot() {
    // A root without parameters has no gather of its own: it is not a unit.
    model_.units.erase(model_.units.begin());
    for (Block& block : model_.blocks) --block.unit;
  }

  const ModelGraph& graph_;
  const Scenario& scenario_;
  const SystemSpec& system_;
  ExpertStorage storage_;
  bool separate_ = false;
  TrainModel model_;
  ModuleCosts pendingNorm_;
  std::vector<TensorSpec> pendingTensors_;
  std::map<int, std::size_t> costsOfKind_;
};

}  // namespace

std::int64_t GroupSpec::elements() const {
  std::int64_t total = 0;
  for (const TensorSpec& tensor : tensors) total += tensor.elements();
  return total;
}

WorkShape workShape(const Scenario& scenario) {
  return WorkShape{.microBatch = scenario.batch.microBatch,
                   .sequence = scenario.batch.sequence,
                   .tensorParallel = scenario.parallel.tensor,
                   .expertParallel = scenario.parallel.expert,
                   .compute = scenario.precision.compute,
                   .checkpointing = scenario.activationCheckpointing,
                   .fusedNorm = scenario.software.fusedNorm,
                   .compiled = scenario.software.compile,
                   .loss = scenario.software.loss};
}

Result<TrainModel> makeTrainModel(const ModelGraph& graph, const Scenario& scenario, const SystemSpec& system,
                                  ExpertStorage experts) {
  return ModelBuilder(graph, scenario, system, experts).build();
}

}  // namespace vsim::core
