// FSDP2: forward, backward, unshard and reshard.

#include "core/train/fsdp2_emitter.h"

#include <algorithm>

namespace vsim::core {

Fsdp2Emitter::Fsdp2Emitter(TrainContext& context, const TrainOptions& options)
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

void Fsdp2Emitter::emit() {
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

// FSDPParamGroup.unshard
void Fsdp2Emitter::unshard(std::size_t g, const char* when) {
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

void Fsdp2Emitter::freeGatherOutput(Index event, std::size_t g) {
  b_.wait(copyIn_, event);
  b_.wait(gather_, event);
  b_.release(groups_[g].gatherOut);
}

// FSDPParamGroup.wait_for_unshard
void Fsdp2Emitter::waitForUnshard(std::size_t g, bool forward) {
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

void Fsdp2Emitter::releaseKeptOutput() {
  if (keptEvent_ == kNone) return;
  freeGatherOutput(keptEvent_, keptGroup_);
  keptEvent_ = kNone;
}

// FSDPParamGroup.reshard
void Fsdp2Emitter::reshard(std::size_t g) {
  GroupState& s = groups_[g];
  if (!s.unsharded) return;
  b_.hook("reshard " + c_.comm(g).spec->name);
  for (const Index full : s.full) b_.release(full);
  s.unsharded = false;
}

void Fsdp2Emitter::forwardPass() {
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
    if (c_.lastBlockOf(unit) == i && c_.reshardsAfterForward(unit))  // post-forward
      for (const std::size_t g : c_.commsOf(unit)) reshard(g);
  }
  releaseKeptOutput();  // the root's post-forward
  c_.forwardLoss();
}

void Fsdp2Emitter::backwardPass() {
  b_.setPhase(Phase::backward);
  c_.backwardLoss();
  const std::vector<Block>& blocks = c_.model().blocks;
  for (std::size_t i = blocks.size(); i-- > 0;) {
    const std::size_t unit = blocks[i].unit;
    if (c_.lastBlockOf(unit) == i) preBackward(unit);
    c_.backward(
        i, [&] { return allocateGradients(i); }, i == 0);
    // A unit whose inputs need a gradient reduces at once; the first one has token ids and waits for the
    // end.
    if (c_.firstBlockOf(unit) == i && i != 0) postBackward(unit);
  }
  finalCallback(blocks.front().unit);
}

// FSDPState._pre_backward, FSDPParamGroup.pre_backward
void Fsdp2Emitter::preBackward(std::size_t unit) {
  b_.hook("pre_backward " + c_.model().units[unit].name);
  const auto& own = c_.commsOf(unit);
  for (const std::size_t g : own) unshard(g, "PRE_BACKWARD");
  for (const std::size_t g : own) waitForUnshard(g, false);
  // Reverse post-forward order: the root that holds the head ran its post-forward last.
  for (const std::size_t next : c_.nextInBackward(unit, o_.system.backwardPrefetch)) {
    const auto& theirs = c_.commsOf(next);
    for (auto g = theirs.rbegin(); g != theirs.rend(); ++g) unshard(*g, "PRE_BACKWARD");
  }
}

TrainContext::GradientBuffers Fsdp2Emitter::allocateGradients(std::size_t block) {
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

}  // namespace vsim::core
