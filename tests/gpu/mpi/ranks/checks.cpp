#include "tests/gpu/mpi/ranks/checks.h"

#include "tests/gpu/support/conformance_cases.h"
#include "tests/gpu/support/data_checker.h"
#include "tests/gpu/support/final_state.h"
#include "tests/gpu/support/log_checks.h"
#include "tests/gpu/support/scenario_programs.h"

namespace vsim::test {

using namespace vsim::core;

namespace {

constexpr int kSteps = 3, kTimeout = 20'000;
constexpr std::uint64_t kSeed = 7;

std::string checkLog(const std::shared_ptr<const StepProgram>& program, const RankLog& rank) {
  const auto dag = ProgramDag::build(*program, kSteps);
  if (!dag) return dag.error().text();
  if (auto text = difference(simulated(program, kSteps).ranks.front(), rank); !text.empty()) return text;
  return brokenDependency(*program, *dag, rank);
}

std::string checkCase(const System& system, const ConformanceCase& what, gpu::ProcessTransport& transport) {
  const auto program = programOf(system, what);
  const ReferenceTraining reference(*program, what.options, what.ranks(), kSeed, kSteps);
  DataChecker checker(*program, oddModel(what.model), reference);
  gpu::HostExecutorOptions options;
  options.ranks = what.ranks();
  options.seed = kSeed;
  options.timeout = kTimeout;
  options.transport = &transport;
  options.observer = [&](const auto& seen) { checker(seen); };
  gpu::HostExecutor host(options);
  const auto real = host.execute(program, kSteps);
  if (!real) return real.error().text();
  if (!checker.firstProblem().empty()) return checker.firstProblem();
  if (checker.checked() == 0) return "no buffer was checked";
  if (real->ranks.size() != 1) return "a process logs its own rank";
  if (auto text = checkLog(program, real->ranks.front()); !text.empty()) return text;
  return finalDifference(
      *program, reference, 1, [&](int rank, Index buffer) { return host.contents(rank, buffer); },
      transport.rank());
}

/// Checks of one rank's own data, and at the leader of everybody's log.
std::string checkScenario(const ScenarioProgram& one, gpu::HostMachine& machine, int rank,
                          gpu::HostMachineOptions& options, DataChecker*& current) {
  const ReferenceTraining reference(*one.program, one.options, one.ranks, options.seed, kSteps);
  DataChecker checker(*one.program, one.model, reference);
  current = &checker;
  const auto log = machine.execute(one.program, kSteps);
  current = nullptr;
  if (!log) return log.error().text();
  if (!checker.firstProblem().empty()) return checker.firstProblem();
  if (checker.checked() == 0) return "no buffer was checked";
  const std::size_t logged = machine.leads() ? static_cast<std::size_t>(one.ranks) : 1;
  if (log->ranks.size() != logged) return fmt::format("{} logs", log->ranks.size());
  for (std::size_t r = 0; r < logged; ++r) {
    const std::int64_t wanted = machine.leads() ? static_cast<std::int64_t>(r) : rank;
    if (log->ranks[r].firstRank != wanted) return "the log of another rank";
    if (auto text = checkLog(one.program, log->ranks[r]); !text.empty()) return text;
  }
  return finalDifference(
      *one.program, reference, 1, [&](int r, Index buffer) { return machine.contents(r, buffer); }, rank);
}

}  // namespace

std::string checkConformance(gpu::ProcessTransport& transport) {
  for (const auto& system : systems())
    for (const ConformanceCase& what : conformanceCases()) {
      if (transport.rank() >= what.ranks()) continue;
      if (auto text = checkCase(*system, what, transport); !text.empty())
        return fmt::format("{}, {}: {}", system->name(), what.name, text);
    }
  return "";
}

std::string checkTinyMoe(gpu::Job& job, std::unique_ptr<gpu::ProcessTransport> transport) {
  DataChecker* current = nullptr;
  gpu::HostMachineOptions options{.seed = kSeed, .scale = 0, .timeout = kTimeout, .checksData = true};
  options.observer = [&](const auto& seen) { (*current)(seen); };
  const auto machine = gpu::makeHostMachine(options, job, std::move(transport));
  if (!machine) return machine.error().text();
  for (const ScenarioProgram& one : scenarioPrograms("real/tiny_moe.yaml")) {
    if ((*machine)->ranks() != one.ranks) return "not the scenario's number of ranks";
    if (auto text = checkScenario(one, **machine, job.process(), options, current); !text.empty())
      return one.system + ": " + text;
  }
  return "";
}

std::string checkMachine(gpu::Job& job, std::unique_ptr<gpu::ProcessTransport> transport) {
  const gpu::HostMachineOptions options{.scale = 0.5, .timeout = kTimeout};
  const auto made = gpu::makeHostMachine(options, job, std::move(transport));
  if (!made) return made.error().text();
  gpu::HostMachine& machine = **made;
  const gpu::MachineFacts& facts = machine.facts();
  if (machine.ranks() != job.processes() || facts.executor != "host" || !facts.fixedReductionOrder)
    return "wrong facts";
  for (int rank = 0; rank < machine.ranks(); ++rank) {
    const gpu::RankFacts& one = facts.ranks[static_cast<std::size_t>(rank)];
    if (one.localRank != rank || one.host.empty() || one.memory <= 0) return "wrong facts about a rank";
  }
  const auto told = machine.broadcast(machine.leads() ? "from the leader" : "");
  if (!told || *told != "from the leader") return "the leader's text does not come";
  for (const ScenarioProgram& one : scenarioPrograms("real/tiny_moe.yaml"))
    for (int run = 0; run < 2; ++run) {
      const auto log = machine.execute(one.program, kSteps);
      if (!log) return log.error().text();
      for (const RankLog& rank : log->ranks) {
        if (auto text = checkLog(one.program, rank); !text.empty()) return text;
        for (const Slice& slice : rank.slices)
          if (slice.provenance != Provenance::measured) return "a slice that is not measured";
      }
    }
  return "";
}

}  // namespace vsim::test
