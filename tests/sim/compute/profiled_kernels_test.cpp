#include "sim/compute/profiled_kernels.h"

#include <catch2/catch.hpp>

#include "sim/cluster/gpu_catalogue.h"

using namespace vsim;
using core::Operation;
using core::OpKind;
using core::Provenance;

namespace {

sim::KernelModel h100() { return {*sim::findGpu("H100-SXM"), sim::KernelModel::loadParameters().value()}; }

core::ProfiledOperation product(std::int64_t m, std::int64_t n, std::int64_t k, double seconds) {
  core::ProfiledOperation point;
  point.name = "grid";
  point.dtype = core::DType::bf16;
  point.m = m;
  point.n = n;
  point.k = k;
  point.seconds = seconds;
  return point;
}

/// A grid on which every product takes `factor` times as long as the model says.
core::Profile gridOf(double factor) {
  core::Profile profile;
  for (const std::int64_t m : {512, 2048, 8192})
    for (const std::int64_t n : {1024, 4096}) {
      core::ProfiledOperation point = product(m, n, 4096, 1);
      point.seconds = factor * core::secondsFromPicoseconds(h100().cost(sim::operationOf(point)).time);
      profile.operations.push_back(point);
    }
  return profile;
}

Operation named(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k, int count = 1) {
  Operation op = sim::operationOf(product(m, n, k, 1));
  op.name = name;
  op.count = count;
  return op;
}

}  // namespace

TEST_CASE("a grid of measured products corrects the model for products of other names and shapes") {
  const sim::ProfiledKernels kernels(h100(), gridOf(1.5));
  for (const auto& op : {named("q_proj", 3000, 2000, 4096), named("mlp", 1 << 15, 8192, 1024, 3)}) {
    const core::Cost cost = kernels.cost(op);
    CHECK(cost.provenance == Provenance::fitted);
    CHECK(static_cast<double>(cost.time) ==
          Approx(1.5 * static_cast<double>(h100().cost(op).time)).epsilon(1e-6));
  }
  CHECK(kernels.cost(named("far", 1 << 20, 1 << 20, 16)).relativeError >
        kernels.cost(named("near", 2048, 4096, 4096)).relativeError);
}

TEST_CASE("a point of the kernel's own name and sizes comes before the grid") {
  core::Profile profile = gridOf(1.5);
  core::ProfiledOperation own = product(3000, 2000, 4096, 123e-6);
  own.name = "q_proj";
  profile.operations.push_back(own);
  const sim::ProfiledKernels kernels(h100(), profile);
  const core::Cost cost = kernels.cost(named("q_proj", 3000, 2000, 4096, 2));
  CHECK(cost.time == core::picosecondsFromSeconds(2 * 123e-6));
  CHECK(cost.provenance == Provenance::measured);
}

TEST_CASE("what the grid says nothing of is modelled") {
  core::Profile profile = gridOf(1.5);
  const sim::ProfiledKernels kernels(h100(), profile);
  Operation fp8 = named("a", 1024, 1024, 1024);
  fp8.dtype = core::DType::fp8;
  CHECK(kernels.cost(fp8).provenance == Provenance::modelled);
  Operation attention;
  attention.kind = OpKind::attentionForward;
  attention.batch = 1;
  attention.sequence = 4096;
  attention.heads = 32;
  attention.headDim = 128;
  CHECK(kernels.cost(attention).provenance == Provenance::modelled);
  Operation copy;
  copy.bytesRead = 1 << 20;
  CHECK(kernels.cost(copy).provenance == Provenance::modelled);

  profile.operations.resize(2);  // too few for an error
  CHECK(sim::ProfiledKernels(h100(), profile).cost(named("a", 64, 64, 64)).provenance ==
        Provenance::modelled);
  profile = gridOf(1.5);
  for (auto& point : profile.operations) point.origin.provenance = Provenance::published;
  CHECK(sim::ProfiledKernels(h100(), profile).cost(named("a", 64, 64, 64)).provenance ==
        Provenance::modelled);
  CHECK(sim::ProfiledKernels(h100()).cost(named("a", 64, 64, 64)).time ==
        h100().cost(named("a", 64, 64, 64)).time);
}

TEST_CASE("points that contradict each other correct nothing") {
  core::Profile profile = gridOf(1);
  for (std::size_t i = 0; i < profile.operations.size(); ++i)
    profile.operations[i].seconds *= i % 2 ? 1.3 : 1 / 1.3;
  CHECK(sim::ProfiledKernels(h100(), profile).cost(named("a", 2048, 2048, 4096)).provenance ==
        Provenance::modelled);
}

TEST_CASE("attention forward and backward are corrected apart") {
  core::Profile profile;
  for (const std::int64_t sequence : {1024, 4096, 16384})
    for (const bool backward : {false, true}) {
      core::ProfiledOperation point;
      point.name = backward ? "attention.bwd" : "attention";
      point.dtype = core::DType::bf16;
      point.batch = 1;
      point.sequence = sequence;
      point.heads = point.kvHeads = 32;
      point.headDim = 128;
      CHECK(core::kindOf(point) == (backward ? OpKind::attentionBackward : OpKind::attentionForward));
      point.seconds =
          (backward ? 3 : 0.5) * core::secondsFromPicoseconds(h100().cost(sim::operationOf(point)).time);
      profile.operations.push_back(point);
    }
  const sim::ProfiledKernels kernels(h100(), profile);
  Operation op = sim::operationOf(profile.operations[0]);
  op.name = "other";
  op.sequence = 2048;
  CHECK(static_cast<double>(kernels.cost(op).time) ==
        Approx(0.5 * static_cast<double>(h100().cost(op).time)).epsilon(1e-6));
  op.kind = OpKind::attentionBackward;
  CHECK(static_cast<double>(kernels.cost(op).time) ==
        Approx(3 * static_cast<double>(h100().cost(op).time)).epsilon(1e-6));
}

TEST_CASE("on a processor kernels without a point take their work at the measured rates") {
  core::GpuSpec processor;
  processor.computeCapability = 0;
  processor.sms = 8;
  processor.peakBf16 = 1e11;
  processor.peakFp32 = 2e11;
  processor.hbmBytesPerSecond = 1e10;
  core::Profile profile;
  profile.hardware.emplace();
  profile.hardware->executor = "host";
  profile.hardware->scale = 0.1;
  core::ProfiledOperation own = product(8, 8, 8, 5e-6);
  own.name = "mine";
  profile.operations = {own};
  const sim::ProfiledKernels kernels(processor, profile);
  CHECK(kernels.cost(named("mine", 8, 8, 8)).provenance == Provenance::measured);
  CHECK(kernels.cost(named("mine", 8, 8, 8)).time == core::picosecondsFromSeconds(5e-6));
  const core::Cost bound = kernels.cost(named("other", 1000, 1000, 1000));
  CHECK(bound.provenance == Provenance::modelled);
  CHECK(core::secondsFromPicoseconds(bound.time) == Approx(0.1 * 2e9 / 1e11));
  Operation copy;
  copy.bytesRead = copy.bytesWritten = 500'000'000;
  CHECK(core::secondsFromPicoseconds(kernels.cost(copy).time) == Approx(0.1 * 1e9 / 1e10));
}
