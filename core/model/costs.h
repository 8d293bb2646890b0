#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/operation.h"
#include "core/base/units.h"
#include "core/model/model_graph.h"

namespace vsim::core {

enum class Checkpointing : std::uint8_t { none, selective, full };
/// fused: logits are overwritten by their gradient; eager: log-softmax in fp32; unfusedFp32: eager, and once
/// more for metrics.
enum class LossKernel : std::uint8_t { fused, eager, unfusedFp32 };

/// What decides a module's work besides its shapes. Tokens of one micro-batch = microBatch * sequence.
struct WorkShape {
  std::int64_t microBatch = 1, sequence = 4096;
  std::int64_t tensorParallel = 1;  // divides heads, MLP width, vocabulary, and the tokens of routed experts
  std::int64_t expertParallel = 1;  // routed experts per rank = experts / expertParallel
  DType compute = DType::bf16;
  Checkpointing checkpointing = Checkpointing::none;
  bool fusedNorm = true;  // false: norms written out in fp32 (saves and moves more)
  bool compiled = false;  // pointwise kernels fused by a compiler
  LossKernel loss = LossKernel::eager;
};

/// One tensor that autograd keeps from forward to backward. Tensors of one name share a storage.
struct SavedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  DType dtype = DType::bf16;
  bool newStorage = true;   // false: shares the storage of an earlier one, costs nothing
  bool layerInput = false;  // belongs to the previous module's output, or to the step's tokens and labels
  bool parameterOrConstant = false;
  [[nodiscard]] Bytes bytes() const;
};

/// The work of one module for one micro-batch on one rank.
struct ModuleCosts {
  std::vector<Operation> forward;
  /// Run again in backward, in front of `backward`. Full: all of forward. Selective: the operations between
  /// the projections (norms, rotary embedding, attention, activations, router, row order), while outputs of
  /// projections and of token all-to-alls are kept (the policy "save matrix products" of PyTorch's selective
  /// checkpointing, with attention recomputed as in Korthikanti et al. 2022).
  std::vector<Operation> recompute;
  std::vector<Operation> backward;
  std::vector<SavedTensor> saved;             // what stays alive between forward and backward
  std::vector<SavedTensor> savedInRecompute;  // alive only while this module's backward runs (checkpointing)
  Bytes inputBytes = 0, outputBytes = 0;
  /// Largest sum of temporaries alive at once inside forward, beyond `saved`, the input and the output.
  Bytes forwardTransient = 0;
  /// The same inside backward: gradients of activations, the incoming gradient of the output and the outgoing
  /// one of the input among them, kernel scratch; not the gradients of weights.
  Bytes backwardTransient = 0;
  /// Head: the logits, alive from the head's product on. They are part of forwardTransient when the loss is
  /// evaluated in fp32, of `saved` otherwise; the rest of forwardTransient belongs to the loss.
  Bytes logitsBytes = 0;
  /// Expert parallelism: bytes of the send buffer of one token all-to-all, the share that stays on this rank
  /// included (0: none).
  Bytes dispatchBytes = 0;
  /// With full checkpointing `recompute` is `forward`, and these positions hold in it too; selective
  /// recompute repeats no all-to-all. Position in `forward` after which the dispatch / combine all-to-all
  /// stands; -1: none. Same for backward.
  int dispatchAfter = -1, combineAfter = -1, backwardCombineAfter = -1, backwardDispatchAfter = -1;
  [[nodiscard]] Bytes savedBytes()
      const;  // storages of `saved` that this module owns, each rounded up to 512
  /// The same over savedInRecompute.
  [[nodiscard]] Bytes recomputedBytes() const;
  /// True when the module's input (the previous module's output) must live until this module's backward.
  [[nodiscard]] bool keepsInput() const;
  [[nodiscard]] Flops forwardFlops() const;
};

/// Costs of `module` of `graph`. Errors: expertParallel does not divide the experts, tensorParallel does not
/// divide heads, kv heads or widths.
Result<ModuleCosts> moduleCosts(const ModelGraph& graph, const Module& module, const WorkShape& work);
/// The same from the configuration alone: `layer` is the index of a ModuleKind::layer and ignored otherwise.
Result<ModuleCosts> moduleCosts(const ModelConfig& config, ModuleKind kind, std::int64_t layer,
                                const WorkShape& work);

}  // namespace vsim::core
