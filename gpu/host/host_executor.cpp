#include "gpu/host/host_executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "gpu/data_plan.h"
#include "gpu/host/communicator.h"
#include "gpu/host/host_rank.h"
#include "gpu/run_control.h"

namespace vsim::gpu {

using core::fail;
using core::Index;
using core::Result;
using core::StepProgram;

namespace {

constexpr int kMaxRanks = 64;
constexpr std::size_t kMaxThreads = 512;

}  // namespace

/// Everything of one execution; kept until the next one for its contents.
struct HostExecutor::Run {
  RunControl control;
  std::vector<DataPlan> plans;                                                   // [rank]
  std::map<std::pair<Index, int>, std::unique_ptr<Communicator>> communicators;  // (group, first member)
  std::vector<std::unique_ptr<HostRank>> ranks;

  ~Run() { join(); }
  void join() {
    for (const auto& rank : ranks) rank->join();
  }

  std::vector<Communicator*> communicatorsOf(const StepProgram& program, int rank) {
    std::vector<Communicator*> result;
    for (Index g = 0; g < program.groups.size(); ++g) {
      const std::vector<int> members = membersOf(program.groups[g], rank);
      auto& communicator = communicators[{g, members.front()}];
      if (!communicator)
        communicator = std::make_unique<Communicator>(program.groups[g].name, members, control);
      result.push_back(communicator.get());
    }
    return result;
  }

  void play(int steps, int timeout) {
    std::atomic<std::size_t> ended = 0;
    std::vector<std::thread> hosts;
    for (const auto& rank : ranks)
      hosts.emplace_back([&, rank = rank.get()] {
        try {
          rank->run(steps);
        } catch (const std::exception& problem) {
          control.fail({.message = problem.what()});
        }
        ++ended;
      });
    watch(ended, timeout);
    for (std::thread& host : hosts) host.join();
    join();
  }

  /// Ends an execution that does not get on.
  void watch(const std::atomic<std::size_t>& ended, int timeout) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::microseconds kShortest{50}, kLongest{5000};
    auto pause = kShortest;
    std::uint64_t seen = control.progress();
    auto since = Clock::now();
    while (ended < ranks.size() && !control.stopped()) {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongest);
      if (const std::uint64_t now = control.progress(); now != seen) {
        seen = now;
        since = Clock::now();
      } else if (Clock::now() - since > std::chrono::milliseconds(timeout)) {
        control.fail(stuck(timeout));
      }
    }
  }

  [[nodiscard]] core::Error stuck(int timeout) const {
    std::vector<std::string> where;
    for (const auto& [key, communicator] : communicators)
      if (const auto text = communicator->waiting()) where.push_back(*text);
    const std::string text =
        where.empty() ? "streams wait for each other" : fmt::format("{}", fmt::join(where, "; "));
    return {.message = fmt::format("nothing moved for {} ms: {}", timeout, text),
            .hint = "all ranks of a group must issue the same collectives in the same order"};
  }
};

HostExecutor::HostExecutor(HostExecutorOptions options) : options_(std::move(options)) {}
HostExecutor::~HostExecutor() = default;

Result<core::ExecutionLog> HostExecutor::execute(std::shared_ptr<const StepProgram> program, int steps) {
  if (options_.ranks < 1 || options_.ranks > kMaxRanks)
    return fail(fmt::format("{} ranks: 1 to {} are possible", options_.ranks, kMaxRanks));
  return executeEach(std::vector(static_cast<std::size_t>(options_.ranks), std::move(program)), steps);
}

Result<core::ExecutionLog> HostExecutor::executeEach(
    const std::vector<std::shared_ptr<const StepProgram>>& programs, int steps) {
  if (steps < 1 || steps > 255) return fail(fmt::format("{} steps: 1 to 255 are possible", steps));
  if (programs.empty() || programs.size() > kMaxRanks ||
      programs.size() != static_cast<std::size_t>(options_.ranks))
    return fail(fmt::format("{} programs for {} ranks", programs.size(), options_.ranks));
  run_.reset();
  auto run = std::make_unique<Run>();
  std::size_t threads = 0;
  for (const auto& program : programs) {
    auto plan = DataPlan::make(program, options_.ranks);
    if (!plan) return tl::unexpected(plan.error());
    run->plans.push_back(std::move(*plan));
    threads += 1 + program->streams.size();
    if (!std::ranges::equal(program->groups, programs.front()->groups, [](const auto& a, const auto& b) {
          return a.size == b.size && a.stride == b.stride;
        }))
      return fail("the ranks' programs have different groups");
  }
  if (threads > kMaxThreads) return fail(fmt::format("{} threads: at most {}", threads, kMaxThreads));
  for (std::size_t rank = 0; rank < programs.size(); ++rank)
    run->ranks.push_back(std::make_unique<HostRank>(
        run->plans[rank], options_, static_cast<int>(rank),
        run->communicatorsOf(*programs[rank], static_cast<int>(rank)), run->control));
  run->play(steps, options_.timeout);
  if (auto error = run->control.error()) return tl::unexpected(*error);
  core::ExecutionLog log;
  log.executor = "host";
  log.program = programs.front();
  for (const auto& rank : run->ranks) {
    log.instructionsExecuted += rank->executed();
    log.ranks.push_back(rank->takeLog());
  }
  run_ = std::move(run);
  return log;
}

std::span<const float> HostExecutor::contents(int rank, Index buffer) const {
  if (!run_ || rank < 0 || static_cast<std::size_t>(rank) >= run_->ranks.size()) return {};
  return run_->ranks[static_cast<std::size_t>(rank)]->contents(buffer);
}

}  // namespace vsim::gpu
