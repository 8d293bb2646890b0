#include "gpu/device/watchdog.h"

#include <algorithm>

namespace vsim::gpu::device {

std::string positions(const std::vector<std::unique_ptr<DeviceRank>>& ranks) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t r = 0; r < std::min(ranks.size(), kMost); ++r)
    text += (r == 0 ? "" : "; ") + ranks[r]->position();
  return ranks.size() > kMost ? fmt::format("{}; and {} more", text, ranks.size() - kMost) : text;
}

Watchdog::Watchdog(RunControl& control, Job& job, const Communicators& communicators,
                   const std::vector<std::unique_ptr<DeviceRank>>& ranks, ClockWatch& clocks, int timeout)
    : control_(control),
      job_(job),
      communicators_(communicators),
      ranks_(ranks),
      clocks_(clocks),
      timeout_(timeout),
      thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  finished_.store(true);
  thread_.join();
}

void Watchdog::watch() {
  constexpr std::chrono::microseconds kShortest{200}, kLongest{10'000};
  auto pause = kShortest;
  while (!finished_.load() && !control_.stopped()) {
    try {
      look();
    } catch (const RankFailure& failure) {
      control_.fail(failure.error());
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongest);
  }
  if (control_.stopped()) end();
}

void Watchdog::look() {
  if (const auto failure = job_.failure()) return control_.fail(*failure);
  for (const auto& rank : ranks_) rank->poll();
  for (const RankCommunicator* communicator : communicators_.all()) {
    const Status status = communicator->asyncStatus();
    if (status.ok()) continue;
    const int member = communicator->members()[static_cast<std::size_t>(communicator->index())];
    for (const auto& rank : ranks_) {
      if (rank->context().rank != member) continue;
      const std::string running = rank->running(*communicator);
      return control_.fail({.message = fmt::format("{}: {} in {}", rank->context().name(), status.text,
                                                   running.empty() ? communicator->title() : running),
                            .hint = "a rank of the group, or the network between them, has failed"});
    }
  }
  if (running_.load()) clocks_.look();
  lookForStandstill();
}

void Watchdog::lookForStandstill() {
  if (!running_.load()) return;
  const auto now = std::chrono::steady_clock::now();
  if (const std::uint64_t progress = control_.progress(); seen_ != progress) {
    seen_ = progress;
    since_ = now;
    return;
  }
  if (now - since_ <= timeout_) return;
  control_.fail({.message = fmt::format("nothing moved for {} ms: {}", timeout_.count(), positions(ranks_)),
                 .hint = "all ranks of a group must issue the same collectives in the same order; --timeout "
                         "allows more time"});
}

void Watchdog::end() {
  if (const auto error = control_.error(); error && job_.processes() > 1) job_.fail(*error);
  communicators_.abort();
  for (const auto& rank : ranks_) rank->releaseAfterFailure();
}

}  // namespace vsim::gpu::device
