#include "core/train/fsdp2.h"

#include <algorithm>
#include <deque>
#include <map>

#include "core/plan/fsdp2_layout.h"
#include "core/train/context.h"

namespace vsim::core {
namespace {

/// Emits FSDP2's host sequence. Comments name the hook of torch.distributed.fsdp._fully_shard that a part
/// follows.
class Fsdp2Emitter {
 public:
  Fsdp2Emitter(TrainContext& context, const TrainOptions& options)
      : c_(context), b_(context.builder()), o_(options), groups_(context.comms()) {
    compute_ = c_.compute();
    copyIn_ = b_.stream("copy_in");
    gather_ = b_.stream("AG");
    reduce_ = b_.stream("RS");
    allReduce_ = b_.stream("AR");
    for (std::size_t g = 0; g < groups_.size(); ++g) makeBuffers(g);
    forwardPrefetch_ = o_.system.forwardPrefetch;
    // Expert parallelism blocks the host in every dispatch: the frameworks then set explicit prefetch lists.
    if (o_.parallel.expert > 1) forwardPrefetch_ = std::max<std::int64_t>(forwardPrefetch_, 1);
  }

  void emit() {
    c_.allocateParameters();
    for (std::int64_t m = 0; m < o_.accumulation; ++m) {
      lastMicroBatch_ = m + 1 == o_.accumulation;
      forwardPass();
      backwardPass();
    }
    c_.optimizerStep();
    zeroGradients();
    b_.program().microBatches = o_.accumulation;
  }

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

  [[nodiscard]] bool reshardsAfterForward(std::size_t unit) const {
    switch (o_.system.reshardAfterForward) {
      case ReshardAfterForward::always:
        return true;
      case ReshardAfterForward::never:
        return false;
      case ReshardAfterForward::automatic:
        return !c_.model().units[unit].root;
    }
    return true;
  }

  void makeBuffers(std::size_t g) {
    CommUnit& comm = c_.comm(g);
    GroupState& s = groups_[g];
    const DType compute = o_.precision.compute, reduce = o_.precision.reduce;
    const std::int64_t all = comm.gatheredElements();
    const StreamId copyStream = asynchronous() ? compute_ : copyIn_;
    const auto make = [&](const char* name, StreamId stream, MemoryCategory category, DType dtype,
                          std::int64_t elements) {
      return b_.buffer({.name = name,
                        .unit = comm.unit,
                        .stream = stream,
                        .category = category,
                        .dtype = dtype,
                        .elements = elements});
    };
    using enum MemoryCategory;
    s.cast = make("cast", copyStream, temporary, compute, comm.shardElements);
    s.gatherOut = make("ag_out", copyStream, unshardedParameters, compute, all);
    for (const TensorSpec& tensor : *comm.spec->tensors) {
      // The unsharded storage of a parameter is as long as its padded shards together.
      const std::int64_t rows = tensor.shape.empty() ? 1 : tensor.shape.front();
      const std::int64_t row = tensor.elements() / rows;
      const std::int64_t padded = (rows + comm.devices - 1) / comm.devices * comm.devices * row;
      s.full.push_back(make("full", compute_, unshardedParameters, compute, padded));
    }
    s.reduceIn = make("rs_in", compute_, gradientBuffers, reduce, all);
    s.reduceOut = make("rs_out", reduceOutputStream(), gradients, reduce, comm.shardElements);
    if (reduce != o_.precision.params)
      s.castGradient =
          make("grad_shard", reduceOutputStream(), gradients, o_.precision.params, comm.shardElements);
    s.gather = b_.collective({.kind = CollectiveKind::allGather,
                              .group = comm.gatherGroup,
                              .unit = comm.unit,
                              .dtype = compute,
                              .sendElements = comm.shardElements,
                              .receiveElements = all,
                              .input = s.gatherOut,
                              .output = s.gatherOut,
                              .inPlace = true,
                              .aligned16 = comm.shardElements * bytesOf(compute) % 16 == 0});
    s.scatter = b_.collective({.kind = CollectiveKind::reduceScatter,
                               .reduce = ReduceOp::average,
                               .group = comm.reduceGroup,
                               .unit = comm.unit,
                               .dtype = reduce,
                               .sendElements = all,
                               .receiveElements = comm.shardElements,
                               .input = s.reduceIn,
                               .output = s.reduceOut,
                               .inPlace = false,
                               .aligned16 = comm.shardElements * bytesOf(reduce) % 16 == 0});
    if (comm.replicateGroup != kNone)
      s.allReduce = b_.collective({.kind = CollectiveKind::allReduce,
                                   .reduce = ReduceOp::average,
                                   .group = comm.replicateGroup,
                                   .unit = comm.unit,
                                   .dtype = reduce,
                                   .sendElements = comm.shardElements,
                                   .receiveElements = comm.shardElements,
                                   .input = s.reduceOut,
                                   .output = s.reduceOut});
    const Bytes shardStored = comm.shardElements * bytesOf(o_.precision.params);
    const Bytes shardGathered = comm.shardElements * bytesOf(compute);
    const Bytes fullBytes = all * bytesOf(compute);
    // The multi-tensor cast, then the copy into the own slot: both on the shard only.
    s.copyIn =
        b_.kernel({.operation = c_.memoryOperation(MemoryOp::cast, "copy_in", shardStored + shardGathered,
                                                   2 * shardGathered, mixed() ? 2 : 1),
                   .role = KernelRole::copyIn,
                   .unit = comm.unit,
                   .reads = {comm.parameters},
                   .writes = {s.gatherOut}});
    s.copyOut = b_.kernel({.operation = c_.memoryOperation(MemoryOp::copy, "copy_out", fullBytes, fullBytes),
                           .role = KernelRole::copyOut,
                           .unit = comm.unit,
                           .reads = {s.gatherOut},
                           .writes = s.full});
  }

  /// HSDP's partial sums are reduced in place where the all-reduce runs, but live in the reduce-scatter's
  /// pool.
  [[nodiscard]] StreamId reduceOutputStream() const { return reduce_; }

  // FSDPParamGroup.unshard
  void unshard(std::size_t g, const char* when) {
    GroupState& s = groups_[g];
    if (s.unsharded || s.gathered != kNone) return;
    CommUnit& comm = c_.comm(g);
    b_.hook("unshard " + comm.spec->name + " [" + when + "]");
    const StreamId copyStream = asynchronous() ? compute_ : copyIn_;
    const StreamId gatherStream = asynchronous() ? compute_ : gather_;
    if (mixed()) b_.allocate(s.cast);
    b_.allocate(s.gatherOut);
    b_.launch(s.copyIn, copyStream);
    if (mixed()) b_.release(s.cast);
    b_.waitStream(gatherStream, copyStream);
    if (comm.devices > 1) b_.communicate(s.gather, gatherStream);
    s.gathered = b_.record(gatherStream);
  }

  void freeGatherOutput(Index event, std::size_t g) {
    b_.wait(copyIn_, event);
    b_.wait(gather_, event);
    b_.release(groups_[g].gatherOut);
  }

  // FSDPParamGroup.wait_for_unshard
  void waitForUnshard(std::size_t g, bool forward) {
    GroupState& s = groups_[g];
    if (s.gathered == kNone) return;
    b_.hook("wait_for_unshard " + c_.comm(g).spec->name);
    const bool keep = forward && !asynchronous();
    if (keep) releaseKeptOutput();
    b_.wait(compute_, s.gathered);
    for (const Index full : s.full) b_.allocate(full);
    b_.launch(s.copyOut, compute_);
    const Index copied = b_.record(compute_);
    if (keep) {
      keptEvent_ = copied;
      keptGroup_ = g;
    } else {
      freeGatherOutput(copied, g);
    }
    s.gathered = kNone;
    s.unsharded = true;
  }

  /// Forward keeps one gather buffer until the next group has gathered.
  void releaseKeptOutput() {
    if (keptEvent_ == kNone) return;
    freeGatherOutput(keptEvent_, keptGroup_);
    keptEvent_ = kNone;
  }

  // FSDPParamGroup.reshard
  void reshard(std::size_t g) {
    GroupState& s = groups_[g];
    if (!s.unsharded) return;
    b_.hook("reshard " + c_.comm(g).spec->name);
    for (const Index full : s.full) b_.release(full);
    s.unsharded = false;
  }

  void forwardPass() {
    b_.setPhase(Phase::forward);
    b_.waitStream(copyIn_, compute_);
    b_.waitStream(gather_, compute_);
    const std::vector<Block>& blocks = c_.model().blocks;
    std::vector<bool> entered(c_.model().units.size(), false);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::size_t unit = blocks[i].unit;
      if (!entered[unit]) {  // pre-forward
        entered[unit] = true;
        for (const std::size_t g : c_.commsOf(unit)) unshard(g, "FORWARD");
        for (const std::size_t g : c_.commsOf(unit)) waitForUnshard(g, true);
        for (std::size_t next = unit + 1;
             next < entered.size() && next <= unit + static_cast<std::size_t>(forwardPrefetch_); ++next)
          for (const std::size_t g : c_.commsOf(next)) unshard(g, "FORWARD");
      }
      c_.forward(i);
      if (lastBlockOf(unit) == i && reshardsAfterForward(unit))  // post-forward
        for (const std::size_t g : c_.commsOf(unit)) reshard(g);
    }
    releaseKeptOutput();  // the root's post-forward
    c_.forwardLoss();
  }

  [[nodiscard]] std::size_t lastBlockOf(std::size_t unit) const { return c_.blocksOf(unit).back(); }
  [[nodiscard]] std::size_t firstBlockOf(std::size_t unit) const { return c_.blocksOf(unit).front(); }

  void backwardPass() {
    b_.setPhase(Phase::backward);
    c_.backwardLoss();
    const std::vector<Block>& blocks = c_.model().blocks;
    for (std::size_t i = blocks.size(); i-- > 0;) {
      const std::size_t unit = blocks[i].unit;
      if (lastBlockOf(unit) == i) preBackward(unit);
      c_.backward(
          i, [&] { return allocateGradients(i); }, i == 0);
      // A unit whose inputs need a gradient reduces at once; the first one has token ids and waits for the
      // end.
      if (firstBlockOf(unit) == i && i != 0) postBackward(unit);
    }
    finalCallback(blocks.front().unit);
  }

  // FSDPState._pre_backward, FSDPParamGroup.pre_backward
  void preBackward(std::size_t unit) {
    b_.hook("pre_backward " + c_.model().units[unit].name);
    const auto& own = c_.commsOf(unit);
    for (const std::size_t g : own) unshard(g, "PRE_BACKWARD");
    for (const std::size_t g : own) waitForUnshard(g, false);
    for (const std::size_t next : backwardPrefetchTargets(unit)) {
      const auto& theirs = c_.commsOf(next);
      for (auto g = theirs.rbegin(); g != theirs.rend(); ++g) unshard(*g, "PRE_BACKWARD");
    }
  }

  /// Units in reverse post-forward order after `unit`. The root that holds the head ran its post-forward
  /// last.
  [[nodiscard]] std::vector<std::size_t> backwardPrefetchTargets(std::size_t unit) const {
    std::vector<std::size_t> order;
    for (std::size_t u = 0; u < c_.model().units.size(); ++u) order.push_back(u);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t x) { return lastBlockOf(a) > lastBlockOf(x); });
    std::vector<std::size_t> targets;
    const auto at = std::find(order.begin(), order.end(), unit);
    for (auto next = at + 1; next < order.end() && next <= at + o_.system.backwardPrefetch; ++next)
      targets.push_back(*next);
    return targets;
  }

  TrainContext::GradientBuffers allocateGradients(std::size_t block) {
    TrainContext::GradientBuffers result;
    for (const std::size_t g : c_.commsOf(c_.model().blocks[block].unit)) {
      const Index buffer = c_.gradientBuffer(block, g);
      if (buffer == kNone) continue;
      b_.allocate(buffer);
      groups_[g].gradients.emplace_back(block, buffer);
      result.emplace_back(g, buffer);
    }
    return result;
  }

  // FSDPParamGroup.post_backward: experts' group first, and only the unit's first group waits for older
  // inputs.
  void postBackward(std::size_t unit) {
    const auto& own = c_.commsOf(unit);
    bool first = true;
    for (auto g = own.rbegin(); g != own.rend(); ++g) {
      const std::string& name = c_.comm(*g).spec->name;
      b_.hook("post_backward " + name);
      reshard(*g);
      if (synchronises()) {
        reduceGroup(unit, *g, first);
        first = false;
      } else {
        keepUnsharded(*g);
      }
      b_.hook("end post_backward " + name);
    }
  }

  /// Without synchronisation the unsharded gradients are kept in the reduce dtype over micro-batches.
  void keepUnsharded(std::size_t g) {
    GroupState& s = groups_[g];
    CommUnit& comm = c_.comm(g);
    const Bytes from = comm.unshardedElements * bytesOf(o_.precision.compute);
    const Bytes to = comm.unshardedElements * bytesOf(o_.precision.reduce);
    if (s.accumulated == kNone)
      s.accumulated = b_.buffer({.name = "accumulated_grad",
                                 .unit = comm.unit,
                                 .stream = compute_,
                                 .category = MemoryCategory::gradientBuffers,
                                 .dtype = o_.precision.reduce,
                                 .elements = comm.unshardedElements});
    const bool add = s.accumulatedLive;
    if (!add) b_.allocate(s.accumulated);
    s.accumulatedLive = true;
    b_.launch(
        b_.kernel({.operation = c_.memoryOperation(MemoryOp::cast, "accumulate", from + (add ? to : 0), to),
                   .role = KernelRole::accumulate,
                   .unit = comm.unit,
                   .reads = gradientsOf(s),
                   .writes = {s.accumulated}}),
        compute_);
    dropGradients(s);
  }

  static std::vector<Index> gradientsOf(const GroupState& s) {
    std::vector<std::pair<std::size_t, Index>> inOrder = s.gradients;  // backward made them last block first
    std::sort(inOrder.begin(), inOrder.end());
    std::vector<Index> result;
    for (const auto& [block, buffer] : inOrder) result.push_back(buffer);
    return result;
  }
  void dropGradients(GroupState& s) {
    for (const auto& [block, buffer] : s.gradients) b_.release(buffer);
    s.gradients.clear();
  }

  void releaseOldestInputs(std::size_t unit) {
    const std::size_t oldest = held_.front().unit;
    VSIM_CHECK(oldest != unit || deferred_, "a unit reduces twice in one backward");
    while (!held_.empty() && held_.front().unit == oldest) {
      b_.wait(compute_, held_.front().event);
      b_.release(held_.front().buffer);
      held_.pop_front();
    }
  }

  [[nodiscard]] std::size_t heldUnits() const {
    std::size_t units = 0;
    for (std::size_t i = 0; i < held_.size(); ++i)
      if (i == 0 || held_[i].unit != held_[i - 1].unit) ++units;
    return units;
  }

  // foreach_reduce
  void reduceGroup(std::size_t unit, std::size_t g, bool firstOfUnit) {
    GroupState& s = groups_[g];
    CommUnit& comm = c_.comm(g);
    if (firstOfUnit)
      while (heldUnits() >= static_cast<std::size_t>(o_.system.reduceScatterInputs))
        releaseOldestInputs(unit);
    if (s.postReduce != kNone) {
      b_.wait(compute_, s.postReduce);
      s.postReduce = kNone;
    }
    dropAllReduced(s);
    const Phase outer = b_.phase();
    b_.setPhase(Phase::reduce);
    const Bytes gradientBytes = comm.unshardedElements * bytesOf(o_.precision.compute);
    const Bytes inputBytes = comm.gatheredElements() * bytesOf(o_.precision.reduce);
    std::vector<Index> sources = gradientsOf(s);
    if (s.accumulatedLive) {
      b_.launch(b_.kernel({.operation = c_.memoryOperation(
                               MemoryOp::cast, "accumulate",
                               gradientBytes + comm.unshardedElements * bytesOf(o_.precision.reduce),
                               comm.unshardedElements * bytesOf(o_.precision.reduce)),
                           .role = KernelRole::accumulate,
                           .unit = comm.unit,
                           .reads = sources,
                           .writes = {s.accumulated}}),
                compute_);
      sources = {s.accumulated};
    }
    const Index input = freeInput(g);
    b_.allocate(input);
    b_.launch(b_.kernel({.operation =
                             c_.memoryOperation(MemoryOp::copy, "reduce_copy_in", gradientBytes, inputBytes),
                         .role = KernelRole::reduceCopyIn,
                         .unit = comm.unit,
                         .reads = sources,
                         .writes = {input}}),
              compute_);
    dropGradients(s);
    if (s.accumulatedLive) b_.release(s.accumulated);
    s.accumulatedLive = false;
    b_.waitStream(reduce_, compute_);
    const bool add = s.hasGradients;
    const Index output = add ? secondOutput(g) : s.reduceOut;
    b_.allocate(output);
    if (comm.devices > 1) {
      const bool own = input == s.reduceIn && output == s.reduceOut;
      b_.communicate(own ? s.scatter : withBuffers(s.scatter, input, output), reduce_);
    } else {
      b_.launch(
          b_.kernel({.operation = c_.memoryOperation(MemoryOp::copy, "reduce_copy", inputBytes, inputBytes),
                     .role = KernelRole::castOut,
                     .unit = comm.unit,
                     .reads = {input},
                     .writes = {output}}),
          reduce_);
    }
    held_.push_back({unit, g, input, b_.record(reduce_)});
    StreamId last = reduce_;
    if (s.allReduce != kNone) {
      b_.waitStream(allReduce_, reduce_);
      b_.communicate(output == s.reduceOut ? s.allReduce : withBuffers(s.allReduce, output, output),
                     allReduce_);
      last = allReduce_;
      b_.record(allReduce_);
    }
    storeGradients(g, output, add, last);
    const Index event = b_.record(last);
    newestPostReduce_ = event;
    if (deferred()) s.postReduce = event;
    if (add) dropOutput(s, output);
    s.hasGradients = true;
    b_.setPhase(outer);
  }

  /// Post-processing on the reducing stream: cast to the stored dtype, or add to what earlier micro-batches
  /// left.
  void storeGradients(std::size_t g, Index output, bool add, StreamId stream) {
    GroupState& s = groups_[g];
    CommUnit& comm = c_.comm(g);
    const bool casts = s.castGradient != kNone;
    const Index target = casts ? s.castGradient : s.reduceOut;
    comm.gradients = target;
    if (!add && casts) b_.allocate(s.castGradient);
    const Bytes in = comm.shardElements * bytesOf(o_.precision.reduce);
    const Bytes stored = comm.shardElements * bytesOf(o_.precision.params);
    if (add) {
      b_.launch(b_.kernel({.operation =
                               c_.memoryOperation(MemoryOp::elementwise, "accumulate", in + stored, stored),
                           .role = KernelRole::accumulate,
                           .unit = comm.unit,
                           .reads = {output},
                           .writes = {target}}),
                stream);
    } else if (casts) {
      b_.launch(b_.kernel({.operation = c_.memoryOperation(MemoryOp::cast, "grad_cast", in, stored),
                           .role = KernelRole::castOut,
                           .unit = comm.unit,
                           .reads = {output},
                           .writes = {target}}),
                stream);
      dropOutput(s, s.reduceOut);
    }
  }

  /// AllReduceState: the all-reduce's input comes from the reduce-scatter's pool, whose stream does not wait
  /// for the all-reduce: it must live until compute has waited.
  void dropOutput(GroupState& s, Index output) {
    if (s.allReduce == kNone) {
      b_.release(output);
    } else {
      s.allReduced = output;
    }
  }
  void dropAllReduced(GroupState& s) {
    if (s.allReduced != kNone) b_.release(s.allReduced);
    s.allReduced = kNone;
  }

  /// While sharded gradients of an earlier micro-batch live in rs_out, the next reduction needs another
  /// output.
  Index secondOutput(std::size_t g) {
    GroupState& s = groups_[g];
    if (s.castGradient != kNone) return s.reduceOut;  // rs_out itself was released after its cast
    const Buffer& first = b_.program().buffers[s.reduceOut];
    return b_.buffer(Buffer(first));
  }
  /// With several inputs held over micro-batches, the group's own may still be read.
  Index freeInput(std::size_t g) {
    const Index own = groups_[g].reduceIn;
    const bool held =
        std::any_of(held_.begin(), held_.end(), [&](const HeldInput& input) { return input.group == g; });
    return held ? b_.buffer(Buffer(b_.program().buffers[own])) : own;
  }
  Index withBuffers(Index collective, Index input, Index output) {
    Collective copy = b_.program().collectives[collective];
    copy.input = input;
    copy.output = output;
    return b_.collective(copy);
  }

  [[nodiscard]] bool deferred() const { return o_.system.deferFinalWait && !lastMicroBatch_; }

  // FSDPState._root_post_backward_final_callback
  void finalCallback(std::size_t firstUnit) {
    b_.hook("final_callback");
    postBackward(firstUnit);
    if (synchronises() && !deferred()) {
      b_.wait(compute_, newestPostReduce_);
      for (const HeldInput& input : held_) b_.wait(compute_, input.event);
      for (const HeldInput& input : held_) b_.release(input.buffer);
      held_.clear();
      for (GroupState& s : groups_) {
        dropAllReduced(s);
        s.postReduce = kNone;
      }
    }
    deferred_ = deferred();
    b_.hook("end final_callback");
  }

  void zeroGradients() {
    b_.hook("zero_grad");
    std::vector<std::size_t> order(c_.model().units.size());
    for (std::size_t u = 0; u < order.size(); ++u) order[u] = u;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t x) { return lastBlockOf(a) < lastBlockOf(x); });
    for (const std::size_t u : order)
      for (const std::size_t g : c_.commsOf(u)) {
        b_.release(c_.comm(g).gradients);
        groups_[g].hasGradients = false;
      }
  }

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

}  // namespace

/// Experts that have fewer than `devices` rows in dim 0 are cut on their next dimension, as torchtitan does;
/// where that does not divide, dim 0 is padded.
void Fsdp2::prepare(TrainModel& model, const TrainOptions& options) const {
  const ParallelSpec& p = options.parallel;
  std::map<const GroupSpec::Tensors*, std::shared_ptr<const GroupSpec::Tensors>> changed;
  for (WrapUnit& unit : model.units) {
    for (GroupSpec& group : unit.groups) {
      const std::int64_t devices = group.expert ? p.fsdp * p.tensor / p.expert : p.fsdp;
      auto& tensors = changed[group.tensors.get()];
      if (!tensors) {
        GroupSpec::Tensors copy = *group.tensors;
        for (TensorSpec& tensor : copy) {
          if (!tensor.routedExpert || tensor.shape.size() < 2 || tensor.shape[0] >= devices) continue;
          // Seen with the cut dimension first: sizes, padding and volumes are those of Shard(1).
          if (tensor.shape[1] % devices == 0) std::swap(tensor.shape[0], tensor.shape[1]);
        }
        tensors = std::make_shared<const GroupSpec::Tensors>(std::move(copy));
      }
      group.tensors = tensors;
    }
  }
}

Result<LayoutSet> Fsdp2::plan(const TrainModel& model, const TrainOptions& options) const {
  auto set = layoutProblems(model, options, 1, 1);
  if (!set) return set;
  for (LayoutProblem& problem : set->problems) {
    for (PlanTensor& tensor : problem.tensors)
      tensor.block = 1;  // FSDP2 knows no blocks: rows are cut as they come
    auto layout = fsdp2Layout(problem);
    if (!layout) return tl::unexpected(layout.error());
    set->layouts.push_back(std::move(*layout));
  }
  return verified(std::move(*set));
}

Result<StepProgram> Fsdp2::emit(const TrainModel& model, const TrainOptions& options,
                                const LayoutSet& layouts) const {
  auto optimizer = optimizerTraits(options.optimizer.name, options.optimizer.block);
  if (!optimizer) return tl::unexpected(optimizer.error());
  TrainContext context("fsdp2", model, options, layouts, *optimizer);
  Fsdp2Emitter(context, options).emit();
  return std::move(context.builder()).take();
}

}  // namespace vsim::core
