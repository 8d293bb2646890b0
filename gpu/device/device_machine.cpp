#include "gpu/device/device_machine.h"

#include <algorithm>
#include <thread>

#include "gpu/data_plan.h"
#include "gpu/device/nics.h"
#include "gpu/device/plugin.h"
#include "gpu/device/watchdog.h"
#include "gpu/job/rack_name.h"
#include "gpu/rank_log_codec.h"

namespace vsim::gpu::device {

using core::fail;
using core::Index;
using core::Result;
using core::StepProgram;

struct DeviceMachine::Run {
  Run(std::shared_ptr<const StepProgram> toRun, DataPlan checked, std::ptrdiff_t ranks)
      : program(std::move(toRun)), plan(std::move(checked)), start(ranks) {}
  std::shared_ptr<const StepProgram> program;  // shared with the log
  RunControl control;
  DataPlan plan;
  Start start;
  std::vector<std::unique_ptr<DeviceRank>> ranks;
};

DeviceMachine::DeviceMachine(std::shared_ptr<Api> api, Job& job, DeviceOptions options)
    : api_(std::move(api)), job_(job), options_(std::move(options)) {}

DeviceMachine::~DeviceMachine() {
  if (communicators_) communicators_->leave(devices_);
}

Result<std::unique_ptr<DeviceMachine>> DeviceMachine::open(std::shared_ptr<Api> api, Job& job,
                                                           DeviceOptions options) {
  std::unique_ptr<DeviceMachine> machine(new DeviceMachine(std::move(api), job, std::move(options)));
  for (const auto& step : {&DeviceMachine::chooseDevices, &DeviceMachine::learnFacts})
    if (auto done = (machine.get()->*step)(); !done) {
      core::Error error = std::move(done.error());
      if (job.processes() > 1 && job.failure() == nullptr) {
        // The others wait for this process: they get its error.
        error.message =
            fmt::format("process {} on {}: {}", job.process(), job.host(job.process()), error.message);
        job.fail(error);
      }
      return tl::unexpected(std::move(error));
    }
  machine->api_->limitWaits(static_cast<double>(machine->options_.timeout) / 1000);
  machine->clocks_ = std::make_unique<ClockWatch>(*machine->api_, machine->devices_);
  std::vector<int> ranks;
  for (int r = 0; r < machine->localRanks(); ++r) ranks.push_back(machine->firstRank_ + r);
  machine->communicators_ = std::make_unique<Communicators>(*machine->api_, ranks);
  return machine;
}

Result<void> DeviceMachine::chooseDevices() {
  const auto count = usableDevices(*api_);
  if (!count) return tl::unexpected(count.error());
  devices_ = options_.devices;
  if (devices_.empty() && job_.processes() == 1)
    for (int device = 0; device < *count; ++device) devices_.push_back(device);
  if (devices_.empty()) {
    const std::string& host = job_.host(job_.process());
    int local = options_.localRank;
    if (local < 0)
      for (int p = local = 0; p < job_.process(); ++p) local += job_.host(p) == host ? 1 : 0;
    // Launchers that give each process a device of its own show it that one alone.
    if (*count > 1 && local >= *count)
      return fail(fmt::format("process {} is number {} on {}, which has {} {} devices", job_.process(), local,
                              host, *count, api_->name()),
                  fmt::format("start at most {} processes on a host, one per device", *count));
    devices_.push_back(*count == 1 ? 0 : local);
  }
  for (const int device : devices_)
    if (device < 0 || device >= *count)
      return fail(fmt::format("there is no device {}: this machine has {} {} devices, numbered from 0",
                              device, *count, api_->name()));
  return {};
}

Result<RankFacts> DeviceMachine::factsOf(int device, int localRank) {
  DeviceFacts& facts = deviceFacts_.emplace_back();
  core::Bytes free = 0, total = 0;
  for (const Status& status :
       {api_->useDevice(device), api_->deviceFacts(device, facts), api_->memoryInfo(free, total)})
    if (!status.ok())
      return fail(
          fmt::format("device {} of {} cannot be used: {}", device, job_.host(job_.process()), status.text));
  return RankFacts{.host = job_.host(job_.process()),
                   .localRank = localRank,
                   .device = facts.name,
                   .computeCapability = facts.computeCapability,
                   .sms = facts.sms,
                   .memory = total,
                   .freeMemory = free,
                   .clockHertz = facts.clockHertz,
                   .nvlinkBytesPerSecond = facts.nvlinkBytesPerSecond,
                   .processorSocket = facts.socket,
                   .rack = rackName(),
                   .nics = findNics()};
}

Result<void> DeviceMachine::learnFacts() {
  std::vector<RankFacts> mine;
  for (const int device : devices_) {
    auto facts = factsOf(device, device);
    if (!facts) return tl::unexpected(facts.error());
    mine.push_back(std::move(*facts));
  }
  Versions versions;
  if (const Status status = api_->versions(versions); !status.ok())
    return fail("the versions of the device's libraries are not known: " + status.text);
  const auto everybody = job_.exchange(encodeRankFacts(mine));
  if (!everybody) return tl::unexpected(everybody.error());
  std::map<std::string, int> onHost;
  for (int p = 0; p < job_.processes(); ++p) {
    auto theirs = decodeRankFacts((*everybody)[static_cast<std::size_t>(p)]);
    if (!theirs) return tl::unexpected(theirs.error());
    if (p == job_.process()) firstRank_ = static_cast<int>(facts_.ranks.size());
    for (RankFacts& facts : *theirs) {
      facts.localRank = onHost[facts.host]++;
      facts_.ranks.push_back(std::move(facts));
    }
  }
  facts_.executor = api_->name();
  facts_.versions = {{"driver", versions.driver},
                     {"runtime", versions.runtime},
                     {"nccl", versions.nccl},
                     {"blas", versions.blas}};
  facts_.fixedReductionOrder = options_.fixedReductionOrder || facts_.ranks.size() == 1;
  return {};
}

tl::unexpected<core::Error> DeviceMachine::failed(const core::Error& error) {
  communicators_->abort();
  communicators_->clear();
  return tl::unexpected(error);
}

Result<core::ExecutionLog> DeviceMachine::execute(std::shared_ptr<const StepProgram> program, int steps) {
  if (steps < 1 || steps > 255) return fail(fmt::format("{} steps: 1 to 255 are possible", steps));
  auto plan = DataPlan::make(program, ranks());
  if (!plan) return tl::unexpected(plan.error());
  if (const auto ready = communicators_->prepare(*program, job_); !ready)
    return tl::unexpected(ready.error());
  contents_.clear();
  Run run(program, std::move(*plan), localRanks());
  for (int r = 0; r < localRanks(); ++r) {
    const auto local = static_cast<std::size_t>(r);
    run.ranks.push_back(std::make_unique<DeviceRank>(
        DeviceRank::Setting{*api_, run.control, run.plan, options_, deviceFacts_[local], *communicators_,
                            run.start, firstRank_ + r, r, devices_[local], job_.host(job_.process())}));
  }
  if (const auto played = play(run, steps); !played) return failed(played.error());
  return gather(run);
}

Result<void> DeviceMachine::play(Run& run, int steps) {
  job_.setStatus([&run] { return positions(run.ranks); });
  {
    Watchdog watchdog(run.control, job_, *communicators_, run.ranks, *clocks_, options_.timeout);
    std::vector<std::thread> hosts;
    for (const auto& rank : run.ranks) hosts.emplace_back([&, rank = rank.get()] { rank->run(steps); });
    while (!run.start.allArrived()) std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (!run.control.stopped())
      if (const auto all = job_.exchange("ready"); !all) run.control.fail(all.error());
    watchdog.stepsBegin();
    run.start.go(run.control.now());
    for (std::thread& host : hosts) host.join();
  }
  job_.setStatus({});
  if (const auto error = run.control.error()) return tl::unexpected(*error);
  return {};
}

Result<core::ExecutionLog> DeviceMachine::gather(Run& run) {
  ProcessLog mine;
  ownMemory_ = 0;
  for (const auto& rank : run.ranks) {
    ownMemory_ = std::max(ownMemory_, rank->ownMemory());
    mine.instructionsExecuted += rank->executed();
    mine.ranks.push_back(rank->takeLog());
    contents_.push_back(rank->contents());
  }
  const auto everybody = job_.exchange(encodeProcessLog(mine));
  if (!everybody) return failed(everybody.error());
  core::ExecutionLog log;
  log.executor = api_->name();
  log.program = run.program;
  if (!leads()) {
    log.ranks = std::move(mine.ranks);
    log.instructionsExecuted = mine.instructionsExecuted;
    return log;
  }
  for (const std::string& text : *everybody) {
    auto theirs = decodeProcessLog(text);
    if (!theirs) return tl::unexpected(theirs.error());
    log.instructionsExecuted += theirs->instructionsExecuted;
    for (core::RankLog& rank : theirs->ranks) log.ranks.push_back(std::move(rank));
  }
  return log;
}

std::span<const float> DeviceMachine::contents(int rank, Index buffer) const {
  const auto local = static_cast<std::size_t>(rank - firstRank_);
  if (rank < firstRank_ || local >= contents_.size()) return {};
  const auto found = contents_[local].find(buffer);
  return found == contents_[local].end() ? std::span<const float>() : found->second;
}

}  // namespace vsim::gpu::device
