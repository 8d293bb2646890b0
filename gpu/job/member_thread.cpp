#include "gpu/job/member.h"

#include <poll.h>

#include <algorithm>
#include <array>

namespace vsim::gpu {
namespace {

using namespace std::chrono_literals;

// How long the destructor waits for the hub's goodbye.
constexpr auto kGoodbye = 800ms;

}  // namespace

void Member::run() {
  { const std::lock_guard lock(mutex_); }  // thread_ is set from here on
  while (true) {
    wait();
    const Clock::time_point now = Clock::now();
    if (const Clock::duration gap = now - lastTick_; gap > timing_.heartbeat + 1s) connection_.forgive(gap);
    lastTick_ = now;
    sendPosted();
    connection_.flush();
    for (Frame& frame : connection_.receive()) hear(frame);
    if (!connection_.isOpen())
      loseHub(connection_.broken().empty() ? "ended"
                                           : "cannot be understood any more: " + connection_.broken());
    checkHub(now);
    if (mayEnd(now)) return;
  }
}

void Member::wait() {
  std::array<pollfd, 2> polled{
      {{wake_.descriptor(), POLLIN, 0},
       {connection_.descriptor(), static_cast<short>(connection_.hasToWrite() ? POLLIN | POLLOUT : POLLIN),
        0}}};
  const auto patience = leavingSince_ ? 10ms : std::min<std::chrono::milliseconds>(timing_.heartbeat, 200ms);
  if (::poll(polled.data(), polled.size(), static_cast<int>(patience.count())) > 0 && polled[0].revents != 0)
    wake_.clear();
}

void Member::sendPosted() {
  std::vector<std::shared_ptr<const std::string>> posted;
  {
    const std::lock_guard lock(mutex_);
    posted.swap(posted_);
  }
  for (auto& frame : posted) connection_.send(std::move(frame));
}

void Member::hear(Frame& frame) {
  switch (frame.kind) {
    case FrameKind::Gathered:
      return takeResult(frame);
    case FrameKind::StatusRequest:
      return connection_.send(FrameKind::Status, status());
    case FrameKind::Failed:
      if (std::optional<Failure> failure = decodeFailure(frame.payload)) setFailure(std::move(*failure));
      return;
    case FrameKind::Goodbye: {
      const std::lock_guard lock(mutex_);
      hubLeft_ = true;
      changed_.notify_all();
      return;
    }
    default:
      return;  // heartbeats
  }
}

void Member::takeResult(const Frame& frame) {
  std::optional<std::vector<std::string>> texts = decodeTexts(frame.payload);
  if (!texts) return loseHub("cannot be understood any more");
  const std::lock_guard lock(mutex_);
  result_ = std::move(texts);
  changed_.notify_all();
}

std::string Member::status() {
  constexpr std::size_t kLongest = 1000;  // an error shall be readable
  const std::lock_guard call(callMutex_);
  return status_ ? status_().substr(0, kLongest) : std::string();
}

void Member::loseHub(const std::string& what) {
  if (hubLost_) return;
  hubLost_ = true;
  {
    const std::lock_guard lock(mutex_);
    if (failure_ != nullptr || hubLeft_ || leaving_) {
      changed_.notify_all();
      return;
    }
  }
  core::Error error{.message = fmt::format("{}, which leads the job, {}", nameOf(0, leader_), what)};
  if (const std::string mine = status(); !mine.empty()) error.message += "; " + mine;
  setFailure({0, std::move(error)});
}

void Member::setFailure(Failure failure) {
  std::shared_ptr<const core::Error> kept;
  {
    const std::lock_guard lock(mutex_);
    if (failure_ != nullptr) return;
    failure_ = kept = std::make_shared<const core::Error>(std::move(failure.error));
    changed_.notify_all();
  }
  // Its own failure is no news to this process.
  if (failure.process == process_) return;
  const std::lock_guard call(callMutex_);
  if (const auto once = std::exchange(tell_, nullptr)) once(*kept);
}

void Member::checkHub(Clock::time_point now) {
  if (!connection_.isOpen()) return;
  if (now - lastBeat_ >= timing_.heartbeat) {
    lastBeat_ = now;
    if (!connection_.hasToWrite()) connection_.send(FrameKind::Heartbeat);
  }
  if (now - connection_.heard() > timing_.silence) {
    connection_.close();
    loseHub(
        fmt::format("has not answered for {:g} s", static_cast<double>(timing_.silence.count()) / 1000.0));
  }
}

bool Member::mayEnd(Clock::time_point now) {
  bool hubLeft = false;
  {
    const std::lock_guard lock(mutex_);
    if (!leaving_) return false;
    hubLeft = hubLeft_;
  }
  if (!leavingSince_) {
    leavingSince_ = now;
    if (hubLeft) return true;
    sendPosted();  // a failure that was told just before
    connection_.send(FrameKind::Goodbye);
    connection_.finish();
  }
  return hubLeft || !connection_.isOpen() || now - *leavingSince_ > kGoodbye;
}

}  // namespace vsim::gpu
