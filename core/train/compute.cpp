// The compute of blocks: kernels, token all-to-alls of expert parallelism, and the activations between
// forward and backward. Part of TrainContext.

#include "core/train/context.h"

namespace vsim::core {
namespace {

MemoryCategory activationCategory(const Block& block) {
  return block.name == "head" ? MemoryCategory::logitsLoss : MemoryCategory::activations;
}

}  // namespace

TrainContext::BlockKernels& TrainContext::kernelsOf(std::size_t costsIndex) {
  BlockKernels& k = kernels_[costsIndex];
  if (k.made) return k;
  k.made = true;
  const ModuleCosts& costs = model_.costs[costsIndex];
  const auto make = [&](const std::vector<Operation>& operations) {
    std::vector<Index> result;
    for (const Operation& operation : operations)
      result.push_back(builder_.kernel({.operation = builder_.operation(operation)}));
    return result;
  };
  k.forward = make(costs.forward);
  // The recomputed forward is the same work: equal operations share their cost.
  k.recompute = costs.recompute.size() == costs.forward.size() ? k.forward : make(costs.recompute);
  k.backward = make(costs.backward);
  const auto transient = [&](const char* name, Bytes bytes) {
    return bytes == 0 ? kNone
                      : builder_.buffer({.name = name,
                                         .stream = compute_,
                                         .category = MemoryCategory::temporary,
                                         .dtype = DType::uint8,
                                         .elements = bytes});
  };
  k.forwardTransient = transient("forward_temporaries", costs.forwardTransient);
  k.backwardTransient = transient("backward_temporaries", costs.backwardTransient);
  k.savedInRecompute = savedBuffers(costs.savedInRecompute, MemoryCategory::activations);
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

void TrainContext::launchAll(const std::vector<Index>& kernels, const std::vector<Operation>& operations,
                             int dispatchAfter, int combineAfter, bool exchangeCounts,
                             const BlockKernels& block) {
  const Phase phase = builder_.phase();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const bool loss = operations[i].kind == OpKind::memory && operations[i].memoryOp == MemoryOp::loss;
    builder_.setPhase(loss ? Phase::loss : phase);
    builder_.launch(kernels[i], compute_);
    builder_.setPhase(phase);
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

void TrainContext::forward(std::size_t blockIndex) {
  const Block& block = model_.blocks[blockIndex];
  const ModuleCosts& costs = model_.costs[block.costs];
  BlockKernels& kernels = kernelsOf(block.costs);
  BlockState& state = states_[blockIndex];
  if (!state.made) {
    state.made = true;
    state.saved = savedBuffers(costs.saved, activationCategory(block));
    if (costs.outputBytes > 0)
      state.output = builder_.buffer({.name = block.name + ".output",
                                      .stream = compute_,
                                      .category = activationCategory(block),
                                      .dtype = DType::uint8,
                                      .elements = costs.outputBytes});
  }
  builder_.hook("forward-compute " + block.name);
  if (kernels.forwardTransient != kNone) builder_.allocate(kernels.forwardTransient);
  for (const Index buffer : state.saved) builder_.allocate(buffer);
  if (state.output != kNone) builder_.allocate(state.output);
  launchAll(kernels.forward, costs.forward, costs.dispatchAfter, costs.combineAfter, true, kernels);
  if (kernels.forwardTransient != kNone) builder_.release(kernels.forwardTransient);
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
    launchAll(kernels.recompute, costs.recompute, whole ? costs.dispatchAfter : -1,
              whole ? costs.combineAfter : -1, true, kernels);
  }
  builder_.setPhase(Phase::backward);
  const GradientBuffers gradients = allocateGradients();
  if (kernels.backwardTransient != kNone) builder_.allocate(kernels.backwardTransient);
  launchAll(kernels.backward, costs.backward, costs.backwardDispatchAfter, costs.backwardCombineAfter, false,
            kernels);
  for (const auto& [comm, buffer] : gradients)
    builder_.launch(gradientKernel(blockIndex, comm, buffer), compute_);
  if (kernels.backwardTransient != kNone) builder_.release(kernels.backwardTransient);
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
