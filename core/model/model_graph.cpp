#include "core/model/model_graph.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/model/layer_tensors.h"

namespace vsim::core {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

/// Elements of one list of tensors, by what becomes of them.
struct Elements {
  std::int64_t trained = 0, routed = 0, buffers = 0;

  explicit Elements(const std::vector<TensorSpec>& tensors) {
    for (const TensorSpec& tensor : tensors) {
      const std::int64_t elements = tensor.elements();
      (tensor.buffer ? buffers : trained) += elements;
      if (tensor.routedExpert) routed += elements;
    }
  }
};

std::vector<TensorSpec> withPrefix(const std::vector<TensorSpec>& tensors, const std::string& prefix) {
  std::vector<TensorSpec> result;
  result.reserve(tensors.size());
  for (const TensorSpec& tensor : tensors) {
    TensorSpec& copy = result.emplace_back();
    copy.name.reserve(prefix.size() + tensor.name.size());
    copy.name.append(prefix).append(tensor.name);
    copy.shape = tensor.shape;
    copy.dtype = tensor.dtype;
    copy.tensorParallelDim = tensor.tensorParallelDim;
    copy.routedExpert = tensor.routedExpert;
    copy.buffer = tensor.buffer;
  }
  return result;
}

}  // namespace

struct ModelGraph::Impl {
  ModelConfig config;
  Graph graph;                  // vertex i is modules[i]
  std::vector<Module> modules;  // in topological order
  std::int64_t parameters = 0, buffers = 0, active = 0;

  explicit Impl(ModelConfig given) : config(std::move(given)) {
    add({.kind = ModuleKind::embedding,
         .name = embeddingModule(config),
         .tensors = embeddingTensors(config)});
    addLayers();
    add({.kind = ModuleKind::finalNorm,
         .name = finalNormModule(config),
         .tensors = finalNormTensors(config)});
    add({.kind = ModuleKind::head, .name = headModule(config), .tensors = headTensors(config)});
    checkOrder();
  }

 private:
  int kinds_ = 0;

  /// Appends a module of a new kind and connects it to the one before.
  void add(Module module) {
    module.kindId = kinds_++;
    account(Elements(module.tensors));
    connect(std::move(module));
  }

  void connect(Module module) {
    modules.push_back(std::move(module));
    const auto vertex = boost::add_vertex(graph);
    if (vertex > 0) boost::add_edge(vertex - 1, vertex, graph);
  }

  void account(const Elements& elements) {
    parameters += elements.trained;
    buffers += elements.buffers;
    active += elements.trained - elements.routed;
    if (elements.routed > 0) active += elements.routed / config.experts * config.expertsPerToken;
  }

  /// Layers of one kind differ in their names alone: the rest is made once.
  void addLayers() {
    struct Kind {
      std::int64_t example;
      int id;
      std::vector<TensorSpec> tensors;
      Elements elements;
    };
    std::vector<Kind> known;
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
      auto kind = std::find_if(known.begin(), known.end(),
                               [&](const Kind& k) { return sameLayerKind(config, k.example, layer); });
      if (kind == known.end()) {
        std::vector<TensorSpec> tensors = layerTensors(config, layer);
        const Elements elements(tensors);
        known.push_back({layer, kinds_++, std::move(tensors), elements});
        kind = std::prev(known.end());
      }
      const std::string prefix = layerPrefix(config, layer);
      account(kind->elements);
      connect({.kind = ModuleKind::layer,
               .name = prefix.substr(0, prefix.size() - 1),
               .layer = layer,
               .kindId = kind->id,
               .tensors = withPrefix(kind->tensors, prefix)});
    }
  }

  /// modules() promises execution order, which callers rely on.
  void checkOrder() const {
    std::vector<Graph::vertex_descriptor> reversed;
    boost::topological_sort(graph, std::back_inserter(reversed));
    VSIM_CHECK(std::is_sorted(reversed.rbegin(), reversed.rend()), "modules stand in execution order");
  }
};

ModelGraph::ModelGraph(ModelConfig config) : impl_(std::make_unique<Impl>(std::move(config))) {}
ModelGraph::~ModelGraph() = default;
ModelGraph::ModelGraph(ModelGraph&&) noexcept = default;
ModelGraph& ModelGraph::operator=(ModelGraph&&) noexcept = default;

const ModelConfig& ModelGraph::config() const { return impl_->config; }
const std::vector<Module>& ModelGraph::modules() const { return impl_->modules; }

std::vector<std::size_t> ModelGraph::inputsOf(std::size_t index) const {
  VSIM_CHECK(index < impl_->modules.size(), "module index in range");
  std::vector<std::size_t> inputs;
  const auto [first, last] = boost::in_edges(index, impl_->graph);
  for (auto edge = first; edge != last; ++edge) inputs.push_back(boost::source(*edge, impl_->graph));
  return inputs;
}

std::int64_t ModelGraph::parameterCount() const { return impl_->parameters; }
std::int64_t ModelGraph::checkpointElements() const { return impl_->parameters + impl_->buffers; }
std::int64_t ModelGraph::activeParameterCount() const { return impl_->active; }

}  // namespace vsim::core
