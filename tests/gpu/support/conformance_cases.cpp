#include "tests/gpu/support/conformance_cases.h"

#include <algorithm>
#include <stdexcept>

namespace vsim::test {

using namespace vsim::core;

namespace {

ConformanceCase make(const std::string& name, std::int64_t fsdp,
                     const std::function<void(ConformanceCase&)>& change = {}) {
  ConformanceCase result;
  result.name = name;
  result.options.parallel = {.fsdp = fsdp, .replicate = 1, .expert = 1, .tensor = 1};
  if (change) change(result);
  return result;
}

void withExperts(ConformanceCase& c) {
  c.model.experts = true;
  c.options.parallel.expert = 2;
}

}  // namespace

std::vector<ConformanceCase> conformanceCases() {
  using Case = ConformanceCase;
  using enum DType;
  const auto precision = [](DType params, DType compute, DType reduce) {
    return [=](Case& c) { c.options.precision = {params, compute, reduce}; };
  };
  return {
      make("default", 4),
      make("one rank", 1),
      make("two ranks", 2),
      make("three ranks", 3),
      make("eight ranks", 8),
      make("fp32 throughout", 4, precision(fp32, fp32, fp32)),
      make("bf16 reduction", 4, precision(fp32, bf16, bf16)),
      make("bf16 throughout", 3, precision(bf16, bf16, bf16)),
      make("bf16 parameters, fp32 reduction", 4, precision(bf16, bf16, fp32)),
      make("fp16", 2, precision(fp32, fp16, fp32)),
      make("reshard always", 4,
           [](Case& c) { c.options.system.reshardAfterForward = ReshardAfterForward::always; }),
      make("reshard never", 4,
           [](Case& c) { c.options.system.reshardAfterForward = ReshardAfterForward::never; }),
      make("forward prefetch", 4, [](Case& c) { c.options.system.forwardPrefetch = 2; }),
      make("backward prefetch 2", 4, [](Case& c) { c.options.system.backwardPrefetch = 2; }),
      make("no backward prefetch", 4, [](Case& c) { c.options.system.backwardPrefetch = 0; }),
      make("reduce inputs 2", 4, [](Case& c) { c.options.system.reduceScatterInputs = 2; }),
      make("async unshard", 4, [](Case& c) { c.options.system.asyncUnshard = true; }),
      make("separate roots", 4, [](Case& c) { c.model.separateRoots = true; }),
      make("two communicators", 4, [](Case& c) { c.options.system.separateReduceCommunicator = true; }),
      make("recompute", 4, [](Case& c) { c.model.recompute = true; }),
      make("two layers a bucket", 4, [](Case& c) { c.model.layersPerBucket = 2; }),
      make("accumulate", 4, [](Case& c) { c.options.accumulation = 3; }),
      make("accumulate in bf16", 2,
           [&](Case& c) {
             precision(fp32, bf16, bf16)(c);
             c.options.accumulation = 2;
           }),
      make("accumulate fp32 throughout", 2,
           [&](Case& c) {
             precision(fp32, fp32, fp32)(c);
             c.options.accumulation = 2;
           }),
      make("accumulate unsharded", 4,
           [](Case& c) {
             c.options.accumulation = 3;
             c.options.system.accumulateUnsharded = true;
           }),
      make("accumulate, last backward marked", 4,
           [](Case& c) {
             c.options.accumulation = 2;
             c.options.system.deferFinalWait = true;
           }),
      make("replicas", 2, [](Case& c) { c.options.parallel.replicate = 2; }),
      make("replicas of four, accumulate", 4,
           [](Case& c) {
             c.options.parallel.replicate = 2;
             c.options.accumulation = 2;
           }),
      make("replicas, bf16 reduction", 2,
           [&](Case& c) {
             precision(fp32, bf16, bf16)(c);
             c.options.parallel.replicate = 2;
           }),
      make("replicas, bf16 parameters, accumulate, last backward marked", 2,
           [&](Case& c) {
             precision(bf16, bf16, fp32)(c);
             c.options.parallel.replicate = 2;
             c.options.accumulation = 3;
             c.options.system.deferFinalWait = true;
           }),
      make("replicas of one shard", 1, [](Case& c) { c.options.parallel.replicate = 3; }),
      make("experts", 4, withExperts),
      make("experts, eight ranks, prefetch, recompute", 8,
           [](Case& c) {
             withExperts(c);
             c.model.recompute = true;
             c.options.system.forwardPrefetch = 1;
           }),
      make("experts with replicas, accumulate, reduce inputs 2", 4,
           [](Case& c) {
             withExperts(c);
             c.options.parallel.replicate = 2;
             c.options.accumulation = 2;
             c.options.system.reduceScatterInputs = 2;
           }),
      make("tensor parallel", 2, [](Case& c) { c.options.parallel.tensor = 2; }),
      make("replicas, prefetch, separate roots and communicators, never reshard", 2,
           [](Case& c) {
             c.options.parallel.replicate = 2;
             c.options.system.forwardPrefetch = 1;
             c.options.system.reshardAfterForward = ReshardAfterForward::never;
             c.model.separateRoots = true;
             c.options.system.separateReduceCommunicator = true;
           }),
      make("replicas, accumulate unsharded, last backward marked", 2,
           [](Case& c) {
             c.options.parallel.replicate = 2;
             c.options.accumulation = 2;
             c.options.system.accumulateUnsharded = true;
             c.options.system.deferFinalWait = true;
           }),
  };
}

std::shared_ptr<const StepProgram> programOf(const System& system, const ConformanceCase& what) {
  TrainOptions options = what.options;
  options.system.name = std::string(system.name());
  auto built = system.build(oddModel(what.model), options);
  if (!built) throw std::runtime_error(built.error().text());
  return std::make_shared<const StepProgram>(std::move(built->program));
}

UnshardedParameters::UnshardedParameters(const StepProgram& program, const TrainModel& model)
    : units_(program.units.size()) {
  for (Index u = 0; u < units_.size(); ++u) units_[u].unit = u;
  for (const Kernel& kernel : program.kernels)
    if (kernel.role == KernelRole::copyOut) {
      units_[kernel.unit].copiedOut = true;
      units_[kernel.unit].buffers = kernel.writes;
    }
  for (const Kernel& kernel : program.kernels)
    if (kernel.role == KernelRole::copyIn && !units_[kernel.unit].copiedOut)
      units_[kernel.unit].buffers = kernel.writes;
  Index next = 0;
  std::vector<std::vector<Index>> ofWrap;
  for (const WrapUnit& wrap : model.units) {
    ofWrap.emplace_back();
    for (const GroupSpec& group : wrap.groups) {
      ofWrap.back().push_back(next);
      named_.emplace_back("reshard " + group.name, std::vector<Index>{next});
      ++next;
    }
  }
  for (const Block& block : model.blocks) {
    named_.emplace_back("forward-compute " + block.name, ofWrap[block.unit]);
    named_.emplace_back("begin backward-compute " + block.name, ofWrap[block.unit]);
  }
}

std::vector<UnshardedUnit> UnshardedParameters::at(const std::string& label) const {
  std::vector<UnshardedUnit> result;
  for (const auto& [name, units] : named_)
    if (name == label)
      for (const Index unit : units) result.push_back(units_[unit]);
  return result;
}

}  // namespace vsim::test
