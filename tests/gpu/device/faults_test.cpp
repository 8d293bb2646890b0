// What goes wrong on a device ends the execution with an error that names rank, host, operation and group,
// and leaves nothing behind.

#include <catch2/catch.hpp>

#include <chrono>

#include "tests/gpu/device/device_run.h"

using namespace vsim;
using namespace vsim::core;
using namespace vsim::test;
using Catch::Matchers::Contains;

namespace {

constexpr int kSteps = 2;

ConformanceCase caseNamed(const std::string& name) {
  for (const ConformanceCase& what : conformanceCases())
    if (what.name == name) return what;
  throw std::runtime_error("no case " + name);
}

struct Outcome {
  std::string error, hint;
  double seconds = 0;
};

/// Runs `program` once on a machine of devices with these faults; everything must be gone afterwards.
Outcome outcomeOf(const std::shared_ptr<const StepProgram>& program, int ranks, std::vector<Fault> faults,
                  int timeout = 20'000, Bytes capacity = Bytes{256} << 20U) {
  StandInOptions devices;
  devices.devices = ranks;
  devices.capacity = capacity;
  devices.faults = std::move(faults);
  const auto standIn = std::make_shared<StandIn>(devices);
  const auto job = gpu::singleProcessJob();
  Outcome outcome;
  {
    auto machine = gpu::device::DeviceMachine::open(standIn, *job, plainOptions(timeout));
    REQUIRE(machine);
    const auto begin = std::chrono::steady_clock::now();
    const auto log = (*machine)->execute(program, kSteps);
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    REQUIRE(!log);
    outcome.error = log.error().message;
    outcome.hint = log.error().hint;
  }
  UNSCOPED_INFO(outcome.error);
  CHECK(fmt::format("{}", fmt::join(standIn->leaks(), "; ")) == "");
  CHECK(fmt::format("{}", fmt::join(standIn->violations(), "; ")) == "");
  return outcome;
}

Fault failingCall(const std::string& call, int device, int after, const std::string& text = "broken (999)") {
  return {
      .kind = Fault::Kind::call, .call = call, .device = device, .after = after, .code = 999, .text = text};
}

}  // namespace

TEST_CASE("faults: an error of any call names rank, host, operation and the call") {
  const ConformanceCase what = caseNamed("default");
  struct Case {
    const char *system, *call, *contains;
    int after;
  };
  const std::vector<Case> cases{
      {"vescale", "createStream", "setting up", 2}, {"vescale", "join", "cannot join group", 1},
      {"vescale", "createEvent", "rank 1", 9},      {"vescale", "allocate", "rank 1", 3},
      {"vescale", "record", "instruction", 60},     {"vescale", "wait", "instruction", 5},
      {"vescale", "allGather", "all_gather(", 3},   {"vescale", "reduceScatter", "reduce_scatter(", 2},
      {"vescale", "cast", "instruction", 4},        {"vescale", "adamW", "adamw", 1},
      {"vescale", "touch", "instruction", 3},       {"vescale", "query", "rank 1", 40},
      {"fsdp2", "copySegments", "instruction", 5},  {"fsdp2", "copyToDevice", "instruction", 1},
      {"fsdp2", "fillSynthetic", "rank 1", 4},      {"fsdp2", "fillBytes", "rank 1", 12},
      {"fsdp2", "synchronize", "instruction", 1},
  };
  for (const Case& c : cases) {
    INFO(c.system << " " << c.call);
    const auto program = programOf(*findSystem(c.system), what);
    const Outcome outcome = outcomeOf(program, what.ranks(), {failingCall(c.call, 1, c.after)});
    CHECK_THAT(outcome.error, Contains("rank 1 ("));
    CHECK_THAT(outcome.error, Contains(c.contains));
    CHECK_THAT(outcome.error, Contains(std::string(c.call) + ": broken (999)"));
    CHECK(outcome.seconds < 10);
  }
}

TEST_CASE("faults: a collective's error names the group and its ranks") {
  const ConformanceCase what = caseNamed("replicas");
  const auto program = programOf(*findSystem("vescale"), what);
  const Outcome outcome = outcomeOf(program, what.ranks(), {failingCall("allReduce", 3, 2)});
  CHECK_THAT(outcome.error, Contains("rank 3 ("));
  CHECK_THAT(outcome.error, Contains("all_reduce(") && Contains("on stream AR (step 0, instruction "));
  CHECK_THAT(outcome.error, Contains("in group dp_replicate of ranks 1, 3"));
}

TEST_CASE("faults: out of memory says which buffer, and what the memory holds") {
  const ConformanceCase what = caseNamed("default");
  for (const char* system : {"vescale", "fsdp2"}) {
    const auto program = programOf(*findSystem(system), what);
    const Fault fault{.kind = Fault::Kind::call,
                      .call = "allocate",
                      .device = 2,
                      .after = 1,
                      .code = gpu::device::kOutOfMemory,
                      .text = "out of memory (2)"};
    // The allocator asks again after it has given back what it caches: both fail.
    Fault again = fault;
    again.after = 2;
    const Outcome outcome = outcomeOf(program, what.ranks(), {fault, again});
    CHECK_THAT(outcome.error, Contains("rank 2 (") && Contains("out of memory: buffer '"));
    CHECK_THAT(outcome.error, Contains("are allocated") && Contains("256.00 MiB"));
    CHECK_THAT(outcome.hint, Contains("vsim memory"));
  }
}

TEST_CASE("faults: one failure of an allocation alone is survived by giving cached blocks back") {
  const ConformanceCase what = caseNamed("default");
  const auto program = programOf(*findSystem("vescale"), what);
  int survived = 0;
  // Some are of the executor's own memory, which is asked for once.
  for (int after = 1; after <= 9; ++after) {
    StandInOptions devices;
    devices.devices = what.ranks();
    devices.faults = {{.kind = Fault::Kind::call,
                       .call = "allocate",
                       .device = 1,
                       .after = after,
                       .code = gpu::device::kOutOfMemory,
                       .text = "out of memory (2)"}};
    DeviceRun run(program, what, devices);
    const auto log = run.execute(kSteps);
    if (log) {
      ++survived;
      CHECK(log->ranks[1].peak.allocationRetries <= 1);
      CHECK(log->ranks[0].peak.allocationRetries == 0);
      CHECK(run.finalProblem() == "");
    } else {
      CHECK_THAT(log.error().message, Contains("rank 1 (") && Contains("out of memory: "));
    }
    run.close();
    CHECK(run.leaks() == "");
  }
  CHECK(survived >= 2);
}

TEST_CASE("faults: a device too small for the program's memory") {
  const ConformanceCase what = caseNamed("default");
  const auto program = programOf(*findSystem("fsdp2"), what);
  const Outcome outcome = outcomeOf(program, what.ranks(), {}, 20'000, Bytes{3} << 20U);
  CHECK_THAT(outcome.error, Contains("out of memory: buffer '") && Contains("does not fit"));
}

TEST_CASE("faults: a device that breaks ends every rank") {
  const ConformanceCase what = caseNamed("default");
  for (const int after : {1, 40, 200}) {
    const auto program = programOf(*findSystem("fsdp2"), what);
    const Outcome outcome =
        outcomeOf(program, what.ranks(), {{.kind = Fault::Kind::deviceError, .device = 3, .after = after}});
    CHECK_THAT(outcome.error, Contains("rank 3 (") && Contains("unspecified launch failure (719)"));
    CHECK(outcome.seconds < 10);
  }
}

TEST_CASE("faults: an asynchronous error of a communicator names what ran in it") {
  const ConformanceCase what = caseNamed("default");
  const auto program = programOf(*findSystem("vescale"), what);
  const Outcome outcome =
      outcomeOf(program, what.ranks(), {{.kind = Fault::Kind::communicatorError, .device = 2, .after = 3}});
  CHECK_THAT(outcome.error, Contains("rank 2 (") && Contains("remote process exited"));
  CHECK_THAT(outcome.error, Contains("in all_gather(") && Contains("in group dp_shard of ranks 0, 1, 2, 3"));
  CHECK(outcome.seconds < 10);
}

TEST_CASE("faults: a collective that never ends is told after the timeout, with what every rank waits for") {
  const ConformanceCase what = caseNamed("default");
  for (const char* system : {"vescale", "fsdp2"}) {
    const auto program = programOf(*findSystem(system), what);
    const Outcome outcome =
        outcomeOf(program, what.ranks(), {{.kind = Fault::Kind::stall, .device = 1, .after = 5}}, 400);
    CHECK_THAT(outcome.error, Contains("nothing moved for 400 ms"));
    CHECK_THAT(outcome.error, Contains("rank 1 (") && Contains("waits for "));
    CHECK_THAT(outcome.error, Contains("of ranks 0, 1, 2, 3") && Contains("step 0, instruction"));
    CHECK_THAT(outcome.hint, Contains("--timeout"));
    CHECK(outcome.seconds < 15);
  }
}

TEST_CASE("faults: a rank that never joins a communicator") {
  const ConformanceCase what = caseNamed("default");
  const auto program = programOf(*findSystem("vescale"), what);
  const Outcome outcome =
      outcomeOf(program, what.ranks(), {{.kind = Fault::Kind::absent, .device = 2, .after = 1}}, 400);
  CHECK_THAT(outcome.error, Contains("not all of group dp_shard of ranks 0, 1, 2, 3 came together"));
  CHECK_THAT(outcome.error, Contains("within 400 ms"));
  CHECK(outcome.seconds < 15);
}

TEST_CASE("stand-in: a send that nobody receives ends with its communicator") {
  StandInOptions devices;
  devices.devices = 1;
  StandIn standIn(devices);
  gpu::device::UniqueId id;
  gpu::device::Comm comm = nullptr;
  gpu::device::Stream stream = nullptr;
  gpu::device::Event event = nullptr;
  void* memory = nullptr;
  REQUIRE(standIn.useDevice(0).ok());
  REQUIRE(standIn.uniqueId(id).ok());
  REQUIRE(standIn.join(comm, 1, id, 0).ok());
  REQUIRE(standIn.createStream(stream, false).ok());
  REQUIRE(standIn.createEvent(event, false).ok());
  REQUIRE(standIn.allocate(memory, 64).ok());
  REQUIRE(standIn.send(memory, 4, DType::fp32, 0, comm, stream).ok());
  REQUIRE(standIn.record(event, stream).ok());
  bool done = false;
  REQUIRE(standIn.query(event, done).ok());
  CHECK(!done);
  REQUIRE(standIn.abort(comm).ok());
  REQUIRE(standIn.synchronize(stream).ok());
  REQUIRE(standIn.query(event, done).ok());
  CHECK(done);
}

TEST_CASE("faults: after a failure the machine of one process works again") {
  const ConformanceCase what = caseNamed("default");
  const auto program = programOf(*findSystem("vescale"), what);
  StandInOptions devices;
  devices.devices = what.ranks();
  devices.faults = {failingCall("allGather", 0, 4)};
  const auto standIn = std::make_shared<StandIn>(devices);
  const auto job = gpu::singleProcessJob();
  {
    auto machine = gpu::device::DeviceMachine::open(standIn, *job, plainOptions());
    REQUIRE(machine);
    CHECK(!(*machine)->execute(program, kSteps));
    for (int again = 0; again < 2; ++again) {
      const auto log = (*machine)->execute(program, kSteps);
      REQUIRE((log ? std::string() : log.error().text()) == "");
      CHECK(log->ranks.size() == 4);
    }
  }
  CHECK(fmt::format("{}", fmt::join(standIn->leaks(), "; ")) == "");
}

TEST_CASE("faults: machines that cannot be opened, programs that cannot run") {
  const auto job = gpu::singleProcessJob();
  StandInOptions none;
  none.devices = 0;
  const auto nothing =
      gpu::device::DeviceMachine::open(std::make_shared<StandIn>(none), *job, plainOptions());
  REQUIRE(!nothing);
  CHECK_THAT(nothing.error().message, Contains("no stand-in device"));
  CHECK_THAT(nothing.error().hint, Contains("--executor host"));

  const auto standIn = std::make_shared<StandIn>();
  auto wrong = plainOptions();
  wrong.devices = {0, 7};
  const auto missing = gpu::device::DeviceMachine::open(standIn, *job, wrong);
  REQUIRE(!missing);
  CHECK_THAT(missing.error().message, Contains("no device 7") && Contains("4 stand-in devices"));

  const auto machine = gpu::device::DeviceMachine::open(standIn, *job, plainOptions());
  REQUIRE(machine);
  CHECK((*machine)->facts().ranks.size() == 4);
  CHECK((*machine)->facts().ranks[2].localRank == 2);
  CHECK(!(*machine)->execute(nullptr, 1));
  const auto program = programOf(*findSystem("vescale"), caseNamed("three ranks"));
  CHECK(!(*machine)->execute(program, 1));  // three ranks do not divide four
  CHECK(!(*machine)->execute(programOf(*findSystem("vescale"), caseNamed("default")), 0));
}

TEST_CASE("faults: fp8 on a device without it") {
  auto program = std::make_shared<StepProgram>(*programOf(*findSystem("vescale"), caseNamed("default")));
  bool any = false;
  for (Operation& operation : program->operations)
    if (operation.kind != OpKind::memory) {
      operation.dtype = DType::fp8;
      any = true;
    }
  if (!any) {
    Operation product;
    product.kind = OpKind::gemm;
    product.name = "product";
    product.dtype = DType::fp8;
    product.m = product.n = product.k = 32;
    program->operations.push_back(product);
    program->kernels.push_back({.operation = static_cast<Index>(program->operations.size() - 1)});
    program->step.push_back(
        {.kind = InstructionKind::kernel, .operand = static_cast<Index>(program->kernels.size() - 1)});
  }
  const auto run = [&](int capability) {
    StandInOptions devices;
    devices.computeCapability = capability;
    const auto job = gpu::singleProcessJob();
    auto machine = gpu::device::DeviceMachine::open(std::make_shared<StandIn>(devices), *job, plainOptions());
    REQUIRE(machine);
    const auto log = (*machine)->execute(program, 1);
    return log ? std::string() : log.error().message;
  };
  CHECK_THAT(run(80), Contains("fp8") && Contains("compute capability 8.0"));
  CHECK(run(90) == "");
}
