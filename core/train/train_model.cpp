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
      ModuleCosts fresh;
      if (module.kind != ModuleKind::layer || !costsOfKind_.contains(module.kindId)) {
        auto costs = moduleCosts(graph_, module, workShape(scenario_));
        if (!costs) return tl::unexpected(costs.error());
        fresh = std::move(*costs);
      }
      if (module.kind == ModuleKind::finalNorm) {  // joins the head's block
        pendingNorm_ = std::move(fresh);
        pendingTensors_ = trained(module);
        continue;
      }
      addBlock(module, std::move(fresh));
    }
    if (model_.units.front().groups.empty()) dropEmptyRoot();
    fuseLayers(model_, system_.layersPerBucket);
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
    std::size_t unit = 0;
    if (layer || separate_) {
      unit = model_.units.size();
      model_.units.push_back(WrapUnit{.name = name, .root = false, .groups = {}});
    }
    const std::size_t block = model_.blocks.size();
    if (layer) {
      model_.blocks.push_back(
          Block{.name = name, .unit = unit, .costs = costsIndex(module, std::move(costs))});
      addLayer(unit, block, module);
      return;
    }
    std::vector<TensorSpec> tensors = trained(module);
    if (head) {
      std::vector<TensorSpec> both = std::move(pendingTensors_);
      both.insert(both.end(), tensors.begin(), tensors.end());
      tensors = std::move(both);
      costs = joined(std::move(pendingNorm_), std::move(costs));
    }
    model_.blocks.push_back(Block{.name = name, .unit = unit, .costs = costsIndex(module, std::move(costs))});
    addToRoot(unit, block, std::move(tensors));
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

  /// Layers of one kind share their tensors.
  void addLayer(std::size_t unitIndex, std::size_t block, const Module& module) {
    auto known = groupsOfKind_.find(module.kindId);
    if (known == groupsOfKind_.end()) known = groupsOfKind_.emplace(module.kindId, layerGroups(module)).first;
    WrapUnit& unit = model_.units[unitIndex];
    unit.groups = known->second;
    for (GroupSpec& group : unit.groups) {
      group.name = group.expert ? unit.name + "[efsdp]" : unit.name;
      group.blockOf.assign(group.tensors->size(), block);
    }
  }

  std::vector<GroupSpec> layerGroups(const Module& module) const {
    std::vector<TensorSpec> dense, experts;
    for (TensorSpec& tensor : trained(module))
      (tensor.routedExpert ? experts : dense).push_back(std::move(tensor));
    const std::int64_t ep = scenario_.parallel.expert;
    if (!experts.empty()) experts = localExperts(experts, ep, graph_.config().experts, storage_);
    if (ep <= 1) {  // experts are sharded like everything else
      dense.insert(dense.end(), experts.begin(), experts.end());
      experts.clear();
    }
    std::vector<GroupSpec> groups;
    for (std::vector<TensorSpec>* tensors : {&dense, &experts}) {
      if (tensors->empty()) continue;
      GroupSpec group;
      group.expert = tensors == &experts;
      group.kind = 2 * module.kindId + (group.expert ? 1 : 0);
      group.tensors = std::make_shared<const GroupSpec::Tensors>(std::move(*tensors));
      groups.push_back(std::move(group));
    }
    return groups;
  }

  /// Embedding, final norm and head: one group of the root, or one each.
  void addToRoot(std::size_t unitIndex, std::size_t block, std::vector<TensorSpec> tensors) {
    if (tensors.empty()) return;  // a tied head
    WrapUnit& unit = model_.units[unitIndex];
    GroupSpec group;
    if (!unit.groups.empty()) {
      group = std::move(unit.groups.front());
      unit.groups.clear();
      std::vector<TensorSpec> all = *group.tensors;
      all.insert(all.end(), tensors.begin(), tensors.end());
      tensors = std::move(all);
    }
    group.name = unit.name;
    group.kind = -1 - static_cast<int>(block);
    group.tensors = std::make_shared<const GroupSpec::Tensors>(std::move(tensors));
    group.blockOf.resize(group.tensors->size(), block);
    unit.groups.push_back(std::move(group));
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
  std::map<int, std::vector<GroupSpec>> groupsOfKind_;
};

}  // namespace

std::int64_t GroupSpec::elements() const {
  std::int64_t total = 0;
  for (const TensorSpec& tensor : *tensors) total += tensor.elements();
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
