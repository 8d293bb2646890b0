#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/config.h"
#include "core/model/tensor.h"

namespace vsim::core {

enum class ModuleKind : std::uint8_t { embedding, layer, finalNorm, head };

/// One module of a decoder: a candidate FSDP wrap unit. `kindId` is equal for modules with the same tensor
/// shapes and the same operations, so that plans, costs and programs are made once per kind.
struct Module {
  ModuleKind kind = ModuleKind::layer;
  std::string name;         // "model.layers.3"
  std::int64_t layer = -1;  // index for layers
  int kindId = 0;
  std::vector<TensorSpec> tensors;  // in checkpoint-naming order of the module; buffers included, marked
};

/// The modules of a model as a DAG in execution order (Boost.Graph inside). Immutable after construction.
class ModelGraph {
 public:
  explicit ModelGraph(ModelConfig config);
  ~ModelGraph();
  ModelGraph(ModelGraph&&) noexcept;
  ModelGraph& operator=(ModelGraph&&) noexcept;

  [[nodiscard]] const ModelConfig& config() const;
  /// In topological (execution) order: embedding, layers, final norm, head.
  [[nodiscard]] const std::vector<Module>& modules() const;
  /// Indices of the modules whose output module `index` reads.
  [[nodiscard]] std::vector<std::size_t> inputsOf(std::size_t index) const;

  /// Trained elements, tied weights counted once, buffers left out (what an optimizer sees).
  [[nodiscard]] std::int64_t parameterCount() const;
  /// Elements that the published checkpoint stores: parameterCount() plus persistent buffers.
  [[nodiscard]] std::int64_t checkpointElements() const;
  /// Parameters that one token meets: all, with only expertsPerToken of the routed experts and the shared
  /// ones.
  [[nodiscard]] std::int64_t activeParameterCount() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vsim::core
