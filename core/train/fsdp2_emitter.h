#pragma once

#include <deque>
#include <vector>

#include "core/train/context.h"

namespace vsim::core {

/// Emits FSDP2's host sequence. Comments in the sources name the hook of torch.distributed.fsdp._fully_shard
/// that a part follows.
class Fsdp2Emitter {
 public:
  Fsdp2Emitter(TrainContext& context, const TrainOptions& options);

  void emit();

 private:
  struct GroupState {
    Index cast = kNone, gatherOut = kNone, reduceIn = kNone, reduceOut = kNone, castGradient = kNone;
    Index accumulated = kNone;  // unsharded gradients kept over micro-batches without synchronisation
    std::vector<Index> full;
    Index gather = kNone, scatter = kNone, allReduce = kNone;  // collectives
    Index copyIn = kNone, copyOut = kNone;                     // kernels
    Index gathered = kNone;  // event of the gather in flight; kNone: none in flight
    bool unsharded = false;
    bool accumulatedLive = false;
    bool hasGradients = false;  // sharded gradients of an earlier micro-batch exist
    Index postReduce = kNone;   // event after this group's last reduction, when nobody has waited for it
    std::vector<std::pair<std::size_t, Index>> gradients;  // (block, buffer) of the current backward
    Index allReduced = kNone;  // all-reduce input nobody needs any more, kept until its stream is waited for
  };
  struct HeldInput {
    std::size_t unit = 0, group = 0;
    Index buffer = kNone, event = kNone;
  };

  [[nodiscard]] bool mixed() const { return o_.precision.params != o_.precision.compute; }
  [[nodiscard]] bool asynchronous() const { return o_.system.asyncUnshard; }
  [[nodiscard]] bool synchronises() const { return lastMicroBatch_ || !o_.system.accumulateUnsharded; }

  void makeBuffers(std::size_t g);

  /// HSDP's partial sums are reduced in place where the all-reduce runs, but live in the reduce-scatter's
  /// pool.
  [[nodiscard]] StreamId reduceOutputStream() const { return reduce_; }

  void unshard(std::size_t g, const char* when);

  void freeGatherOutput(Index event, std::size_t g);

  void waitForUnshard(std::size_t g, bool forward);

  /// Forward keeps one gather buffer until the next group has gathered.
  void releaseKeptOutput();

  void reshard(std::size_t g);

  void forwardPass();

  void backwardPass();

  void preBackward(std::size_t unit);

  TrainContext::GradientBuffers allocateGradients(std::size_t block);

  void postBackward(std::size_t unit);

  /// Without synchronisation the unsharded gradients are kept in the reduce dtype over micro-batches.
  void keepUnsharded(std::size_t g);

  static std::vector<Index> gradientsOf(const GroupState& s);
  void dropGradients(GroupState& s);

  void releaseOldestInputs(std::size_t unit);

  [[nodiscard]] std::size_t heldUnits() const;

  void reduceGroup(std::size_t unit, std::size_t g, bool firstOfUnit);

  /// Post-processing on the reducing stream: cast to the stored dtype, or add to what earlier micro-batches
  /// left.
  void storeGradients(std::size_t g, Index output, bool add, StreamId stream);

  /// AllReduceState: the all-reduce's input comes from the reduce-scatter's pool, whose stream does not wait
  /// for the all-reduce: it must live until compute has waited.
  void dropOutput(GroupState& s, Index output);
  void dropAllReduced(GroupState& s);

  /// While sharded gradients of an earlier micro-batch live in rs_out, the next reduction needs another
  /// output.
  Index secondOutput(std::size_t g);
  /// With several inputs held over micro-batches, the group's own may still be read.
  Index freeInput(std::size_t g);
  Index withBuffers(Index collective, Index input, Index output);

  [[nodiscard]] bool deferred() const { return o_.system.deferFinalWait && !lastMicroBatch_; }

  void finalCallback(std::size_t firstUnit);

  void zeroGradients();

  TrainContext& c_;
  ProgramBuilder& b_;
  const TrainOptions& o_;
  StreamId compute_, copyIn_, gather_, reduce_, allReduce_;
  std::int64_t forwardPrefetch_ = 0;
  bool lastMicroBatch_ = true, deferred_ = false;
  std::vector<GroupState> groups_;
  Index keptEvent_ = kNone;
  std::size_t keptGroup_ = 0;
  std::deque<HeldInput> held_;
  Index newestPostReduce_ = kNone;
};

}  // namespace vsim::core
