#pragma once

#include "core/train/system.h"

namespace vsim::test {

/// The model of the recorded FSDP2 traces: an embedding 16x8 and a head 16x8 in the root (or as units of
/// their own), `layers` layers of one 8x8 weight, no costs.
inline core::TrainModel toyModel(int layers, bool separateRoots) {
  using namespace core;
  TrainModel model;
  model.costs.resize(1);
  const auto tensor = [](const std::string& name, std::int64_t rows) {
    TensorSpec spec;
    spec.name = name;
    spec.shape = {rows, 8};
    spec.dtype = DType::fp32;
    return spec;
  };
  const auto unit = [&](const std::string& name, std::vector<TensorSpec> tensors,
                        std::vector<std::size_t> blocks, int kind, bool root = false) {
    WrapUnit wrap;
    wrap.name = name;
    wrap.root = root;
    GroupSpec group;
    group.name = name;
    group.kind = kind;
    group.tensors = std::make_shared<const GroupSpec::Tensors>(std::move(tensors));
    group.blockOf = std::move(blocks);
    wrap.groups.push_back(std::move(group));
    model.units.push_back(std::move(wrap));
  };
  const auto head = static_cast<std::size_t>(layers + 1);
  if (separateRoots) {
    unit("embed", {tensor("weight", 16)}, {0}, 0);
  } else {
    unit("R", {tensor("embed.weight", 16), tensor("head.weight", 16)}, {0, head}, 0, true);
  }
  for (int l = 1; l <= layers; ++l)
    unit("L" + std::to_string(l), {tensor("weight", 8)}, {static_cast<std::size_t>(l)}, 1);
  if (separateRoots) unit("head", {tensor("weight", 16)}, {head}, 2);
  model.blocks.push_back({"embed", 0, 0});
  for (int l = 1; l <= layers; ++l)
    model.blocks.push_back({"L" + std::to_string(l), static_cast<std::size_t>(l), 0});
  model.blocks.push_back({"head", separateRoots ? head : 0, 0});
  return model;
}

inline core::TrainOptions toyOptions(const std::string& system) {
  core::TrainOptions options;
  options.parallel = {.fsdp = 4, .replicate = 1, .expert = 1, .tensor = 1};
  options.system.name = system;
  return options;
}

}  // namespace vsim::test
