#include "core/train/vescale.h"

#include <algorithm>
#include <deque>

#include "core/dbuffer/dbuffer.h"
#include "core/dbuffer/group_operation.h"
#include "core/plan/bucket_plans.h"
#include "core/train/context.h"

namespace vsim::core {
namespace {

class VeScaleEmitter {
 public:
  /// `buffers`: the DBuffer of every group, in the order of the context's comms.
  VeScaleEmitter(TrainContext& context, const TrainOptions& options, std::vector<const DBuffer*> buffers)
      : c_(context),
        b_(context.builder()),
        o_(options),
        buffers_(std::move(buffers)),
        groups_(context.comms()) {
    compute_ = c_.compute();
    gather_ = b_.stream("AG");
    reduce_ = b_.stream("RS");
    allReduce_ = b_.stream("AR");
    for (std::size_t g = 0; g < groups_.size(); ++g) makeBuffers(g);
    forwardDepth_ = static_cast<std::size_t>(std::max<std::int64_t>(1, o_.system.forwardPrefetch));
    // One gradient buffer is written while the others are reduced.
    gradientBuffers_ = static_cast<std::size_t>(o_.system.reduceScatterInputs) + 1;
  }

  void emit() {
    c_.allocateParameters();
    for (std::int64_t m = 0; m < o_.accumulation; ++m) {
      forwardPass();
      backwardPass();
    }
    c_.optimizerStep();
    zeroGradients();
    b_.program().microBatches = o_.accumulation;
  }

 private:
  struct GroupState {
    Index gatherBuffer = kNone, gradientBuffer = kNone, shardGradient = kNone;
    Index gather = kNone, scatter = kNone, allReduce = kNone;
    Index copyIn = kNone;
    Index gathered = kNone;
    bool unsharded = false, hasGradients = false, gradientLive = false;
    std::vector<std::pair<std::size_t, Index>> gradients;
  };
  struct Held {
    std::size_t unit = 0, group = 0;
    Index event = kNone;
  };

  [[nodiscard]] bool castsParameters() const { return o_.precision.params != o_.precision.compute; }
  /// Autograd can write straight into the gradient DBuffer when the dtypes agree.
  [[nodiscard]] bool writesDirectly() const { return o_.precision.reduce == o_.precision.compute; }

  void makeBuffers(std::size_t g) {
    CommUnit& comm = c_.comm(g);
    GroupState& s = groups_[g];
    const DType compute = o_.precision.compute, reduce = o_.precision.reduce;
    const DBuffer& layout = *buffers_[g];
    const std::int64_t all = layout.unshardedElements(), shard = layout.shardElements();
    using enum MemoryCategory;
    const auto make = [&](const char* name, StreamId stream, MemoryCategory category, DType dtype,
                          std::int64_t elements) {
      return b_.buffer({.name = name,
                        .unit = comm.unit,
                        .stream = stream,
                        .category = category,
                        .dtype = dtype,
                        .elements = elements});
    };
    s.gatherBuffer = make("dbuffer", gather_, unshardedParameters, compute, all);
    s.gradientBuffer = make("grad_dbuffer", compute_, gradientBuffers, reduce, all);
    s.shardGradient = make("grad_shard", reduce_, gradients, o_.precision.params, shard);
    comm.gradients = s.shardGradient;
    s.gather = b_.collective({.kind = CollectiveKind::allGather,
                              .group = comm.gatherGroup,
                              .unit = comm.unit,
                              .dtype = compute,
                              .sendElements = shard,
                              .receiveElements = all,
                              .input = castsParameters() ? s.gatherBuffer : comm.parameters,
                              .output = s.gatherBuffer,
                              .inPlace = castsParameters(),
                              .aligned16 = layout.slicesAligned(compute)});
    s.scatter = b_.collective({.kind = CollectiveKind::reduceScatter,
                               .reduce = ReduceOp::average,
                               .group = comm.reduceGroup,
                               .unit = comm.unit,
                               .dtype = reduce,
                               .sendElements = all,
                               .receiveElements = shard,
                               .input = s.gradientBuffer,
                               .output = s.gradientBuffer,
                               .aligned16 = layout.slicesAligned(reduce)});
    if (comm.replicateGroup != kNone)
      s.allReduce = b_.collective({.kind = CollectiveKind::allReduce,
                                   .reduce = ReduceOp::average,
                                   .group = comm.replicateGroup,
                                   .unit = comm.unit,
                                   .dtype = reduce,
                                   .sendElements = shard,
                                   .receiveElements = shard,
                                   .input = s.gradientBuffer,
                                   .output = s.gradientBuffer});
    s.copyIn = b_.kernel({.operation = groupKernel(
                              "cast_shard", groupOperation(castsParameters() ? GroupOp::cast : GroupOp::copy,
                                                           shard, o_.precision.params, compute)),
                          .role = KernelRole::copyIn,
                          .unit = comm.unit,
                          .reads = {comm.parameters},
                          .writes = {s.gatherBuffer}});
  }

  /// One launch over a whole DBuffer or shard, whatever the number of its tensors.
  Index groupKernel(const char* name, const GroupOperation& operation) {
    Operation kernel = asKernel(operation);
    kernel.name = name;
    return b_.operation(kernel);
  }

  void unshard(std::size_t g) {
    GroupState& s = groups_[g];
    if (s.unsharded || s.gathered != kNone) return;
    freePending();
    b_.hook("unshard " + c_.comm(g).spec->name);
    b_.allocate(s.gatherBuffer);
    if (castsParameters() || c_.comm(g).devices == 1) b_.launch(s.copyIn, gather_);
    if (c_.comm(g).devices > 1) b_.communicate(s.gather, gather_);
    s.gathered = b_.record(gather_);
  }

  void waitForUnshard(std::size_t g) {
    GroupState& s = groups_[g];
    if (s.gathered == kNone) return;
    b_.hook("wait_for_unshard " + c_.comm(g).spec->name);
    b_.wait(compute_, s.gathered);
    s.gathered = kNone;
    s.unsharded = true;
  }

  /// The buffer goes back to the gather stream's pool once compute has passed this point.
  void reshard(std::size_t g) {
    GroupState& s = groups_[g];
    if (!s.unsharded) return;
    b_.hook("reshard " + c_.comm(g).spec->name);
    pendingFree_.emplace_back(g, b_.record(compute_));
    s.unsharded = false;
  }

  void freePending() {
    for (const auto& [g, event] : pendingFree_) {
      b_.wait(gather_, event);
      b_.release(groups_[g].gatherBuffer);
    }
    pendingFree_.clear();
  }

  void forwardPass() {
    b_.setPhase(Phase::forward);
    b_.waitStream(gather_, compute_);  // the optimizer's writes
    const std::vector<Block>& blocks = c_.model().blocks;
    const std::size_t units = c_.model().units.size();
    std::vector<bool> entered(units, false);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::size_t unit = blocks[i].unit;
      if (!entered[unit]) {
        entered[unit] = true;
        for (const std::size_t g : c_.commsOf(unit)) unshard(g);
        for (const std::size_t g : c_.commsOf(unit)) waitForUnshard(g);
        for (std::size_t next = unit + 1; next < units && next <= unit + forwardDepth_; ++next)
          for (const std::size_t g : c_.commsOf(next)) unshard(g);
      }
      c_.forward(i);
      if (c_.lastBlockOf(unit) == i && c_.reshardsAfterForward(unit))
        for (const std::size_t g : c_.commsOf(unit)) reshard(g);
    }
    freePending();
    c_.forwardLoss();
  }

  void backwardPass() {
    b_.setPhase(Phase::backward);
    c_.backwardLoss();
    const std::vector<Block>& blocks = c_.model().blocks;
    for (std::size_t i = blocks.size(); i-- > 0;) {
      const std::size_t unit = blocks[i].unit;
      if (c_.lastBlockOf(unit) == i) {
        b_.hook("pre_backward " + c_.model().units[unit].name);
        for (const std::size_t g : c_.commsOf(unit)) unshard(g);
        for (const std::size_t g : c_.commsOf(unit)) waitForUnshard(g);
        for (const std::size_t next : c_.nextInBackward(unit, o_.system.backwardPrefetch)) {
          const auto& theirs = c_.commsOf(next);
          for (auto g = theirs.rbegin(); g != theirs.rend(); ++g) unshard(*g);
        }
      }
      c_.backward(
          i, [&] { return allocateGradients(i); }, i == 0);
      if (c_.firstBlockOf(unit) == i && i != 0) postBackward(unit);
    }
    b_.hook("final_callback");
    postBackward(blocks.front().unit);
    for (const Held& held : held_) b_.wait(compute_, held.event);
    for (const Held& held : held_) b_.release(groups_[held.group].gradientBuffer);
    held_.clear();
    b_.waitStream(gather_, compute_);
    freePending();
    b_.hook("end final_callback");
  }

  TrainContext::GradientBuffers allocateGradients(std::size_t block) {
    TrainContext::GradientBuffers result;
    const std::size_t unit = c_.model().blocks[block].unit;
    for (const std::size_t g : c_.commsOf(unit)) {
      if (writesDirectly()) {
        takeGradientBuffer(unit, g);
        result.emplace_back(g, groups_[g].gradientBuffer);
        continue;
      }
      const Index buffer = c_.gradientBuffer(block, g);
      if (buffer == kNone) continue;
      b_.allocate(buffer);
      groups_[g].gradients.emplace_back(block, buffer);
      result.emplace_back(g, buffer);
    }
    return result;
  }

  void takeGradientBuffer(std::size_t unit, std::size_t g) {
    GroupState& s = groups_[g];
    if (s.gradientLive) return;
    std::size_t units = 0;
    for (std::size_t i = 0; i < held_.size(); ++i)
      if (i == 0 || held_[i].unit != held_[i - 1].unit) ++units;
    while (units >= gradientBuffers_ && held_.front().unit != unit) {
      const std::size_t oldest = held_.front().unit;
      while (!held_.empty() && held_.front().unit == oldest) {
        b_.wait(compute_, held_.front().event);
        b_.release(groups_[held_.front().group].gradientBuffer);
        held_.pop_front();
      }
      --units;
    }
    b_.allocate(s.gradientBuffer);
    s.gradientLive = true;
  }

  void postBackward(std::size_t unit) {
    const auto& own = c_.commsOf(unit);
    for (auto g = own.rbegin(); g != own.rend(); ++g) {
      b_.hook("post_backward " + c_.comm(*g).spec->name);
      reshard(*g);
      reduceGroup(unit, *g);
      b_.hook("end post_backward " + c_.comm(*g).spec->name);
    }
  }

  void reduceGroup(std::size_t unit, std::size_t g) {
    GroupState& s = groups_[g];
    CommUnit& comm = c_.comm(g);
    const Phase outer = b_.phase();
    b_.setPhase(Phase::reduce);
    const Bytes all = comm.gatheredElements() * bytesOf(o_.precision.reduce);
    if (!writesDirectly()) {
      takeGradientBuffer(unit, g);
      std::sort(s.gradients.begin(), s.gradients.end());
      std::vector<Index> sources;
      for (const auto& [block, buffer] : s.gradients) sources.push_back(buffer);
      b_.launch(b_.kernel({.operation = c_.memoryOperation(
                               MemoryOp::cast, "cast_gradients",
                               comm.unshardedElements * bytesOf(o_.precision.compute), all),
                           .role = KernelRole::reduceCopyIn,
                           .unit = comm.unit,
                           .reads = sources,
                           .writes = {s.gradientBuffer}}),
                compute_);
      for (const Index buffer : sources) b_.release(buffer);
      s.gradients.clear();
    }
    s.gradientLive = false;
    b_.waitStream(reduce_, compute_);
    if (comm.devices > 1) b_.communicate(s.scatter, reduce_);
    StreamId last = reduce_;
    if (s.allReduce != kNone) {
      b_.waitStream(allReduce_, reduce_);
      b_.communicate(s.allReduce, allReduce_);
      last = allReduce_;
    }
    if (!s.hasGradients) b_.allocate(s.shardGradient);
    const GroupOperation store = groupOperation(s.hasGradients ? GroupOp::add : GroupOp::cast,
                                                comm.shardElements, o_.precision.reduce, o_.precision.params);
    b_.launch(b_.kernel({.operation = groupKernel("store_gradients", store),
                         .role = s.hasGradients ? KernelRole::accumulate : KernelRole::castOut,
                         .unit = comm.unit,
                         .reads = {s.gradientBuffer},
                         .writes = {s.shardGradient}}),
              last);
    s.hasGradients = true;
    held_.push_back({unit, g, b_.record(last)});
    b_.setPhase(outer);
  }

  void zeroGradients() {
    b_.hook("zero_grad");
    for (GroupState& s : groups_) {
      b_.release(s.shardGradient);
      s.hasGradients = false;
    }
  }

  TrainContext& c_;
  ProgramBuilder& b_;
  const TrainOptions& o_;
  std::vector<const DBuffer*> buffers_;
  StreamId compute_, gather_, reduce_, allReduce_;
  std::size_t forwardDepth_, gradientBuffers_;
  std::vector<GroupState> groups_;
  std::vector<std::pair<std::size_t, Index>> pendingFree_;
  std::deque<Held> held_;
};

}  // namespace

void VeScale::prepare(TrainModel& model, const TrainOptions& options) const {
  if (options.planning.expertsApart) separateStackedExperts(model);
}

Result<LayoutSet> VeScale::plan(const TrainModel& model, const TrainOptions& options) const {
  // NCCL falls to element-wise copies for a whole transfer when a pointer is not 16-byte aligned: shards and
  // tensor starts are multiples of 16 bytes of the smallest dtype communicated.
  const std::int64_t aligned = 16 / std::min({bytesOf(options.precision.compute),
                                              bytesOf(options.precision.reduce), std::int64_t{16}});
  const std::int64_t unit = options.planning.align > 0 ? options.planning.align : aligned;
  auto set = layoutProblems(model, options, unit, unit);
  if (!set) return set;
  auto plans = planBuckets(set->problems, options.planning.buckets);
  if (!plans) return tl::unexpected(plans.error());
  for (BucketPlan& plan : *plans) set->layouts.push_back(std::move(plan.found.layout));
  set->plans = std::move(*plans);
  return verified(std::move(*set));
}

Result<StepProgram> VeScale::emit(const TrainModel& model, const TrainOptions& options,
                                  const LayoutSet& layouts) const {
  auto optimizer = optimizerTraits(options.optimizer.name, options.optimizer.block);
  if (!optimizer) return tl::unexpected(optimizer.error());
  std::vector<DBuffer> made;
  for (std::size_t i = 0; i < layouts.problems.size(); ++i) {
    auto buffer = DBuffer::make(layouts.problems[i].tensors, layouts.layouts[i]);
    if (!buffer) return tl::unexpected(buffer.error());
    made.push_back(std::move(*buffer));
  }
  std::vector<const DBuffer*> ofGroup;
  for (const std::size_t problem : layouts.ofGroup) ofGroup.push_back(&made[problem]);
  TrainContext context("vescale", model, options, layouts, *optimizer);
  VeScaleEmitter(context, options, std::move(ofGroup)).emit();
  return std::move(context.builder()).take();
}

}  // namespace vsim::core
