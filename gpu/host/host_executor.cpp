#include "gpu/host/host_executor.h"

#include <algorithm>

#include "gpu/host/host_run.h"

namespace vsim::gpu {

using core::fail;
using core::Index;
using core::Result;
using core::StepProgram;

namespace {

constexpr int kMaxRanks = 64;
constexpr std::size_t kMaxThreads = 512;

}  // namespace

HostExecutor::HostExecutor(HostExecutorOptions options) : options_(std::move(options)) {}
HostExecutor::~HostExecutor() = default;

std::vector<int> HostExecutor::localRanks() const {
  if (options_.transport != nullptr) return {options_.transport->rank()};
  std::vector<int> all;
  for (int rank = 0; rank < options_.ranks; ++rank) all.push_back(rank);
  return all;
}

Result<core::ExecutionLog> HostExecutor::execute(std::shared_ptr<const StepProgram> program, int steps) {
  if (options_.ranks < 1 || options_.ranks > kMaxRanks)
    return fail(fmt::format("{} ranks: 1 to {} are possible", options_.ranks, kMaxRanks));
  return executeEach(std::vector(localRanks().size(), std::move(program)), steps);
}

Result<std::shared_ptr<HostExecutor::Run>> HostExecutor::prepare(
    const std::vector<std::shared_ptr<const StepProgram>>& programs) {
  const std::vector<int> ranks = localRanks();
  if (programs.empty() || programs.size() > kMaxRanks || programs.size() != ranks.size())
    return fail(fmt::format("{} programs for {} ranks", programs.size(), ranks.size()));
  auto run = std::make_shared<Run>(options_);
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
  {
    const std::lock_guard lock(mutex_);
    current_ = run;  // from here on it can be stopped
  }
  if (auto connected = run->connect(ranks); !connected) return tl::unexpected(connected.error());
  return run;
}

Result<core::ExecutionLog> HostExecutor::executeEach(
    const std::vector<std::shared_ptr<const StepProgram>>& programs, int steps) {
  if (steps < 1 || steps > 255) return fail(fmt::format("{} steps: 1 to 255 are possible", steps));
  run_.reset();
  const auto run = prepare(programs);
  if (run) Run::play(*run, steps);
  {
    const std::lock_guard lock(mutex_);
    current_.reset();
  }
  if (!run) return tl::unexpected(run.error());
  if (auto error = (*run)->control.error()) return tl::unexpected(*error);
  core::ExecutionLog log;
  log.executor = "host";
  log.program = programs.front();
  for (const auto& rank : (*run)->ranks) {
    log.instructionsExecuted += rank->executed();
    log.ranks.push_back(rank->takeLog());
  }
  run_ = *run;
  return log;
}

void HostExecutor::stop(const core::Error& error) {
  const std::lock_guard lock(mutex_);
  if (current_) current_->control.stop(error);
}

std::string HostExecutor::status() const {
  std::shared_ptr<Run> run;
  {
    const std::lock_guard lock(mutex_);
    run = current_;
  }
  return run ? run->status() : std::string();
}

std::span<const float> HostExecutor::contents(int rank, Index buffer) const {
  const std::vector<int> ranks = localRanks();
  const auto found = std::ranges::find(ranks, rank);
  if (!run_ || found == ranks.end()) return {};
  return run_->ranks[static_cast<std::size_t>(found - ranks.begin())]->contents(buffer);
}

}  // namespace vsim::gpu
