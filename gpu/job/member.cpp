#include "gpu/job/member.h"

#include <poll.h>

namespace vsim::gpu {
namespace {

using namespace std::chrono_literals;

// How long a failing process waits to hear which failure of the job was the first.
constexpr auto kVerdict = 1s;

}  // namespace

Member::Member(Connection connection, int process, const std::vector<Peer>& peers, Timing timing,
               std::unique_ptr<Hub> hub)
    : process_(process),
      leader_(peers.front()),
      timing_(timing),
      hub_(std::move(hub)),
      connection_(std::move(connection)) {
  for (const Peer& peer : peers) hosts_.push_back(peer.host);
  lastBeat_ = lastTick_ = Clock::now();
  connection_.forgive(lastTick_ - connection_.heard());
  connection_.setMaximum(kMaximumGathered);
  // The thread knows itself by thread_, so it begins when that is there.
  const std::lock_guard lock(mutex_);
  thread_ = std::thread([this] { run(); });
}

Member::~Member() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  wake_.signal();
  thread_.join();
  connection_.close();
  hub_.reset();  // last: it lets the others go, and they may still be busy
}

const std::string& Member::host(int process) const {
  VSIM_CHECK(process >= 0 && process < processes(), "a host was asked for of no process of the job");
  return hosts_[static_cast<std::size_t>(process)];
}

void Member::post(FrameKind kind, std::string_view payload) {
  posted_.push_back(std::make_shared<const std::string>(encodeFrame(kind, payload)));
  wake_.signal();
}

core::Result<std::vector<std::string>> Member::gather(FrameKind kind, std::string_view text) {
  std::unique_lock lock(mutex_);
  if (failure_ != nullptr) return tl::unexpected(*failure_);
  if (text.size() > kMaximumText)
    return core::fail(
        fmt::format("a text of {} bytes for the other processes, more than the {} that it may have",
                    text.size(), kMaximumText));
  result_.reset();
  post(kind, text);
  changed_.wait(lock, [this] { return result_ || failure_ != nullptr || hubLeft_; });
  if (result_) return std::move(*result_);
  if (failure_ != nullptr) return tl::unexpected(*failure_);
  return core::fail(fmt::format("{} has left the job while rank {} goes on", nameOf(0, leader_), process_));
}

core::Result<std::vector<std::string>> Member::exchange(std::string_view mine) {
  core::Result<std::vector<std::string>> texts = gather(FrameKind::Exchange, mine);
  if (texts && texts->size() != hosts_.size())
    return core::fail(fmt::format("{} texts came of {} processes", texts->size(), hosts_.size()));
  return texts;
}

core::Result<std::string> Member::broadcast(std::string_view text) {
  core::Result<std::vector<std::string>> texts =
      gather(FrameKind::Broadcast, leads() ? text : std::string_view());
  if (!texts) return tl::unexpected(texts.error());
  if (texts->size() != 1) return core::fail(fmt::format("{} texts came of one process", texts->size()));
  return std::move(texts->front());
}

void Member::fail(const core::Error& error) {
  std::unique_lock lock(mutex_);
  if (failure_ != nullptr) return;
  post(FrameKind::Failed, encode(Failure{process_, error}));
  // The hub knows whether another failure was first, and then that is the job's. It tells all, this process
  // too.
  if (!onOwnThread()) changed_.wait_for(lock, kVerdict, [this] { return failure_ != nullptr; });
  if (failure_ != nullptr) return;
  core::Error named = error;
  named.message = reportOf(process_, host(process_), error.message);
  failure_ = std::make_shared<const core::Error>(std::move(named));
  changed_.notify_all();
}

std::shared_ptr<const core::Error> Member::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Member::onFailure(std::function<void(const core::Error&)> tell) {
  const std::lock_guard call(callMutex_);
  tell_ = std::move(tell);
  const std::shared_ptr<const core::Error> error = failure();
  if (error == nullptr || !tell_) return;
  const auto once = std::exchange(tell_, nullptr);
  once(*error);
}

void Member::setStatus(std::function<std::string()> status) {
  const std::lock_guard call(callMutex_);
  status_ = std::move(status);
}

}  // namespace vsim::gpu
