// Kernels and collectives that move no data of the program: operands from scratch memory, true sizes.

#include <catch2/catch.hpp>

#include "tests/gpu/device/device_run.h"

using namespace vsim;
using namespace vsim::core;
using namespace vsim::test;
using Catch::Matchers::Contains;

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
    CHECK(standIn->calls("touch") == 2 * kRanks * 2);
    CHECK(standIn->calls("empty") == 2 * kRanks);  // a kernel without work is a launch all the same
    CHECK(standIn->calls("send") == 2 * kRanks * kRanks);
    CHECK(standIn->calls("groupEnd") == 2 * kRanks);
    CHECK(standIn->calls("join") == kRanks);
  }
  CHECK(fmt::format("{}", fmt::join(standIn->violations(), "; ")) == "");
  CHECK(fmt::format("{}", fmt::join(standIn->leaks(), "; ")) == "");
}

TEST_CASE("operations: what products read is filled once and never written") {
  Built built;
  built.program->streams = {"default", "comm"};
  built.program->groups = {{"ep", 1, 1}};
  // Small operands behind large results: with one memory for both, the second launch multiplies the first's
  // result.
  for (const DType type : {DType::bf16, DType::fp8})
    for (int round = 0; round < 2; ++round) {
      Operation large = product(OpKind::gemm, type, 1, round == 1, 1);
      large.m = 512;
      large.n = 256;
      built.kernel(large);
      built.kernel(product(OpKind::groupedGemm, DType::bf16, 3, false, 2));
      built.kernel(attention(OpKind::attentionForward));
      built.kernel(attention(OpKind::attentionBackward));
      built.kernel(memory(0, 100'000, 1));
      built.kernel(memory(100'000, 0, 1));
      built.kernel(memory(3'000'000, 1'000'000, 1));
      built.collective(CollectiveKind::allGather, ReduceOp::none, 7777, 7777);
      built.kernel(memory(5000, 5000, 1), 1);
    }
  StandInOptions devices;
  devices.devices = 1;
  const auto standIn = std::make_shared<StandIn>(devices);
  const auto job = gpu::singleProcessJob();
  {
    auto machine = gpu::device::DeviceMachine::open(standIn, *job, plainOptions());
    REQUIRE(machine);
    const auto log = (*machine)->execute(built.program, 2);
    REQUIRE((log ? std::string() : log.error().text()) == "");
  }
  CHECK(fmt::format("{}", fmt::join(standIn->violations(), "; ")) == "");
  CHECK(standIn->calls("fillSynthetic") == 4);  // operands and results of two streams
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

TEST_CASE("operations: a communicator that cannot be left in peace is aborted") {
  Built built;
  built.program->streams = {"default", "comm"};
  built.program->groups = {{"ep", 4, 1}};
  built.collective(CollectiveKind::allReduce, ReduceOp::sum, 8, 8);
  StandInOptions devices;
  devices.faults.push_back({.kind = Fault::Kind::call, .call = "leave", .device = 2});
  const auto standIn = std::make_shared<StandIn>(devices);
  const auto job = gpu::singleProcessJob();
  {
    auto machine = gpu::device::DeviceMachine::open(standIn, *job, plainOptions());
    REQUIRE(machine);
    REQUIRE((*machine)->execute(built.program, 1));
  }
  CHECK(standIn->calls("leave") == 4);
  CHECK(standIn->calls("abort") == 1);
  CHECK(fmt::format("{}", fmt::join(standIn->violations(), "; ")) == "");
  CHECK(fmt::format("{}", fmt::join(standIn->leaks(), "; ")) == "");
}

TEST_CASE("operations: what a device has is told apart from what is free of it") {
  const auto standIn = std::make_shared<StandIn>();
  REQUIRE(standIn->useDevice(1).ok());
  void* taken = nullptr;
  REQUIRE(standIn->allocate(taken, 1'000'000).ok());
  const auto job = gpu::singleProcessJob();
  {
    auto machine = gpu::device::DeviceMachine::open(standIn, *job, plainOptions());
    REQUIRE(machine);
    const gpu::RankFacts& facts = (*machine)->facts().ranks[1];
    CHECK(facts.memory == StandInOptions().capacity);
    CHECK(facts.freeMemory == facts.memory - 1'000'000);
  }
  REQUIRE(standIn->useDevice(1).ok());
  REQUIRE(standIn->free(taken).ok());
}

TEST_CASE(
    "operations: what kernels work on beside the program's buffers is counted, and told when memory ends") {
  Built built;
  built.program->streams = {"default"};
  built.kernel(memory(3'000'000, 1'000'000, 1));
  built.program->buffers.push_back({.name = "large", .dtype = DType::uint8, .elements = 20 << 20});
  built.program->step.push_back({.kind = InstructionKind::allocate, .operand = 0});
  built.program->step.push_back({.kind = InstructionKind::release, .operand = 0});
  const auto errorWith = [&](Bytes capacity) {
    StandInOptions devices;
    devices.devices = 1;
    devices.capacity = capacity;
    const auto job = gpu::singleProcessJob();
    auto machine = gpu::device::DeviceMachine::open(std::make_shared<StandIn>(devices), *job, plainOptions());
    REQUIRE(machine);
    const auto log = (*machine)->execute(built.program, 1);
    if (log) CHECK((*machine)->ownMemory() == 3'000'320 + 1'000'448);  // whole blocks of 512 bytes
    return log ? std::string() : log.error().text();
  };
  CHECK(errorWith(Bytes{64} << 20U) == "");
  CHECK_THAT(errorWith(Bytes{20} << 20U), Contains("buffer 'large' of 20") && Contains("does not fit") &&
                                              Contains("3.82 MiB hold operands and results of kernels"));
  CHECK_THAT(errorWith(Bytes{1} << 20U),
             Contains("for operands of kernels on stream default") && Contains("beside what `vsim memory`"));
}

TEST_CASE("operations: clocks are the median and the lowest of what was seen since the last question") {
  struct Clocks : StandIn {
    using StandIn::StandIn;
    std::vector<gpu::device::ClockFacts> next;
    Status clocks(int, gpu::device::ClockFacts& out) override {
      if (next.empty()) return {1, "nobody knows"};
      out = next.back();
      next.pop_back();
      return {};
    }
  };
  Clocks api;
  api.next = {{1.9e9, 3e9, 500, 60, ""},
              {1.2e9, 3e9, 700, 71, "power cap"},
              {0, 0, 0, 0, "thermal slowdown"},  // the rest is not known
              {1.9e9, 3e9, 520, 65, ""},
              {1.8e9, 3e9, 650, 70, "power cap"}};
  gpu::device::ClockWatch watch(api, {0, 1, 2, 3, 4, 5});
  watch.look();
  watch.look();  // at once: not again
  const gpu::ClockReadings seen = watch.take();
  CHECK(seen.processorHertz == 1.8e9);
  CHECK(seen.lowestHertz == 1.2e9);
  CHECK(seen.memoryHertz == 3e9);
  CHECK(seen.powerWatts == 520);
  CHECK(seen.highestPowerWatts == 700);
  CHECK(seen.celsius == 71);
  CHECK(seen.throttled == "power cap; thermal slowdown");
  const gpu::ClockReadings nothing = watch.take();
  CHECK(nothing.processorHertz == 0);
  CHECK(nothing.highestPowerWatts == 0);
  CHECK(nothing.throttled.empty());
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
