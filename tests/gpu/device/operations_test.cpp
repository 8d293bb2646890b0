// Kernels and collectives that move no data of the program: operands from scratch memory, true sizes.

#include <catch2/catch.hpp>

#include "tests/gpu/device/device_run.h"

using namespace vsim;
using namespace vsim::core;
using namespace vsim::test;

namespace {

Operation product(OpKind kind, DType type, std::int64_t groups, bool accumulates, int count) {
  Operation o;
  o.kind = kind;
  o.name = "product";
  o.dtype = type;
  o.m = 70;
  o.n = 33;
  o.k = 17;
  o.groups = groups;
  o.accumulatesFp32 = accumulates;
  o.count = count;
  return o;
}

Operation attention(OpKind kind) {
  Operation o;
  o.kind = kind;
  o.name = "attention";
  o.batch = 2;
  o.sequence = 40;
  o.heads = 4;
  o.kvHeads = 2;
  o.headDim = 16;
  return o;
}

Operation memory(Bytes read, Bytes written, int count) {
  Operation o;
  o.name = "norm";
  o.bytesRead = read;
  o.bytesWritten = written;
  o.count = count;
  return o;
}

struct Built {
  std::shared_ptr<StepProgram> program = std::make_shared<StepProgram>();
  void kernel(const Operation& operation, StreamId stream = 0) {
    program->operations.push_back(operation);
    program->kernels.push_back({.operation = static_cast<Index>(program->operations.size() - 1)});
    program->step.push_back({.kind = InstructionKind::kernel,
                             .stream = stream,
                             .operand = static_cast<Index>(program->kernels.size() - 1)});
  }
  void collective(CollectiveKind kind, ReduceOp reduce, std::int64_t send, std::int64_t receive) {
    program->collectives.push_back({.kind = kind,
                                    .reduce = reduce,
                                    .group = 0,
                                    .dtype = DType::bf16,
                                    .sendElements = send,
                                    .receiveElements = receive});
    program->step.push_back({.kind = InstructionKind::collective,
                             .stream = 1,
                             .operand = static_cast<Index>(program->collectives.size() - 1)});
  }
};

}  // namespace

TEST_CASE("operations: every kind of kernel and every collective without buffers runs and is timed") {
  constexpr int kRanks = 4;
  Built built;
  built.program->streams = {"default", "comm"};
  built.program->groups = {{"ep", kRanks, 1}};
  built.kernel(product(OpKind::gemm, DType::bf16, 1, false, 3));
  built.kernel(product(OpKind::gemm, DType::bf16, 1, true, 1));
  built.kernel(product(OpKind::gemm, DType::fp8, 1, false, 1));
  built.kernel(product(OpKind::groupedGemm, DType::bf16, 5, false, 1), 1);
  built.kernel(attention(OpKind::attentionForward));
  built.kernel(attention(OpKind::attentionBackward));
  built.kernel(memory(100'000, 50'001, 2));
  built.kernel(memory(0, 0, 1));
  built.collective(CollectiveKind::allToAll, ReduceOp::none, 4 * 111, 4 * 111);
  built.collective(CollectiveKind::allGather, ReduceOp::none, 77, 4 * 77);
  built.collective(CollectiveKind::reduceScatter, ReduceOp::average, 4 * 51, 51);
  built.collective(CollectiveKind::allReduce, ReduceOp::sum, 99, 99);
  built.collective(CollectiveKind::broadcast, ReduceOp::none, 13, 13);

  const auto standIn = std::make_shared<StandIn>();
  const auto job = gpu::singleProcessJob();
  {
    auto machine = gpu::device::DeviceMachine::open(standIn, *job, plainOptions());
    REQUIRE(machine);
    const auto log = (*machine)->execute(built.program, 2);
    REQUIRE((log ? std::string() : log.error().text()) == "");
    CHECK(log->executor == "stand-in");
    CHECK(log->instructionsExecuted == 2 * kRanks * built.program->step.size());
    for (const RankLog& rank : log->ranks) {
      CHECK(rank.slices.size() == 2 * built.program->step.size());
      for (const Slice& slice : rank.slices) {
        CHECK(slice.issued >= 0);
        CHECK(slice.begin >= slice.issued);
        CHECK(slice.end >= slice.begin);
        CHECK(slice.provenance == Provenance::measured);
      }
      CHECK(rank.stepBegin.front() >= 0);
    }
    CHECK(standIn->calls("gemm") == 2 * kRanks * (3 + 1 + 1 + 1));
    CHECK(standIn->calls("attention") == 2 * kRanks * 2);
    CHECK(standIn->calls("touch") == 2 * kRanks * 3);
    CHECK(standIn->calls("send") == 2 * kRanks * kRanks);
    CHECK(standIn->calls("groupEnd") == 2 * kRanks);
    CHECK(standIn->calls("join") == kRanks);
  }
  CHECK(fmt::format("{}", fmt::join(standIn->violations(), "; ")) == "");
  CHECK(fmt::format("{}", fmt::join(standIn->leaks(), "; ")) == "");
}

TEST_CASE("operations: communicators are kept for the next program, and groups of one shape are distinct") {
  Built built;
  built.program->streams = {"default", "comm"};
  built.program->groups = {{"first", 2, 1}, {"second", 2, 1}, {"unused", 4, 1}};
  built.collective(CollectiveKind::allReduce, ReduceOp::sum, 8, 8);
  built.collective(CollectiveKind::allReduce, ReduceOp::sum, 8, 8);
  built.program->collectives.back().group = 1;
  const auto standIn = std::make_shared<StandIn>();
  const auto job = gpu::singleProcessJob();
  auto machine = gpu::device::DeviceMachine::open(standIn, *job, plainOptions());
  REQUIRE(machine);
  for (int i = 0; i < 3; ++i) REQUIRE((*machine)->execute(built.program, 1));
  CHECK(standIn->calls("join") == 4 * 2);
  CHECK(standIn->calls("uniqueId") == 2 * 2);
}

TEST_CASE("operations: kernels that are not logged can be left out") {
  const ConformanceCase what = conformanceCases().front();
  const auto program = programOf(*findSystem("vescale"), what);
  const auto standIn = std::make_shared<StandIn>();
  const auto job = gpu::singleProcessJob();
  auto options = plainOptions();
  options.unloggedKernels = false;
  auto machine = gpu::device::DeviceMachine::open(standIn, *job, options);
  REQUIRE(machine);
  const int before = standIn->calls("fillSynthetic");
  const auto one = (*machine)->execute(program, 1);
  const int afterOne = standIn->calls("fillSynthetic");
  const auto three = (*machine)->execute(program, 3);
  REQUIRE(one);
  REQUIRE(three);
  // Parameters and operands are filled at the start; gradients would be in every step.
  CHECK(standIn->calls("fillSynthetic") - afterOne == afterOne - before);
  CHECK(three->ranks[0].slices.size() == 3 * one->ranks[0].slices.size());
}
