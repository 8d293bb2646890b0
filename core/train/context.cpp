#include "core/train/context.h"

#include <algorithm>

#include "core/base/checked.h"

namespace vsim::core {
namespace {

/// The CUDA caching allocator's rounding (torch.cuda: 512-byte blocks).
constexpr Bytes kAllocationQuantum = 512;

Bytes roundingOf(const std::vector<TensorSpec>& tensors, std::int64_t divideBy, Bytes elementBytes) {
  Bytes extra = 0;
  for (const TensorSpec& tensor : tensors) {
    const Bytes bytes = ceilDivide(tensor.elements(), divideBy) * elementBytes;
    extra += roundUp(bytes, kAllocationQuantum) - bytes;
  }
  return extra;
}

}  // namespace

TrainContext::TrainContext(std::string system, const TrainModel& model, const TrainOptions& options,
                           const LayoutSet& layouts, const OptimizerTraits& optimizer)
    : model_(model),
      options_(options),
      optimizer_(optimizer),
      builder_(std::move(system)),
      states_(model.blocks.size()),
      kernels_(model.costs.size()) {
  compute_ = builder_.stream("default");
  makeOrder();
  makeGroups();
  makeUnits(layouts);
  gradientBuffers_.assign(model.blocks.size(), std::vector<Index>(comms_.size(), kNone));
}

void TrainContext::makeOrder() {
  const std::size_t units = model_.units.size();
  firstBlock_.assign(units, model_.blocks.size());
  lastBlock_.assign(units, 0);
  for (std::size_t b = 0; b < model_.blocks.size(); ++b) {
    const std::size_t unit = model_.blocks[b].unit;
    firstBlock_[unit] = std::min(firstBlock_[unit], b);
    lastBlock_[unit] = b;
  }
  positionInBackward_.resize(units);
  for (std::size_t b = model_.blocks.size(); b-- > 0;) {
    const std::size_t unit = model_.blocks[b].unit;
    if (lastBlock_[unit] != b) continue;
    positionInBackward_[unit] = backwardOrder_.size();
    backwardOrder_.push_back(unit);
  }
  VSIM_CHECK(backwardOrder_.size() == units, "every wrap unit has a block");
}

std::span<const std::size_t> TrainContext::nextInBackward(std::size_t wrapUnit, std::int64_t count) const {
  const std::size_t at = positionInBackward_[wrapUnit] + 1;
  const std::size_t left = backwardOrder_.size() - at;
  return std::span(backwardOrder_).subspan(at, std::min(left, static_cast<std::size_t>(count)));
}

bool TrainContext::reshardsAfterForward(std::size_t wrapUnit) const {
  switch (options_.system.reshardAfterForward) {
    case ReshardAfterForward::always:
      return true;
    case ReshardAfterForward::never:
      return false;
    case ReshardAfterForward::automatic:
      return !model_.units[wrapUnit].root;
  }
  return true;
}

void TrainContext::makeGroups() {
  const ParallelSpec& p = options_.parallel;
  const bool separate = options_.system.separateReduceCommunicator;
  denseGroup_ = builder_.group({"dp_shard", p.fsdp, p.tensor});
  denseReduceGroup_ = separate ? builder_.group({"dp_shard_reduce", p.fsdp, p.tensor}) : denseGroup_;
  if (p.expert > 1) {
    const std::int64_t size = p.fsdp * p.tensor / p.expert;
    expertGroup_ = builder_.group({"efsdp", size, p.expert});
    expertReduceGroup_ = separate ? builder_.group({"efsdp_reduce", size, p.expert}) : expertGroup_;
    tokenGroup_ = builder_.group({"ep", p.expert, 1});
  }
  if (p.replicate > 1) replicateGroup_ = builder_.group({"dp_replicate", p.replicate, p.fsdp * p.tensor});
  if (p.tensor > 1) tensorGroup_ = builder_.group({"tp", p.tensor, 1});
}

void TrainContext::makeUnits(const LayoutSet& layouts) {
  StepProgram& program = builder_.program();
  std::vector<std::pair<int, Index>> tables;  // kind -> tensor table
  commsOf_.resize(model_.units.size());
  for (std::size_t u = 0; u < model_.units.size(); ++u) {
    for (const GroupSpec& spec : model_.units[u].groups) {
      const Layout& layout = layouts.layouts[layouts.ofGroup[comms_.size()]];
      auto table =
          std::find_if(tables.begin(), tables.end(), [&](const auto& t) { return t.first == spec.kind; });
      if (table == tables.end()) {
        std::vector<UnitTensor> tensors;
        for (std::size_t t = 0; t < spec.tensors->size(); ++t) {
          const TensorSpec& tensor = (*spec.tensors)[t];
          const std::int64_t rows = tensor.shape.empty() ? 1 : tensor.shape.front();
          UnitTensor entry{
              .name = tensor.name, .elements = tensor.elements(), .rowElements = tensor.elements() / rows};
          if (layout.contiguous) {
            entry.offset = layout.offsets[t];
          } else {
            entry.shardRows = ceilDivide(rows, layout.devices);
            entry.shardOffset = layout.offsets[t];
          }
          tensors.push_back(std::move(entry));
        }
        program.tensorTables.push_back(std::move(tensors));
        tables.emplace_back(spec.kind, static_cast<Index>(program.tensorTables.size() - 1));
        table = std::prev(tables.end());
      }
      CommUnit comm{.unit = static_cast<Index>(program.units.size()),
                    .spec = &spec,
                    .devices = layout.devices,
                    .shardElements = layout.shardElements,
                    .unshardedElements = layout.unitElements,
                    .gatherGroup = spec.expert ? expertGroup_ : denseGroup_,
                    .reduceGroup = spec.expert ? expertReduceGroup_ : denseReduceGroup_,
                    .replicateGroup = replicateGroup_};
      program.units.push_back(Unit{.name = spec.name,
                                   .contiguous = layout.contiguous,
                                   .devices = layout.devices,
                                   .shardElements = layout.shardElements,
                                   .group = comm.gatherGroup,
                                   .tensorTable = table->second});
      // A contiguous shard is one allocation; FSDP2 keeps one per parameter, each rounded up.
      const Bytes extra = layout.contiguous
                              ? 0
                              : roundingOf(*spec.tensors, layout.devices, bytesOf(options_.precision.params));
      comm.parameters = builder_.buffer({.name = "parameters",
                                         .unit = comm.unit,
                                         .stream = compute_,
                                         .category = MemoryCategory::parameters,
                                         .dtype = options_.precision.params,
                                         .elements = layout.shardElements,
                                         .extraBytes = extra});
      program.units.back().parameters = comm.parameters;
      const double stateBytes = optimizer_.stateBytes * static_cast<double>(layout.shardElements);
      comm.states = builder_.buffer({.name = "optimizer_state",
                                     .unit = comm.unit,
                                     .stream = compute_,
                                     .category = MemoryCategory::optimizerState,
                                     .dtype = DType::uint8,
                                     .elements = static_cast<std::int64_t>(stateBytes),
                                     .extraBytes = optimizer_.states * extra});
      commsOf_[u].push_back(comms_.size());
      comms_.push_back(comm);
    }
  }
}

void TrainContext::allocateParameters() {
  builder_.beginSetup();
  builder_.setPhase(Phase::setup);
  for (const CommUnit& comm : comms_) builder_.allocate(comm.parameters);
  builder_.beginStep();
}

Index TrainContext::memoryOperation(MemoryOp op, const std::string& name, Bytes read, Bytes written,
                                    int launches) {
  return builder_.operation(Operation{.kind = OpKind::memory,
                                      .memoryOp = op,
                                      .dtype = options_.precision.compute,
                                      .name = name,
                                      .count = launches,
                                      .bytesRead = read,
                                      .bytesWritten = written});
}

Index TrainContext::gradientBuffer(std::size_t block, std::size_t commIndex) {
  Index& buffer = gradientBuffers_[block][commIndex];
  if (buffer != kNone) return buffer;
  const CommUnit& comm = comms_[commIndex];
  std::vector<TensorSpec> tensors;
  for (std::size_t t = 0; t < comm.spec->tensors->size(); ++t)
    if (comm.spec->blockOf[t] == block) tensors.push_back((*comm.spec->tensors)[t]);
  if (tensors.empty()) return kNone;
  std::int64_t elements = 0;
  for (const TensorSpec& tensor : tensors) elements += tensor.elements();
  buffer = builder_.buffer({.name = "grad",
                            .unit = comm.unit,
                            .stream = compute_,
                            .category = MemoryCategory::gradientBuffers,
                            .dtype = options_.precision.compute,
                            .elements = elements,
                            .extraBytes = roundingOf(tensors, 1, bytesOf(options_.precision.compute))});
  return buffer;
}

void TrainContext::optimizerStep() {
  builder_.setPhase(Phase::optimizer);
  const OptimizerKernel kind = options_.optimizerKernel == "fused"  ? OptimizerKernel::fused
                               : options_.optimizerKernel == "loop" ? OptimizerKernel::loop
                                                                    : OptimizerKernel::foreach;
  const OptimizerTraffic traffic = optimizerTraffic(optimizer_, kind);
  const Bytes gradientBytes = bytesOf(options_.precision.params);
  std::int64_t localElements = 0;
  // Norm of the local gradients (4 B read per element), one all-reduce of the squared norms per communicator,
  // then the scaling (8 B per element): torch.nn.utils.clip_grad_norm_.
  std::vector<Index> normGroups;
  for (const CommUnit& comm : comms_) {
    localElements += comm.shardElements;
    const Bytes bytes = comm.shardElements * gradientBytes;
    builder_.launch(
        builder_.kernel({.operation = memoryOperation(MemoryOp::reduction, "gradient_norm", bytes, 64),
                         .unit = comm.unit}),
        compute_);
    if (std::find(normGroups.begin(), normGroups.end(), comm.gatherGroup) == normGroups.end())
      normGroups.push_back(comm.gatherGroup);
  }
  for (const Index group : normGroups) {
    if (builder_.program().groups[group].size < 2) continue;
    builder_.communicate(builder_.collective({.kind = CollectiveKind::allReduce,
                                              .reduce = ReduceOp::sum,
                                              .group = group,
                                              .dtype = DType::fp32,
                                              .sendElements = 1,
                                              .receiveElements = 1}),
                         compute_);
  }
  for (const CommUnit& comm : comms_) {
    const Bytes bytes = comm.shardElements * gradientBytes;
    builder_.launch(
        builder_.kernel(
            {.operation = memoryOperation(MemoryOp::elementwise, "clip", bytes, bytes), .unit = comm.unit}),
        compute_);
  }
  builder_.setFirstStepOnly(true);
  for (const CommUnit& comm : comms_) builder_.allocate(comm.states);
  builder_.setFirstStepOnly(false);

  Index temporary = kNone;
  if (traffic.temporaryBytesPerElement > 0) {
    temporary = builder_.buffer({.name = "optimizer_temporary",
                                 .stream = compute_,
                                 .category = MemoryCategory::temporary,
                                 .dtype = DType::uint8,
                                 .elements = static_cast<std::int64_t>(traffic.temporaryBytesPerElement *
                                                                       static_cast<double>(localElements))});
    builder_.allocate(temporary);
  }
  for (CommUnit& comm : comms_) {
    const double n = static_cast<double>(comm.shardElements);
    const Index op = memoryOperation(MemoryOp::optimizer, optimizer_.name,
                                     static_cast<Bytes>(traffic.bytesReadPerElement * n),
                                     static_cast<Bytes>(traffic.bytesWrittenPerElement * n), traffic.passes);
    builder_.launch(builder_.kernel({.operation = op,
                                     .role = KernelRole::optimizer,
                                     .unit = comm.unit,
                                     .reads = {comm.gradients, comm.parameters, comm.states},
                                     .writes = {comm.parameters, comm.states}}),
                    compute_);
  }
  if (temporary != kNone) builder_.release(temporary);
}

}  // namespace vsim::core
