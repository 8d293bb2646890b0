#include "tests/gpu/mpi/ranks/failures.h"

#include <csignal>
#include <thread>

#include "tests/gpu/support/conformance_cases.h"

namespace vsim::test {

using namespace vsim::core;

namespace {

constexpr int kBadRank = 2, kBadStep = 1;

ConformanceCase ofRanks(int ranks) {
  ConformanceCase what = conformanceCases().front();
  what.options.parallel.fsdp = ranks;
  return what;
}

}  // namespace

std::string failureOf(const std::string& how, gpu::Job& job,
                      std::unique_ptr<gpu::ProcessTransport> transport) {
  const bool bad = job.process() == kBadRank;
  gpu::HostMachineOptions options{.scale = 0, .timeout = 1500, .checksData = true};
  if (how == "memory" && bad) options.memory = 5'000;
  if (bad && (how == "dies" || how == "hangs"))
    options.observer = [how](const gpu::HostObservation& seen) {
      if (seen.step != kBadStep) return;
      if (how == "dies") std::raise(SIGKILL);
      std::this_thread::sleep_for(std::chrono::hours(1));
    };
  const auto machine = gpu::makeHostMachine(options, job, std::move(transport));
  if (!machine) return machine.error().text();
  ConformanceCase what = ofRanks(job.processes());
  if (how == "differs" && bad) what.options.system.backwardPrefetch = 0;
  const auto log = (*machine)->execute(programOf(*findSystem("fsdp2"), what), 3);
  return log ? "" : log.error().text();
}

std::string mismatchOf(gpu::ProcessTransport& transport) {
  auto program = std::make_shared<StepProgram>(*programOf(*findSystem("fsdp2"), ofRanks(2)));
  if (transport.rank() == 1)
    for (Collective& c : program->collectives)
      if (c.kind == CollectiveKind::reduceScatter) c.sendElements -= 2, c.receiveElements -= 1;
  gpu::HostExecutorOptions options;
  options.ranks = 2;
  options.timeout = 5000;
  options.transport = &transport;
  gpu::HostExecutor host(options);
  const auto log = host.execute(program, 2);
  return log ? "" : log.error().text();
}

}  // namespace vsim::test
