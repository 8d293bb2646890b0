// The compute of blocks: kernels, token all-to-alls of expert parallelism, and the activations between
// forward and backward. Part of TrainContext.

#include <algorithm>

#include "core/train/context.h"

namespace vsim::core {
namespace {

/// Width of the activations that enter a block with a head: k of the head's product.
std::int64_t hiddenOf(const ModuleCosts& costs) {
  for (const Operation& op : costs.forward)
    if (op.kind == OpKind::gemm) return op.k;
  return 1;
}

bool keptByLoss(const SavedTensor& tensor, bool hasLoss) {
  return hasLoss &&
         (tensor.name == "log_probabilities" || tensor.name == "labels" || tensor.name.starts_with("loss."));
}

MemoryCategory activationCategory(const Block& block) {
  return block.name == "head" ? MemoryCategory::logitsLoss : MemoryCategory::activations;
}

}  // namespace

TrainContext::BlockKernels& TrainContext::kernelsOf(std::size_t costsIndex) {
  BlockKernels& k = kernels_[costsIndex];
  if (k.made) return k;
  k.made = true;
  const ModuleCosts& costs = model_.costs[costsIndex];
  const auto make = [&](const std::vector<Operation>& operations, std::vector<Index>* loss) {
    std::vector<Index> result;
    for (const Operation& operation : operations) {
      const bool apart = loss && operation.kind == OpKind::memory && operation.memoryOp == MemoryOp::loss;
      (apart ? *loss : result).push_back(builder_.kernel({.operation = builder_.operation(operation)}));
    }
    return result;
  };
  k.forward = make(costs.forward, &k.lossForward);
  // The recomputed forward is the same work: equal operations share their cost.
  k.recompute = costs.recompute.size() == costs.forward.size() ? k.forward : make(costs.recompute, nullptr);
  k.backward = make(costs.backward, &k.lossBackward);
  const auto transient = [&](const char* name, MemoryCategory category, Bytes bytes) {
    return bytes <= 0 ? kNone
                      : builder_.buffer({.name = name,
                                         .stream = compute_,
                                         .category = category,
                                         .dtype = DType::uint8,
                                         .elements = bytes});
  };
  using enum MemoryCategory;
  if (k.lossForward.empty()) {
    k.forwardTransient = transient("forward_temporaries", temporary, costs.forwardTransient);
    k.backwardTransient = transient("backward_temporaries", temporary, costs.backwardTransient);
  } else {
    // The logits outlive the head's forward; the loss has temporaries of its own in both directions, and
    // leaves the gradient of the logits to the head's backward.
    const bool saved = std::any_of(costs.saved.begin(), costs.saved.end(),
                                   [](const SavedTensor& tensor) { return tensor.name == "head.output"; });
    k.logits = transient("logits", logitsLoss, saved ? 0 : costs.logitsBytes);
    k.lossTransient =
        transient("loss_temporaries", temporary, costs.forwardTransient - (saved ? 0 : costs.logitsBytes));
    k.lossBackwardTransient = transient("loss_backward_temporaries", temporary, costs.backwardTransient);
    k.logitsGradient = transient("logits_gradient", logitsLoss, saved ? 0 : costs.logitsBytes);
    k.backwardTransient = transient("backward_temporaries", temporary, 2 * costs.inputBytes);
  }
  k.savedInRecompute = savedBuffers(costs.savedInRecompute, MemoryCategory::activations);
  if (tensorGroup_ != kNone) addTensorReductions(k, costs);
  if (tokenGroup_ != kNone && costs.dispatchBytes > 0) {
    const DType dtype = options_.precision.compute;
    const std::int64_t elements = costs.dispatchBytes / bytesOf(dtype);
    k.tokens = builder_.collective({.kind = CollectiveKind::allToAll,
                                    .group = tokenGroup_,
                                    .dtype = dtype,
                                    .sendElements = elements,
                                    .receiveElements = elements,
                                    .inPlace = false});
    const std::int64_t ranks = options_.parallel.expert;
    k.counts = builder_.collective({.kind = CollectiveKind::allToAll,
                                    .group = tokenGroup_,
                                    .dtype = DType::int64,
                                    .sendElements = ranks,
                                    .receiveElements = ranks,
                                    .inPlace = false});
  }
  return k;
}

/// Tensor parallelism without sequence parallelism: each of attention and MLP ends with an all-reduce of the
/// full activation in forward, and of its input's gradient in backward; the embedding has the forward one,
/// the head the backward one (torch.distributed.tensor's column-wise and row-wise styles).
void TrainContext::addTensorReductions(BlockKernels& k, const ModuleCosts& costs) {
  const DType dtype = options_.precision.compute;
  const bool head = !k.lossForward.empty();
  const bool embedding = !costs.forward.empty() && costs.forward.front().memoryOp == MemoryOp::embedding;
  const std::int64_t elements = (embedding ? costs.outputBytes : costs.inputBytes) / bytesOf(dtype);
  k.tensorReduction = builder_.collective({.kind = CollectiveKind::allReduce,
                                           .reduce = ReduceOp::sum,
                                           .group = tensorGroup_,
                                           .dtype = dtype,
                                           .sendElements = elements,
                                           .receiveElements = elements});
  const auto output = [](const Operation& op) {
    return op.name.starts_with("o_proj") || op.name.starts_with("out_proj");
  };
  if (!head && !k.forward.empty()) {
    for (std::size_t i = 0; i < costs.forward.size() && !embedding; ++i)
      if (output(costs.forward[i])) k.reduceForward.push_back(i);
    k.reduceForward.push_back(k.forward.size() - 1);
  }
  if (!embedding && !k.backward.empty()) {
    const auto first = std::find_if(costs.backward.begin(), costs.backward.end(), output);
    if (first != costs.backward.end() && first != costs.backward.begin())
      k.reduceBackward.push_back(static_cast<std::size_t>(first - costs.backward.begin()) - 1);
    k.reduceBackward.push_back(k.backward.size() - 1);
  }
  if (head) {
    // Loss over a vocabulary cut among the ranks: maximum, sum of exponentials and the target's logit, fp32
    // per token.
    const std::int64_t tokens = elements / hiddenOf(costs);
    k.lossReduction = builder_.collective({.kind = CollectiveKind::allReduce,
                                           .reduce = ReduceOp::sum,
                                           .group = tensorGroup_,
                                           .dtype = DType::fp32,
                                           .sendElements = tokens,
                                           .receiveElements = tokens});
  }
}

std::vector<Index> TrainContext::savedBuffers(const std::vector<SavedTensor>& saved,
                                              MemoryCategory category) {
  std::vector<Index> result;
  for (const SavedTensor& tensor : saved) {
    if (!tensor.newStorage || tensor.layerInput || tensor.parameterOrConstant || tensor.bytes() == 0)
      continue;
    result.push_back(builder_.buffer({.name = tensor.name,
                                      .stream = compute_,
                                      .category = category,
                                      .dtype = DType::uint8,
                                      .elements = tensor.bytes()}));
  }
  return result;
}

bool TrainContext::keepsInput(std::size_t block) const {
  return model_.costs[model_.blocks[block].costs].keepsInput();
}

void TrainContext::launchAll(const std::vector<Index>& kernels, int dispatchAfter, int combineAfter,
                             bool exchangeCounts, const BlockKernels& block,
                             const std::vector<std::size_t>& tensorReductions) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    builder_.launch(kernels[i], compute_);
    if (std::find(tensorReductions.begin(), tensorReductions.end(), i) != tensorReductions.end())
      builder_.communicate(block.tensorReduction, compute_);
    if (block.tokens == kNone) continue;
    if (static_cast<int>(i) == dispatchAfter) {
      if (exchangeCounts) {
        // The receive counts go to the CPU: the host waits here before it can issue the token exchange.
        builder_.communicate(block.counts, compute_);
        builder_.hostWait(builder_.record(compute_));
      }
      builder_.communicate(block.tokens, compute_);
    }
    if (static_cast<int>(i) == combineAfter) builder_.communicate(block.tokens, compute_);
  }
}

Index TrainContext::gradientKernel(std::size_t block, std::size_t commIndex, Index buffer) {
  const CommUnit& comm = comms_[commIndex];
  const std::vector<std::size_t>& blockOf = comm.spec->blockOf;
  const auto first = std::find(blockOf.begin(), blockOf.end(), block);
  const auto last = std::find_if(first, blockOf.end(), [&](std::size_t b) { return b != block; });
  VSIM_CHECK(std::find(last, blockOf.end(), block) == blockOf.end(),
             "the tensors of one block are not neighbours in their unit");
  return builder_.kernel({.role = KernelRole::gradient,
                          .unit = comm.unit,
                          .writes = {buffer},
                          .firstTensor = static_cast<Index>(first - blockOf.begin()),
                          .tensorCount = static_cast<Index>(last - first)});
}

void TrainContext::allocateIfAny(Index buffer) {
  if (buffer != kNone) builder_.allocate(buffer);
}
void TrainContext::releaseIfAny(Index buffer) {
  if (buffer != kNone) builder_.release(buffer);
}

void TrainContext::forwardLoss() {
  const BlockKernels& kernels = kernelsOf(model_.blocks.back().costs);
  if (kernels.lossForward.empty()) return;
  const Phase outer = builder_.phase();
  builder_.setPhase(Phase::loss);
  builder_.hook("forward-compute loss");
  for (const Index buffer : states_.back().savedByLoss) builder_.allocate(buffer);
  allocateIfAny(kernels.lossTransient);
  for (const Index kernel : kernels.lossForward) builder_.launch(kernel, compute_);
  for (int i = 0; i < 3 && kernels.lossReduction != kNone; ++i)
    builder_.communicate(kernels.lossReduction, compute_);
  releaseIfAny(kernels.lossTransient);
  releaseIfAny(kernels.logits);
  builder_.setPhase(outer);
}

void TrainContext::backwardLoss() {
  const BlockKernels& kernels = kernelsOf(model_.blocks.back().costs);
  if (kernels.lossForward.empty()) return;
  const Phase outer = builder_.phase();
  builder_.setPhase(Phase::loss);
  builder_.hook("begin backward-compute loss");
  allocateIfAny(kernels.lossBackwardTransient);
  for (const Index kernel : kernels.lossBackward) builder_.launch(kernel, compute_);
  releaseIfAny(kernels.lossBackwardTransient);
  allocateIfAny(kernels.logitsGradient);
  for (const Index buffer : states_.back().savedByLoss) builder_.release(buffer);
  builder_.hook("end backward-compute loss");
  builder_.setPhase(outer);
}

void TrainContext::forward(std::size_t blockIndex) {
  const Block& block = model_.blocks[blockIndex];
  const ModuleCosts& costs = model_.costs[block.costs];
  BlockKernels& kernels = kernelsOf(block.costs);
  BlockState& state = states_[blockIndex];
  if (!state.made) {
    state.made = true;
    std::vector<SavedTensor> ofModule, ofLoss;
    for (const SavedTensor& tensor : costs.saved)
      (keptByLoss(tensor, !kernels.lossForward.empty()) ? ofLoss : ofModule).push_back(tensor);
    state.saved = savedBuffers(ofModule, activationCategory(block));
    state.savedByLoss = savedBuffers(ofLoss, activationCategory(block));
    if (costs.outputBytes > 0)
      state.output = builder_.buffer({.name = block.name + ".output",
                                      .stream = compute_,
                                      .category = activationCategory(block),
                                      .dtype = DType::uint8,
                                      .elements = costs.outputBytes});
  }
  builder_.hook("forward-compute " + block.name);
  allocateIfAny(kernels.forwardTransient);
  allocateIfAny(kernels.logits);
  for (const Index buffer : state.saved) builder_.allocate(buffer);
  if (state.output != kNone) builder_.allocate(state.output);
  launchAll(kernels.forward, costs.dispatchAfter, costs.combineAfter, true, kernels, kernels.reduceForward);
  releaseIfAny(kernels.forwardTransient);
  // The previous block's output dies here unless this block keeps it for backward.
  if (blockIndex > 0 && !keepsInput(blockIndex) && states_[blockIndex - 1].output != kNone)
    builder_.release(states_[blockIndex - 1].output);
}

void TrainContext::backward(std::size_t blockIndex, const std::function<GradientBuffers()>& allocateGradients,
                            bool firstBlock) {
  const Block& block = model_.blocks[blockIndex];
  const ModuleCosts& costs = model_.costs[block.costs];
  BlockKernels& kernels = kernelsOf(block.costs);
  BlockState& state = states_[blockIndex];
  builder_.hook("begin backward-compute " + block.name);
  if (!costs.recompute.empty()) {
    builder_.hook("forward-compute " + block.name);
    builder_.setPhase(Phase::recompute);
    for (const Index buffer : kernels.savedInRecompute) builder_.allocate(buffer);
    const bool whole = costs.recompute.size() == costs.forward.size();
    launchAll(kernels.recompute, whole ? costs.dispatchAfter : -1, whole ? costs.combineAfter : -1, true,
              kernels, whole ? kernels.reduceForward : std::vector<std::size_t>{});
  }
  builder_.setPhase(Phase::backward);
  const GradientBuffers gradients = allocateGradients();
  allocateIfAny(kernels.backwardTransient);
  launchAll(kernels.backward, costs.backwardDispatchAfter, costs.backwardCombineAfter, false, kernels,
            kernels.reduceBackward);
  for (const auto& [comm, buffer] : gradients)
    builder_.launch(gradientKernel(blockIndex, comm, buffer), compute_);
  releaseIfAny(kernels.backwardTransient);
  releaseIfAny(kernels.logitsGradient);
  if (!costs.recompute.empty())
    for (const Index buffer : kernels.savedInRecompute) builder_.release(buffer);
  for (const Index buffer : state.saved) builder_.release(buffer);
  const bool last = blockIndex + 1 == model_.blocks.size();
  if (last && state.output != kNone) builder_.release(state.output);
  if (blockIndex > 0 && keepsInput(blockIndex) && states_[blockIndex - 1].output != kNone)
    builder_.release(states_[blockIndex - 1].output);
  // The first block's input needs no gradient: no hook of the framework marks its end.
  if (!firstBlock) builder_.hook("end backward-compute " + block.name);
}

}  // namespace vsim::core
