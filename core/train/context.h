#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/optim/optimizer.h"
#include "core/plan/layout.h"
#include "core/program/builder.h"
#include "core/train/system.h"

namespace vsim::core {

/// A communication group of the TrainModel inside a program: its sizes, communicators and persistent buffers.
/// What every FSDP system needs to know of it; systems keep their own schedule state beside it.
struct CommUnit {
  Index unit = kNone;  // StepProgram::units
  const GroupSpec* spec = nullptr;
  std::int64_t devices = 1;            // W
  std::int64_t shardElements = 0;      // per rank, padding included
  std::int64_t unshardedElements = 0;  // of the tensors
  Index gatherGroup = kNone, reduceGroup = kNone;
  Index replicateGroup = kNone;  // kNone: no replication
  Index parameters = kNone;      // persistent sharded parameters in the stored dtype
  Index states = kNone;          // optimizer states
  Index gradients = kNone;       // sharded gradients of this step, once a reduction made them
  [[nodiscard]] std::int64_t gatheredElements() const { return devices * shardElements; }
};

/// What all systems share when they emit a program: streams, communicators, parameters, the compute of blocks
/// with its activations, and the optimizer's step. Lives while one program is built.
class TrainContext {
 public:
  TrainContext(std::string system, const TrainModel& model, const TrainOptions& options,
               const LayoutSet& layouts, const OptimizerTraits& optimizer);

  ProgramBuilder& builder() { return builder_; }
  const TrainModel& model() const { return model_; }
  const TrainOptions& options() const { return options_; }
  StreamId compute() const { return compute_; }

  /// Communication groups of a wrap unit, in forward order: indices for comm().
  const std::vector<std::size_t>& commsOf(std::size_t wrapUnit) const { return commsOf_[wrapUnit]; }
  CommUnit& comm(std::size_t index) { return comms_[index]; }
  std::size_t comms() const { return comms_.size(); }

  /// Setup: allocates the persistent parameters.
  void allocateParameters();

  /// Forward of a block: activations kept for backward are allocated, its kernels and all-to-alls issued.
  void forward(std::size_t block);
  /// Backward of a block: recomputation first where checkpointing asks for it, then `allocateGradients`, then
  /// its kernels; afterwards what forward kept is released. `gradients`: (comm index, buffer) that this block
  /// writes.
  using GradientBuffers = std::vector<std::pair<std::size_t, Index>>;
  void backward(std::size_t block, const std::function<GradientBuffers()>& allocateGradients,
                bool firstBlock);

  /// The loss stands outside the model: after its forward hooks, and before any of its backward hooks.
  void forwardLoss();
  void backwardLoss();

  /// An unsharded gradient buffer for the tensors of `comm` that `block` uses, in the compute dtype; kNone
  /// when the block uses none of them.
  Index gradientBuffer(std::size_t block, std::size_t comm);

  /// Gradient norm, clipping, and the optimizer's update of every shard; then gradients are dropped.
  void optimizerStep();

  /// Blocks of a wrap unit at either end of its forward.
  [[nodiscard]] std::size_t firstBlockOf(std::size_t wrapUnit) const { return firstBlock_[wrapUnit]; }
  [[nodiscard]] std::size_t lastBlockOf(std::size_t wrapUnit) const { return lastBlock_[wrapUnit]; }
  /// Wrap units in the order in which backward enters them: by last block, latest first.
  [[nodiscard]] const std::vector<std::size_t>& backwardOrder() const { return backwardOrder_; }
  /// At most `count` wrap units that backward enters next after `wrapUnit`.
  [[nodiscard]] std::span<const std::size_t> nextInBackward(std::size_t wrapUnit, std::int64_t count) const;
  [[nodiscard]] bool reshardsAfterForward(std::size_t wrapUnit) const;

  /// A memory-bound operation over `elements`: `read` and `written` bytes in all.
  Index memoryOperation(MemoryOp op, const std::string& name, Bytes read, Bytes written, int launches = 1);

 private:
  struct BlockKernels;
  void makeOrder();
  void makeGroups();
  void makeUnits(const LayoutSet& layouts);
  BlockKernels& kernelsOf(std::size_t costs);
  void launchAll(const std::vector<Index>& kernels, int dispatchAfter, int combineAfter, bool exchangeCounts,
                 const BlockKernels& block, const std::vector<std::size_t>& tensorReductions);
  void addTensorReductions(BlockKernels& kernels, const ModuleCosts& costs);
  void allocateIfAny(Index buffer);
  void releaseIfAny(Index buffer);
  std::vector<Index> savedBuffers(const std::vector<SavedTensor>& saved, MemoryCategory category);
  [[nodiscard]] bool keepsInput(std::size_t block) const;
  Index gradientKernel(std::size_t block, std::size_t comm, Index buffer);

  const TrainModel& model_;
  const TrainOptions& options_;
  OptimizerTraits optimizer_;
  ProgramBuilder builder_;
  StreamId compute_ = 0;
  Index denseGroup_ = kNone, denseReduceGroup_ = kNone, expertGroup_ = kNone, expertReduceGroup_ = kNone;
  Index replicateGroup_ = kNone, tokenGroup_ = kNone, tensorGroup_ = kNone;
  std::vector<CommUnit> comms_;
  std::vector<std::vector<std::size_t>> commsOf_;
  std::vector<std::size_t> firstBlock_, lastBlock_;              // [wrap unit]
  std::vector<std::size_t> backwardOrder_, positionInBackward_;  // the latter: [wrap unit], in the former

  struct BlockState {
    bool made = false;
    std::vector<Index> saved, savedByLoss;
    Index output = kNone;
  };
  std::vector<BlockState> states_;
  struct BlockKernels {
    bool made = false;
    std::vector<Index> forward, recompute, backward;
    std::vector<Index> lossForward, lossBackward;  // of the last block: outside the model's own hooks
    Index logits = kNone, lossTransient = kNone, lossBackwardTransient = kNone, logitsGradient = kNone;
    std::vector<Index> savedInRecompute;
    Index forwardTransient = kNone, backwardTransient = kNone;
    Index tokens = kNone, counts = kNone;                    // all-to-alls
    Index tensorReduction = kNone, lossReduction = kNone;    // tensor parallelism
    std::vector<std::size_t> reduceForward, reduceBackward;  // kernels that an all-reduce follows
  };
  std::vector<BlockKernels> kernels_;
  std::vector<std::vector<Index>> gradientBuffers_;  // [block][comm]
};

/// Layout problems of a model's groups: sizes and blocks by the scenario's rules, devices by the parallel
/// sizes. `unit` and `align` in elements. LayoutSet::layouts stays empty.
Result<LayoutSet> layoutProblems(const TrainModel& model, const TrainOptions& options, std::int64_t unit,
                                 std::int64_t align);

/// Runs every layout through the independent verifier; the first complaint is the error.
Result<LayoutSet> verified(LayoutSet layouts);

}  // namespace vsim::core
