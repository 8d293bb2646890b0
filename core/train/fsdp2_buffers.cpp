// FSDP2: buffers, collectives and copy kernels of one communication group.

#include "core/train/fsdp2_emitter.h"

namespace vsim::core {

void Fsdp2Emitter::makeBuffers(std::size_t g) {
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

}  // namespace vsim::core
