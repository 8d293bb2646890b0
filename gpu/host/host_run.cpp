#include "gpu/host/host_run.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <numeric>
#include <thread>

#include "gpu/host/thread_communicator.h"

namespace vsim::gpu {

using core::Index;
using core::Result;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

std::vector<int> allRanks(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

HostExecutor::Run::Run(const HostExecutorOptions& wanted) : options(wanted) {
  control.setHosts(options.hosts);
  control.onFailure(options.onFailure);
}

void HostExecutor::Run::join() {
  for (const auto& rank : ranks) rank->join();
}

Result<std::vector<std::vector<Communicator*>>> HostExecutor::Run::makeThreadCommunicators(
    const std::vector<int>& localRanks) {
  std::map<std::pair<Index, int>, Communicator*> made;  // (group, first member)
  std::vector<std::vector<Communicator*>> result;
  communicators.push_back(std::make_unique<ThreadCommunicator>("all", allRanks(options.ranks), control));
  for (std::size_t i = 0; i < localRanks.size(); ++i) {
    const auto& groups = plans[i].program().groups;
    result.emplace_back();
    for (Index g = 0; g < groups.size(); ++g) {
      const std::vector<int> members = membersOf(groups[g], localRanks[i]);
      Communicator*& communicator = made[{g, members.front()}];
      if (communicator == nullptr) {
        communicators.push_back(std::make_unique<ThreadCommunicator>(groups[g].name, members, control));
        communicator = communicators.back().get();
      }
      result.back().push_back(communicator);
    }
  }
  return result;
}

Result<std::vector<std::vector<Communicator*>>> HostExecutor::Run::makeProcessCommunicators(int rank) {
  std::vector<GroupRequest> requests{{"all", allRanks(options.ranks)}};
  for (const core::CommGroup& group : plans.front().program().groups)
    requests.push_back({group.name, membersOf(group, rank)});
  auto made = options.transport->communicators(requests, control, milliseconds(options.timeout));
  if (!made) return tl::unexpected(made.error());
  communicators = std::move(*made);
  std::vector<std::vector<Communicator*>> result(1);
  for (std::size_t i = 1; i < communicators.size(); ++i) result.front().push_back(communicators[i].get());
  return result;
}

Result<void> HostExecutor::Run::connect(const std::vector<int>& localRanks) {
  const auto ofRanks = options.transport == nullptr ? makeThreadCommunicators(localRanks)
                                                    : makeProcessCommunicators(localRanks.front());
  if (!ofRanks) return tl::unexpected(ofRanks.error());
  for (std::size_t i = 0; i < localRanks.size(); ++i)
    ranks.push_back(std::make_unique<HostRank>(plans[i], options, localRanks[i], (*ofRanks)[i],
                                               *communicators.front(), control));
  ranks.front()->keepClock();
  connected = true;
  return {};
}

void HostExecutor::Run::play(const std::shared_ptr<Run>& run, int steps) {
  std::vector<std::thread> hosts;
  for (const auto& rank : run->ranks)
    hosts.emplace_back([run, rank = rank.get(), steps] {
      try {
        rank->run(steps);
      } catch (const std::exception& problem) {
        run->control.fail({.message = problem.what()});
      }
      const std::lock_guard lock(run->endedMutex);
      ++run->ended;
      run->endedChanged.notify_one();
    });
  run->watch();
  // Who does not react to a failure (a kernel that never returns) is left behind after a while.
  constexpr milliseconds kReaction{500};
  std::promise<void> joined;
  std::future<void> allEnded = joined.get_future();
  std::thread end([run, hosts = std::move(hosts), joined = std::move(joined)]() mutable {
    for (std::thread& host : hosts) host.join();
    run->join();
    joined.set_value();
  });
  if (!run->control.stopped()) allEnded.wait_for(milliseconds(run->options.timeout));
  if (allEnded.wait_for(kReaction) == std::future_status::ready)
    end.join();
  else
    end.detach();
}

/// Ends an execution that does not get on.
void HostExecutor::Run::watch() {
  constexpr milliseconds kLook{5};  // whoever stops an execution does not know of this thread
  const milliseconds limit(options.timeout);
  // Of several processes the one that hangs tells it before those that wait for it.
  const milliseconds patience =
      options.transport == nullptr ? milliseconds(0) : limit / 4 + milliseconds(200);
  std::uint64_t seen = control.progress();
  auto since = Clock::now();
  std::unique_lock lock(endedMutex);
  const auto allEnded = [&] { return ended == ranks.size(); };
  while (!endedChanged.wait_for(lock, kLook, allEnded) && !control.stopped()) {
    if (const std::uint64_t now = control.progress(); now != seen) {
      seen = now;
      since = Clock::now();
      continue;
    }
    const auto still = Clock::now() - since;
    if (still > limit && (still > limit + patience || waits().empty())) control.fail(stuck());
  }
}

std::vector<std::string> HostExecutor::Run::waits() const {
  std::vector<std::string> where;
  for (const auto& communicator : communicators)
    if (const auto text = communicator->waiting()) where.push_back(*text);
  return where;
}

std::string HostExecutor::Run::status() const {
  if (!connected) return "makes its communicators";
  std::vector<std::string> where = waits();
  for (const auto& rank : ranks) where.push_back(rank->position());
  return fmt::format("{}", fmt::join(where, "; "));
}

core::Error HostExecutor::Run::stuck() const {
  return {.message = fmt::format("nothing moved for {} ms: {}", options.timeout, status()),
          .hint = "all ranks of a group must issue the same collectives in the same order"};
}

}  // namespace vsim::gpu
