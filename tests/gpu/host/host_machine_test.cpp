// The host executor as a machine of one process: ranks are threads.

#include "gpu/host/host_machine.h"

#include <catch2/catch.hpp>

#include <thread>

#include "core/program/builder.h"
#include "tests/gpu/support/conformance_cases.h"
#include "tests/gpu/support/data_checker.h"
#include "tests/gpu/support/final_state.h"
#include "tests/gpu/support/log_checks.h"
#include "tests/gpu/support/scenario_programs.h"

using namespace vsim;
using namespace vsim::core;
using namespace vsim::test;

namespace {

constexpr int kSteps = 3;

std::unique_ptr<gpu::HostMachine> machineOf(gpu::Job& job, const gpu::HostMachineOptions& options) {
  auto machine = gpu::makeHostMachine(options, job, nullptr);
  if (!machine) FAIL(machine.error().text());
  return std::move(*machine);
}

std::shared_ptr<const StepProgram> plainProgram(std::int64_t ranks) {
  ConformanceCase what = conformanceCases().front();
  what.options.parallel.fsdp = ranks;
  return programOf(*findSystem("fsdp2"), what);
}

}  // namespace

TEST_CASE("the tiny mixture of experts on eight ranks that are threads") {
  const auto job = gpu::singleProcessJob();
  DataChecker* current = nullptr;
  gpu::HostMachineOptions options;
  options.ranks = 8;
  options.scale = 0;
  options.checksData = true;
  options.observer = [&](const auto& seen) { (*current)(seen); };
  const auto machine = machineOf(*job, options);
  for (const ScenarioProgram& one : scenarioPrograms("real/tiny_moe.yaml")) {
    INFO(one.system);
    REQUIRE(one.ranks == machine->ranks());
    const ReferenceTraining reference(*one.program, one.options, one.ranks, options.seed, kSteps);
    DataChecker checker(*one.program, one.model, reference);
    current = &checker;
    const auto log = machine->execute(one.program, kSteps);
    REQUIRE((log ? std::string() : log.error().text()) == "");
    CHECK(checker.firstProblem() == "");
    CHECK(checker.checked() > 0);
    CHECK(finalDifference(*one.program, reference, one.ranks,
                          [&](int r, Index buffer) { return machine->contents(r, buffer); }) == "");
  }
}

TEST_CASE("a real run computes and moves data, and keeps order and memory") {
  const auto job = gpu::singleProcessJob();
  gpu::HostMachineOptions options;
  options.ranks = 8;
  options.scale = 0.3;
  const auto machine = machineOf(*job, options);
  for (const ScenarioProgram& one : scenarioPrograms("real/tiny_moe.yaml")) {
    INFO(one.system);
    const auto log = machine->execute(one.program, kSteps);
    REQUIRE((log ? std::string() : log.error().text()) == "");
    REQUIRE(log->ranks.size() == 8);
    const auto dag = ProgramDag::build(*one.program, kSteps);
    REQUIRE(dag);
    const ExecutionLog virtualLog = simulated(one.program, kSteps);
    for (const RankLog& rank : log->ranks) {
      CHECK(difference(virtualLog.ranks.front(), rank) == "");
      CHECK(brokenDependency(*one.program, *dag, rank) == "");
      REQUIRE(rank.stepBegin.size() == kSteps);
      CHECK(rank.stepBegin.front() >= 0);
      // A common start: nobody's first step begins after another one's has ended.
      for (const RankLog& other : log->ranks) CHECK(rank.stepBegin.front() < other.stepEnd.front());
    }
  }
}

TEST_CASE("a machine of threads: facts, broadcast, and errors that do not end it") {
  const auto job = gpu::singleProcessJob();
  gpu::HostMachineOptions options;
  options.ranks = 2;
  options.timeout = 400;
  options.scale = 0;
  const auto machine = machineOf(*job, options);
  const gpu::MachineFacts& facts = machine->facts();
  REQUIRE(facts.ranks.size() == 2);
  CHECK(facts.executor == "host");
  CHECK(facts.fixedReductionOrder);
  CHECK(facts.ranks[1].localRank == 1);
  CHECK(facts.ranks[1].sms > 0);
  CHECK(facts.ranks[1].memory > 0);
  CHECK(!facts.versions.empty());
  CHECK(machine->leads());
  CHECK(machine->broadcast("text").value() == "text");

  CHECK(!machine->execute(nullptr, 1));
  CHECK(!machine->execute(plainProgram(2), 0));
  CHECK(machine->execute(plainProgram(3), 1).error().message.find("does not divide 2 ranks") !=
        std::string::npos);
  CHECK(machine->execute(plainProgram(2), 1));
}

TEST_CASE("processes and ranks that do not fit are refused") {
  struct ManyProcesses : gpu::Job {
    std::string name = "node0";
    std::shared_ptr<const Error> first;
    [[nodiscard]] int process() const override { return 0; }
    [[nodiscard]] int processes() const override { return 4; }
    [[nodiscard]] const std::string& host(int) const override { return name; }
    Result<std::vector<std::string>> exchange(std::string_view) override { return core::fail("silence"); }
    Result<std::string> broadcast(std::string_view text) override { return std::string(text); }
    void fail(const Error& error) override { first = std::make_shared<Error>(error); }
    [[nodiscard]] std::shared_ptr<const Error> failure() const override { return first; }
    void onFailure(std::function<void(const Error&)>) override {}
    void setStatus(std::function<std::string()>) override {}
  };
  ManyProcesses job;
  gpu::HostMachineOptions options;
  options.ranks = 3;
  CHECK(gpu::makeHostMachine(options, job, nullptr).error().message == "3 ranks on 4 processes");
  ManyProcesses other;
  options.ranks = 4;
  CHECK(gpu::makeHostMachine(options, other, nullptr).error().message.find("nothing that moves data") !=
        std::string::npos);
  CHECK(other.first != nullptr);  // the others must not wait for this one
}

TEST_CASE("a kernel that never ends is named, and left behind") {
  const auto job = gpu::singleProcessJob();
  gpu::HostMachineOptions options;
  options.ranks = 2;
  options.timeout = 300;
  options.scale = 0;
  options.checksData = true;
  // Shared with the thread that is left behind.
  const auto wake = std::make_shared<std::atomic<bool>>(false);
  options.observer = [wake](const gpu::HostObservation& seen) {
    while (seen.rank == 1 && !*wake) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  const auto machine = machineOf(*job, options);
  const auto log = machine->execute(plainProgram(2), 1);
  REQUIRE(!log);
  INFO(log.error().message);
  CHECK(log.error().message.find("nothing moved for 300 ms") != std::string::npos);
  CHECK(log.error().message.find("rank 1 (") != std::string::npos);
  CHECK(log.error().message.find("runs instruction") != std::string::npos);
  *wake = true;
}

TEST_CASE("memory that is not there is named with rank and buffer") {
  const auto job = gpu::singleProcessJob();
  gpu::HostMachineOptions options;
  options.ranks = 2;
  options.memory = 8000;
  options.scale = 0;
  const auto machine = machineOf(*job, options);
  const auto log = machine->execute(plainProgram(2), 1);
  REQUIRE(!log);
  INFO(log.error().text());
  CHECK(log.error().message.find("out of memory for buffer '") != std::string::npos);
  CHECK(log.error().message.find("rank ") == 0);
}

TEST_CASE("at the memory limit a request waits for what its pool's stream is about to free") {
  const auto job = gpu::singleProcessJob();
  ProgramBuilder builder("memory");
  builder.stream("default");
  builder.beginStep();
  builder.setPhase(Phase::forward);
  Operation work;
  work.name = "product";
  work.kind = OpKind::gemm;
  work.m = work.n = work.k = 256;
  work.flops = 2LL * 256 * 256 * 256;
  Kernel kernel;
  kernel.operation = builder.operation(work);
  const Index product = builder.kernel(kernel);
  std::vector<Index> buffers;
  for (const char* name : {"first", "second", "third"})
    buffers.push_back(builder.buffer({.name = name,
                                      .stream = 0,
                                      .category = MemoryCategory::temporary,
                                      .dtype = DType::fp32,
                                      .elements = 1024}));
  for (const Index buffer : buffers) {  // one after the other: memory of one is enough
    builder.allocate(buffer);
    builder.launch(product, 0);
    builder.release(buffer);
  }
  gpu::HostMachineOptions options;
  options.ranks = 1;
  options.memory = 5000;
  const auto program = std::make_shared<const StepProgram>(std::move(builder).take());
  const auto machine = machineOf(*job, options);
  const auto log = machine->execute(program, 3);
  REQUIRE((log ? std::string() : log.error().text()) == "");
  CHECK(log->ranks.front().peak.allocated == 4096);

  ProgramBuilder both("memory");
  both.program() = *program;
  both.beginStep();
  both.allocate(buffers[0]);
  both.allocate(buffers[1]);
  const auto refused = machine->execute(std::make_shared<const StepProgram>(std::move(both).take()), 1);
  REQUIRE(!refused);
  CHECK(refused.error().message.find("out of memory for buffer 'second'") != std::string::npos);
}

TEST_CASE("an execution can be stopped from outside, and says where it is") {
  std::atomic<bool> reached = false, stopped = false;
  gpu::HostExecutorOptions options;
  options.ranks = 2;
  options.observer = [&](const gpu::HostObservation& seen) {
    if (seen.rank != 0) return;
    reached = true;
    while (!stopped) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  gpu::HostExecutor host(options);
  CHECK(host.status() == "");
  std::string status;
  std::thread other([&] {
    while (!reached) std::this_thread::yield();
    status = host.status();
    host.stop({.message = "another process has failed"});
    stopped = true;
  });
  const auto log = host.execute(plainProgram(2), 200);
  other.join();
  REQUIRE(!log);
  CHECK(log.error().message == "another process has failed");
  INFO(status);
  CHECK(status.find("rank 0: ") != std::string::npos);
}
