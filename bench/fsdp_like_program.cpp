#include "bench/fsdp_like_program.h"

#include <string>
#include <utility>
#include <vector>

#include "core/program/builder.h"

namespace vsim::bench {
namespace {

using core::Index;
using core::MemoryCategory;
using core::StreamId;

constexpr std::int64_t kLayerElements = 200'000'000, kDevices = 64, kActivation = 16 * 1024 * 1024;

class Sketch {
 public:
  Sketch(int layers, int kernelsPerLayer)
      : builder_("fsdp-like"), layers_(layers), kernelsPerLayer_(kernelsPerLayer) {
    for (StreamId* s : {&compute_, &copyIn_, &gather_, &scatter_, &replicate_})
      *s = builder_.stream(names_[next_++]);
    shard_ = builder_.group({"dp_shard", kDevices, 1});
    replicas_ = builder_.group({"dp_replicate", 4, kDevices});
  }

  core::StepProgram make() {
    builder_.beginSetup();
    for (int layer = 0; layer < layers_; ++layer)
      builder_.allocate(buffer("shard", MemoryCategory::parameters, compute_, 2 * kLayerElements / kDevices));
    builder_.beginStep();
    std::vector<std::vector<Index>> saved(static_cast<std::size_t>(layers_));
    for (auto& activations : saved) forward(activations);
    for (auto layer = saved.rbegin(); layer != saved.rend(); ++layer) backward(*layer);
    return std::move(builder_).take();
  }

 private:
  Index buffer(const char* name, MemoryCategory category, StreamId stream, std::int64_t elements) {
    core::Buffer buffer;
    buffer.name = name;
    buffer.category = category;
    buffer.stream = stream;
    buffer.elements = elements;
    return builder_.buffer(buffer);
  }
  Index taken(const char* name, MemoryCategory category, StreamId stream, std::int64_t elements) {
    const Index index = buffer(name, category, stream, elements);
    builder_.allocate(index);
    return index;
  }
  void kernel(const std::string& name, StreamId stream) {
    core::Operation operation;
    operation.name = name;
    core::Kernel kernel;
    kernel.operation = builder_.operation(operation);
    builder_.launch(builder_.kernel(kernel), stream);
  }
  void collective(core::CollectiveKind kind, Index group, StreamId stream) {
    core::Collective collective;
    collective.kind = kind;
    collective.group = group;
    builder_.communicate(builder_.collective(collective), stream);
  }

  Index unshard() {
    const Index in = taken("ag_in", MemoryCategory::unshardedParameters, copyIn_, kLayerElements / kDevices);
    kernel("copy_in", copyIn_);
    const Index full = taken("full", MemoryCategory::unshardedParameters, gather_, kLayerElements);
    builder_.wait(gather_, builder_.record(copyIn_));
    collective(core::CollectiveKind::allGather, shard_, gather_);
    builder_.wait(compute_, builder_.record(gather_));
    builder_.release(in);
    return full;
  }

  void forward(std::vector<Index>& activations) {
    const Index full = unshard();
    for (int k = 0; k < kernelsPerLayer_; ++k) {
      const Index scratch = taken("scratch", MemoryCategory::temporary, compute_, kActivation / 2);
      kernel("forward", compute_);
      builder_.release(scratch);
      if (k % 2 == 0)
        activations.push_back(
            taken("activation", MemoryCategory::activations, compute_, kActivation * (1 + k % 3)));
    }
    builder_.wait(gather_, builder_.record(compute_));
    builder_.release(full);
  }

  void backward(std::vector<Index>& activations) {
    const Index full = unshard();
    const Index gradients = taken("gradients", MemoryCategory::gradientBuffers, compute_, kLayerElements);
    for (int k = 0; k < 2 * kernelsPerLayer_; ++k) {
      const Index scratch = taken("scratch", MemoryCategory::temporary, compute_, kActivation);
      kernel("backward", compute_);
      builder_.release(scratch);
      if (k % 4 == 3 && !activations.empty()) {
        builder_.release(activations.back());
        activations.pop_back();
      }
    }
    for (const Index activation : activations) builder_.release(activation);
    const Index in = taken("rs_in", MemoryCategory::gradientBuffers, scatter_, 2 * kLayerElements);
    builder_.waitStream(scatter_, compute_);
    kernel("reduce_copy_in", scatter_);
    collective(core::CollectiveKind::reduceScatter, shard_, scatter_);
    builder_.waitStream(replicate_, scatter_);
    collective(core::CollectiveKind::allReduce, replicas_, replicate_);
    builder_.wait(compute_, builder_.record(scatter_));
    for (const Index done : {in, gradients, full}) builder_.release(done);
  }

  core::ProgramBuilder builder_;
  int layers_, kernelsPerLayer_;
  std::vector<std::string> names_ = {"default", "copy_in", "all_gather", "reduce_scatter", "all_reduce"};
  std::size_t next_ = 0;
  StreamId compute_ = 0, copyIn_ = 0, gather_ = 0, scatter_ = 0, replicate_ = 0;
  Index shard_ = 0, replicas_ = 0;
};

}  // namespace

std::shared_ptr<const core::StepProgram> fsdpLikeProgram(int layers, int kernelsPerLayer) {
  return std::make_shared<const core::StepProgram>(Sketch(layers, kernelsPerLayer).make());
}

core::CostTable fsdpLikeCosts(const core::StepProgram& program, double slowdown) {
  core::CostTable costs;
  std::int64_t spread = 0;
  for (std::size_t i = 0; i < program.operations.size(); ++i)
    costs.operations.push_back(
        {.time = core::picosecondsFromMicroseconds(20 + static_cast<double>((spread += 37) % 280))});
  for (std::size_t i = 0; i < program.collectives.size(); ++i)
    costs.collectives.push_back(
        {.time = core::picosecondsFromMicroseconds(1000 + static_cast<double>((spread += 171) % 2000)),
         .slowdown = slowdown});
  costs.launch = core::picosecondsFromMicroseconds(5);
  costs.hostCall = core::picosecondsFromMicroseconds(1);
  costs.driverAllocate = core::picosecondsFromMicroseconds(500);
  return costs;
}

}  // namespace vsim::bench
