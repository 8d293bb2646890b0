#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/costs.h"

namespace vsim::core {

/// Whether a forward operation runs again in backward under selective checkpointing.
enum class Replay : std::uint8_t { no, selective };

/// Names an activation; equal names are one storage.
struct ActivationRef {
  std::string name;
  bool layerInput = false;
};

/// Collects one module's operations and saved tensors, step by step in forward order. A step is one autograd
/// node (or a few that run together); the steps' backward operations come out in reverse order of the steps.
/// Internal to core/model; not thread-safe; lives for one moduleCosts() call.
class CostBuilder {
 public:
  CostBuilder(const ModelConfig& config, const WorkShape& work, std::int64_t layer);

  const ModelConfig& config;
  const WorkShape& work;
  const std::int64_t layer;
  const std::int64_t tokens;   // of one micro-batch
  const std::int64_t element;  // bytes of one activation element
  const DType activation;      // dtype of stored activations: the compute dtype, bf16 when that is fp8

  /// Opens the next step. forward() and backward() add to the open step.
  void step() { stepStarts_.push_back(backward_.size()); }
  void forward(Operation op, Replay replay);
  void backward(Operation op);

  /// One projection as a step: forward GEMM (rows x in)(in x out), data gradient, weight gradient, bias
  /// gradient. Keeps its weight and its input.
  void linear(const std::string& name, const ActivationRef& input, std::int64_t in, std::int64_t out,
              bool bias, Replay replay = Replay::no);
  /// The same for routed experts: `rows` over all `groups` experts together.
  void grouped(const std::string& name, const ActivationRef& input, std::int64_t groups, std::int64_t rows,
               std::int64_t in, std::int64_t out, bool bias);
  /// One memory-bound step. Bytes are of the whole micro-batch.
  void memory(const std::string& name, MemoryOp kind, Bytes read, Bytes written, Bytes backwardRead,
              Bytes backwardWritten, Replay replay, int launches = 1);

  /// Autograd keeps these. A name seen before shares its storage.
  void save(std::string name, std::vector<std::int64_t> shape, DType type);
  void save(const ActivationRef& ref, std::vector<std::int64_t> shape);
  void saveConstant(std::string name, std::vector<std::int64_t> shape, DType type);
  void saveInput(std::string name, std::vector<std::int64_t> shape, DType type);
  /// Kept under selective checkpointing, besides the outputs of linear() and grouped(): all-to-all results.
  void keepSelective(std::string name, std::vector<std::int64_t> shape);

  /// All-to-all marks: after the last forward operation so far / after the open step's backward.
  void markDispatch() { out_.dispatchAfter = static_cast<int>(out_.forward.size()) - 1; }
  void markCombine() { out_.combineAfter = static_cast<int>(out_.forward.size()) - 1; }
  void markBackwardCombine() { backwardCombineStep_ = static_cast<int>(stepStarts_.size()) - 1; }
  void markBackwardDispatch() { backwardDispatchStep_ = static_cast<int>(stepStarts_.size()) - 1; }

  [[nodiscard]] ModuleCosts& out() { return out_; }
  /// Orders backward and distributes the saved tensors by checkpointing mode (layers only).
  ModuleCosts finish();

 private:
  void biasGradient(const std::string& name, std::int64_t rows, std::int64_t width, std::int64_t groups);
  void assembleBackward();
  static void addShared(std::vector<SavedTensor>& list, std::vector<SavedTensor> more);

  ModuleCosts out_;
  std::vector<Operation> backward_;
  std::vector<std::size_t> stepStarts_;
  std::vector<SavedTensor> saved_;      // all that autograd keeps without checkpointing
  std::vector<SavedTensor> selective_;  // outputs kept under selective checkpointing
  int backwardCombineStep_ = -1, backwardDispatchStep_ = -1;
};

// Parts of a layer, each in its own file. They add steps to the builder in execution order.

/// Normalisation of `rows` rows of `width` elements. Returns its output.
ActivationRef addNorm(CostBuilder& b, const std::string& name, const ActivationRef& input,
                      const std::vector<std::int64_t>& inputShape, Replay replay = Replay::selective);
/// x + y over the hidden width; `last` when it makes the layer's output (then never recomputed).
void addResidual(CostBuilder& b, const std::string& name, bool last);
/// Everything from the normalised input to the output projection.
void addAttention(CostBuilder& b, const ActivationRef& input);
void addLinearAttention(CostBuilder& b, const ActivationRef& input);
/// Gated or plain MLP of `width` (of this rank); `prefix` is "" or "shared_".
void addMlp(CostBuilder& b, const std::string& prefix, const ActivationRef& input, std::int64_t width,
            bool bias, bool fusedGateUp);
void addMoe(CostBuilder& b, const ActivationRef& input);
/// Bytes per element of an activation function's kernels, forward and backward.
struct ActivationTraffic {
  std::int64_t read, written, backwardRead, backwardWritten;
  int launches;
};
ActivationTraffic activationTraffic(const CostBuilder& b);

void addEmbedding(CostBuilder& b);
void addFinalNorm(CostBuilder& b);
void addHeadAndLoss(CostBuilder& b);
/// Fills forwardTransient and backwardTransient of a layer.
void setLayerTransients(CostBuilder& b);

/// Rows that one rank's routed experts process: its tokens times experts per token, balanced. The tensor
/// parallel ranks share the tokens (expert weights are not cut by tensor parallelism).
std::int64_t routedRows(const CostBuilder& b);

}  // namespace vsim::core
