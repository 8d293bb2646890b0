// FSDP2: what happens to gradients after a unit's backward.

#include <algorithm>

#include "core/train/fsdp2_emitter.h"

namespace vsim::core {

// FSDPParamGroup.post_backward: experts' group first, and only the unit's first group waits for older
// inputs.
void Fsdp2Emitter::postBackward(std::size_t unit) {
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

void Fsdp2Emitter::keepUnsharded(std::size_t g) {
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

std::vector<Index> Fsdp2Emitter::gradientsOf(const GroupState& s) {
  std::vector<std::pair<std::size_t, Index>> inOrder = s.gradients;  // backward made them last block first
  std::sort(inOrder.begin(), inOrder.end());
  std::vector<Index> result;
  for (const auto& [block, buffer] : inOrder) result.push_back(buffer);
  return result;
}

void Fsdp2Emitter::dropGradients(GroupState& s) {
  for (const auto& [block, buffer] : s.gradients) b_.release(buffer);
  s.gradients.clear();
}

void Fsdp2Emitter::releaseOldestInputs(std::size_t unit) {
  const std::size_t oldest = held_.front().unit;
  VSIM_CHECK(oldest != unit || deferred_, "a unit reduces twice in one backward");
  while (!held_.empty() && held_.front().unit == oldest) {
    b_.wait(compute_, held_.front().event);
    b_.release(held_.front().buffer);
    held_.pop_front();
  }
}

std::size_t Fsdp2Emitter::heldUnits() const {
  std::size_t units = 0;
  for (std::size_t i = 0; i < held_.size(); ++i)
    if (i == 0 || held_[i].unit != held_[i - 1].unit) ++units;
  return units;
}

// foreach_reduce
void Fsdp2Emitter::reduceGroup(std::size_t unit, std::size_t g, bool firstOfUnit) {
  GroupState& s = groups_[g];
  CommUnit& comm = c_.comm(g);
  if (firstOfUnit)
    while (heldUnits() >= static_cast<std::size_t>(o_.system.reduceScatterInputs)) releaseOldestInputs(unit);
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
  b_.launch(
      b_.kernel({.operation = c_.memoryOperation(MemoryOp::copy, "reduce_copy_in", gradientBytes, inputBytes),
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

void Fsdp2Emitter::storeGradients(std::size_t g, Index output, bool add, StreamId stream) {
  GroupState& s = groups_[g];
  CommUnit& comm = c_.comm(g);
  const bool casts = s.castGradient != kNone;
  const Index target = casts ? s.castGradient : s.reduceOut;
  comm.gradients = target;
  if (!add && casts) b_.allocate(s.castGradient);
  const Bytes in = comm.shardElements * bytesOf(o_.precision.reduce);
  const Bytes stored = comm.shardElements * bytesOf(o_.precision.params);
  if (add) {
    b_.launch(
        b_.kernel({.operation = c_.memoryOperation(MemoryOp::elementwise, "accumulate", in + stored, stored),
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

void Fsdp2Emitter::dropOutput(GroupState& s, Index output) {
  if (s.allReduce == kNone) {
    b_.release(output);
  } else {
    s.allReduced = output;
  }
}

void Fsdp2Emitter::dropAllReduced(GroupState& s) {
  if (s.allReduced != kNone) b_.release(s.allReduced);
  s.allReduced = kNone;
}

Index Fsdp2Emitter::secondOutput(std::size_t g) {
  GroupState& s = groups_[g];
  if (s.castGradient != kNone) return s.reduceOut;  // rs_out itself was released after its cast
  const Buffer& first = b_.program().buffers[s.reduceOut];
  return b_.buffer(Buffer(first));
}

Index Fsdp2Emitter::freeInput(std::size_t g) {
  const Index own = groups_[g].reduceIn;
  const bool held =
      std::any_of(held_.begin(), held_.end(), [&](const HeldInput& input) { return input.group == g; });
  return held ? b_.buffer(Buffer(b_.program().buffers[own])) : own;
}

Index Fsdp2Emitter::withBuffers(Index collective, Index input, Index output) {
  Collective copy = b_.program().collectives[collective];
  copy.input = input;
  copy.output = output;
  return b_.collective(copy);
}

// FSDPState._root_post_backward_final_callback
void Fsdp2Emitter::finalCallback(std::size_t firstUnit) {
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

void Fsdp2Emitter::zeroGradients() {
  b_.hook("zero_grad");
  const std::vector<std::size_t>& order = c_.backwardOrder();
  for (auto unit = order.rbegin(); unit != order.rend(); ++unit)
    for (const std::size_t g : c_.commsOf(*unit)) {
      b_.release(c_.comm(g).gradients);
      groups_[g].hasGradients = false;
    }
}

}  // namespace vsim::core
