#pragma once

#include "core/train/system.h"

namespace vsim::test {

/// What the conformance tests vary in the model.
struct OddModel {
  int layers = 3;
  bool separateRoots = false;
  bool experts = false;    // a second group per layer, over the efsdp ranks
  bool recompute = false;  // full activation checkpointing
  int layersPerBucket = 1;
};

/// A small model with everything that programs can contain: several tensors of odd sizes per group, a scalar
/// among them, activations, temporaries, token exchanges, a root that two blocks share.
class OddModelBuilder {
 public:
  explicit OddModelBuilder(const OddModel& wanted) : wanted_(wanted) {}

  core::TrainModel build() {
    const auto layers = static_cast<std::size_t>(wanted_.layers);
    const std::size_t head = layers + 1;
    const Tensors embed{tensor("embed.weight", {13, 5})};
    const Tensors top{tensor("norm.weight", {5}), tensor("head.weight", {13, 5}), tensor("scale", {1})};
    model_.costs = {rootCosts(), layerCosts()};
    if (wanted_.separateRoots) {
      addUnit("embed");
      addGroup("embed", embed, std::vector<std::size_t>(embed.size(), 0), 0);
    } else {
      Tensors both = embed;
      both.insert(both.end(), top.begin(), top.end());
      std::vector<std::size_t> blocks(embed.size(), 0);
      blocks.resize(both.size(), head);
      addUnit("R", true);
      addGroup("R", both, blocks, 0);
    }
    model_.blocks.push_back({"embed", 0, 0});
    for (std::size_t l = 1; l <= layers; ++l) addLayer("L" + std::to_string(l), l);
    if (wanted_.separateRoots) {
      addUnit("head");
      addGroup("head", top, std::vector<std::size_t>(top.size(), head), 3);
    }
    model_.blocks.push_back({"head", wanted_.separateRoots ? head : 0, 0});
    return std::move(model_);
  }

 private:
  using Tensors = core::GroupSpec::Tensors;

  static core::TensorSpec tensor(const std::string& name, std::vector<std::int64_t> shape,
                                 bool expert = false) {
    core::TensorSpec spec;
    spec.name = name;
    spec.shape = std::move(shape);
    spec.dtype = core::DType::fp32;
    spec.routedExpert = expert;
    return spec;
  }

  void addUnit(const std::string& name, bool root = false) {
    core::WrapUnit unit;
    unit.name = name;
    unit.root = root;
    model_.units.push_back(std::move(unit));
  }
  void addGroup(const std::string& name, const Tensors& tensors, std::vector<std::size_t> blocks, int kind,
                bool expert = false) {
    core::GroupSpec group;
    group.name = name;
    group.expert = expert;
    group.kind = kind;
    group.tensors = std::make_shared<const Tensors>(tensors);
    group.blockOf = std::move(blocks);
    model_.units.back().groups.push_back(std::move(group));
  }

  void addLayer(const std::string& name, std::size_t block) {
    addUnit(name);
    const Tensors dense{tensor("attention.weight", {7, 6}), tensor("norm.weight", {9}),
                        tensor("mlp.weight", {10, 3})};
    addGroup(name, dense, std::vector<std::size_t>(dense.size(), block), 1);
    if (wanted_.experts) {
      const Tensors experts{tensor("experts.up", {5, 3, 2}, true), tensor("experts.down", {5, 2, 3}, true)};
      addGroup(name + "[efsdp]", experts, std::vector<std::size_t>(experts.size(), block), 2, true);
    }
    model_.blocks.push_back({name, block, 1});
  }

  static core::Operation operation(const std::string& name, int count = 1) {
    core::Operation op;
    op.name = name;
    op.count = count;
    op.bytesRead = op.bytesWritten = 64;
    return op;
  }
  static core::SavedTensor saved(const std::string& name, std::int64_t elements) {
    core::SavedTensor tensor;
    tensor.name = name;
    tensor.shape = {elements};
    return tensor;
  }

  static core::ModuleCosts rootCosts() {
    core::ModuleCosts costs;
    costs.forward = {operation("root")};
    costs.backward = {operation("root.backward")};
    costs.saved = {saved("root.saved", 11)};
    costs.outputBytes = 26;
    costs.forwardTransient = 30;
    costs.backwardTransient = 50;
    return costs;
  }
  core::ModuleCosts layerCosts() const {
    core::ModuleCosts costs;
    costs.forward = {operation("attention"), operation("mlp", 2)};
    costs.backward = {operation("mlp.backward"), operation("attention.backward")};
    costs.saved = {saved("layer.saved", 33)};
    core::SavedTensor input = saved("input", 13);
    input.layerInput = true;
    costs.saved.push_back(input);
    costs.outputBytes = 26;
    costs.forwardTransient = 30;
    costs.backwardTransient = 50;
    if (wanted_.recompute) {
      costs.recompute = costs.forward;
      costs.savedInRecompute = {saved("layer.recomputed", 70)};
    }
    if (wanted_.experts) {
      costs.dispatchBytes = 96;
      costs.dispatchAfter = costs.backwardCombineAfter = 0;
      costs.combineAfter = costs.backwardDispatchAfter = 1;
    }
    return costs;
  }

  OddModel wanted_;
  core::TrainModel model_;
};

inline core::TrainModel oddModel(const OddModel& wanted) {
  core::TrainModel model = OddModelBuilder(wanted).build();
  core::fuseLayers(model, wanted.layersPerBucket);
  return model;
}

}  // namespace vsim::test
