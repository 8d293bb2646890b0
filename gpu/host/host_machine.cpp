#include "gpu/host/host_machine.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <thread>

#include "gpu/host/host_facts.h"
#include "gpu/job/agree.h"
#include "gpu/job/rack_name.h"
#include "gpu/rank_log_codec.h"

namespace vsim::gpu {

using core::Error;
using core::fail;
using core::Result;

namespace {

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
std::uint64_t hashOf(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

HostExecutorOptions executorOptions(const HostMachineOptions& options) {
  HostExecutorOptions result;
  result.seed = options.seed;
  result.maxDelay = options.maxDelay;
  result.timeout = options.timeout;
  result.leftover = options.checksData ? Leftover::poisoned : Leftover::kept;
  result.moveTimedData = !options.checksData;
  result.runUntimedKernels = options.checksData;
  result.computeScale = options.scale;
  result.observer = options.observer;
  return result;
}

}  // namespace

HostMachine::HostMachine(Job& job, std::unique_ptr<ProcessTransport> transport)
    : job_(job), transport_(std::move(transport)) {}

HostMachine::~HostMachine() {
  job_.onFailure({});
  job_.setStatus({});
  if (!transport_) return;
  // Leaving MPI is collective: only when everybody does.
  if (!job_.failure() && job_.exchange("end")) {
    transport_->finalize();
    return;
  }
  // mpirun ends all processes when the first one has failed; each should be able to say why before that.
  constexpr std::chrono::milliseconds kLastWords{300};
  std::this_thread::sleep_for(kLastWords);
}

Error HostMachine::failed(const Error& error) {
  if (job_.processes() == 1) return error;  // nobody to tell: the machine may go on with other programs
  job_.fail(error);
  const auto first = job_.failure();
  return first ? *first : error;
}

Result<void> HostMachine::checkProcesses(int ranks) const {
  const int processes = job_.processes();
  if (processes == 1) return {};
  if (ranks != 0 && ranks != processes)
    return fail(fmt::format("{} ranks on {} processes", ranks, processes),
                "the host executor runs one rank in each process: start as many processes as ranks, or one");
  if (!transport_)
    return fail(fmt::format("{} processes, and nothing that moves data between them", processes));
  if (transport_->size() != processes || transport_->rank() != job_.process())
    return fail(fmt::format("MPI says rank {} of {}, the job process {} of {}", transport_->rank(),
                            transport_->size(), job_.process(), processes),
                "start the processes with mpirun of the MPI that vsim is built with");
  return {};
}

Result<void> HostMachine::findFacts(int ranks) {
  RankFacts own = hostFacts();
  own.host = job_.host(job_.process());
  own.rack = rackName();
  if (transport_) own.localRank = transport_->localRank();
  std::vector<RankFacts> mine;
  const int local = transport_ ? 1 : std::max(ranks, 1);
  for (int rank = 0; rank < local; ++rank) {
    if (!transport_) own.localRank = rank;
    mine.push_back(own);
  }
  const auto all = job_.exchange(encodeRankFacts(mine));
  if (!all) return tl::unexpected(all.error());
  for (const std::string& bytes : *all) {
    auto facts = decodeRankFacts(bytes);
    if (!facts) return tl::unexpected(failed(facts.error()));
    facts_.ranks.insert(facts_.ranks.end(), facts->begin(), facts->end());
  }
  facts_.executor = "host";
  facts_.versions = hostVersions();
  if (transport_) facts_.versions.emplace_back("mpi", transport_->version());
  facts_.fixedReductionOrder = true;
  return {};
}

Result<void> HostMachine::start(const HostMachineOptions& options) {
  if (transport_)
    if (const auto begun = transport_->init(); !begun) return tl::unexpected(failed(begun.error()));
  if (const auto fits = checkProcesses(options.ranks); !fits) return tl::unexpected(failed(fits.error()));
  if (const auto found = findFacts(options.ranks); !found) return found;
  HostExecutorOptions wanted = executorOptions(options);
  wanted.ranks = ranks();
  wanted.transport = transport_.get();
  for (RankFacts& rank : facts_.ranks) wanted.hosts.push_back(rank.host);
  // The limit of the executor is for all ranks, wherever they run.
  const RankFacts& own = facts_.ranks[transport_ ? static_cast<std::size_t>(transport_->rank()) : 0];
  const auto onHost = std::ranges::count(wanted.hosts, own.host);
  const core::Bytes ofHost = options.memory > 0 ? options.memory : own.memory / 5 * 4;
  wanted.memoryLimit = ofHost / onHost * ranks();
  for (RankFacts& rank : facts_.ranks)
    rank.memory = rank.freeMemory = rank.memory / std::ranges::count(wanted.hosts, rank.host);
  wanted.namesRank = job_.processes() == 1;
  if (job_.processes() > 1) wanted.onFailure = [job = &job_](const Error& error) { job->fail(error); };
  executor_ = std::make_unique<HostExecutor>(std::move(wanted));
  job_.setStatus([executor = executor_.get()] { return executor->status(); });
  job_.onFailure([executor = executor_.get()](const Error& error) { executor->stop(error); });
  return {};
}

Result<std::string> HostMachine::broadcast(const std::string& text) { return job_.broadcast(text); }

/// Programs are compared by a hash first: they are long, and nearly always equal.
Result<void> HostMachine::agreeOn(const core::StepProgram& program, int steps) {
  if (job_.processes() == 1) return {};
  const std::string text = fmt::format("{} steps\n{}", steps, core::print(program));
  const auto hashes = job_.exchange(std::to_string(hashOf(text)));
  if (!hashes) return tl::unexpected(hashes.error());
  if (std::ranges::adjacent_find(*hashes, std::not_equal_to<>()) == hashes->end()) return {};
  const auto agreed = agree(job_, "programs", text);
  return agreed ? fail("the processes' programs differ") : agreed;
}

Result<core::ExecutionLog> HostMachine::execute(std::shared_ptr<const core::StepProgram> program, int steps) {
  if (const auto failure = job_.failure()) return tl::unexpected(*failure);
  if (!program) return fail("no program to run");
  if (const auto agreed = agreeOn(*program, steps); !agreed) return tl::unexpected(agreed.error());
  auto log = executor_->execute(std::move(program), steps);
  if (job_.processes() == 1) return log;
  if (!log) return tl::unexpected(failed(log.error()));
  return gather(std::move(*log));
}

Result<core::ExecutionLog> HostMachine::gather(core::ExecutionLog mine) {
  const auto all = job_.exchange(encodeProcessLog({mine.ranks, mine.instructionsExecuted}));
  if (!all) return tl::unexpected(all.error());
  if (!leads()) return mine;
  mine.ranks.clear();
  mine.instructionsExecuted = 0;
  for (const std::string& bytes : *all) {
    auto log = decodeProcessLog(bytes);
    if (!log) return tl::unexpected(failed(log.error()));
    mine.instructionsExecuted += log->instructionsExecuted;
    std::ranges::move(log->ranks, std::back_inserter(mine.ranks));
  }
  return mine;
}

Result<std::unique_ptr<HostMachine>> makeHostMachine(const HostMachineOptions& options, Job& job,
                                                     std::unique_ptr<ProcessTransport> transport) {
  std::unique_ptr<HostMachine> machine(new HostMachine(job, std::move(transport)));
  if (const auto started = machine->start(options); !started) return tl::unexpected(started.error());
  return machine;
}

}  // namespace vsim::gpu
