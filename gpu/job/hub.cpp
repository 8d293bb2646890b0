#include "gpu/job/hub.h"

#include <algorithm>

namespace vsim::gpu {
namespace {

using namespace std::chrono_literals;

// How long the destructor waits for the others to say goodbye, and then for them to read what they were told.
constexpr auto kGoodbye = 800ms;
constexpr auto kReading = 300ms;

}  // namespace

Hub::Hub(HubOptions options, std::vector<Socket> listeners, Socket own)
    : options_(std::move(options)),
      listeners_(std::move(listeners)),
      members_(static_cast<std::size_t>(options_.processes)),
      round_(options_.processes) {
  lastBeat_ = lastTick_ = acceptAfter_ = Clock::now();
  deadline_ = lastTick_ + options_.timeout;
  admit(std::move(own));
  thread_ = std::thread([this] { run(); });
}

Hub::~Hub() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.signal();
  thread_.join();
}

bool Hub::stopRequested() {
  const std::lock_guard lock(mutex_);
  return stop_;
}

void Hub::run() {
  while (true) {
    wait();
    const Clock::time_point now = Clock::now();
    forgivePause(now);
    acceptGuests();
    serveGuests();
    serveMembers();
    beat(now);
    checkForming(now);
    checkSilence(now);
    checkAnswers(now);
    if (!stopRequested()) continue;
    if (!stopping_) stopping_ = now;
    if (mayEnd(now)) return;
  }
}

void Hub::wait() {
  std::vector<pollfd> polled{{wake_.descriptor(), POLLIN, 0}};
  const auto events = [](const Connection& connection) {
    return static_cast<short>(connection.hasToWrite() ? POLLIN | POLLOUT : POLLIN);
  };
  // A closed connection has descriptor -1, which poll passes over.
  for (const Guest& guest : guests_)
    polled.push_back({guest.connection.descriptor(), events(guest.connection), 0});
  for (const std::unique_ptr<Member>& member : members_)
    if (member != nullptr) polled.push_back({member->connection.descriptor(), events(member->connection), 0});
  if (Clock::now() >= acceptAfter_)
    for (const Socket& listener : listeners_) polled.push_back({listener.descriptor(), POLLIN, 0});
  const auto patience = phase_ == Phase::Running && !stopping_ ? std::min(options_.heartbeat, 100ms) : 10ms;
  if (::poll(polled.data(), polled.size(), static_cast<int>(patience.count())) <= 0) {
    for (pollfd& each : polled) each.revents = 0;
  }
  if (polled.front().revents != 0) wake_.clear();
  markReadable(polled);
}

void Hub::markReadable(const std::vector<pollfd>& polled) {
  std::size_t at = 1;
  for (Guest& guest : guests_) guest.readable = polled[at++].revents != 0;
  for (const std::unique_ptr<Member>& member : members_)
    if (member != nullptr) member->readable = polled[at++].revents != 0;
}

void Hub::forgivePause(Clock::time_point now) {
  // This process was stopped itself, or had no processor for long: that is nobody else's silence.
  const Clock::duration gap = now - lastTick_;
  lastTick_ = now;
  if (gap < options_.heartbeat + 1s) return;
  for (const std::unique_ptr<Member>& member : members_)
    if (member != nullptr) member->connection.forgive(gap);
}

void Hub::beat(Clock::time_point now) {
  if (now - lastBeat_ < options_.heartbeat || phase_ == Phase::Forming || phase_ == Phase::Refusing) return;
  lastBeat_ = now;
  for (const std::unique_ptr<Member>& member : members_)
    if (member != nullptr && !member->connection.hasToWrite()) member->connection.send(FrameKind::Heartbeat);
}

bool Hub::allClosed() const {
  return std::all_of(members_.begin(), members_.end(), [](const std::unique_ptr<Member>& member) {
    return member == nullptr || !member->connection.isOpen();
  });
}

void Hub::sendOff(Clock::time_point now) {
  sentOff_ = now;
  listeners_.clear();
  for (const std::unique_ptr<Member>& member : members_) {
    if (member == nullptr) continue;
    if (phase_ == Phase::Running) member->connection.send(FrameKind::Goodbye);
    member->connection.finish();
  }
}

bool Hub::mayEnd(Clock::time_point now) {
  if (sentOff_) return allClosed() || now - *sentOff_ > kReading;
  switch (phase_) {
    case Phase::Forming:
      refuseAll("the leading process has given up", "");
      break;
    case Phase::Refusing:
      // Those that are still on their way shall hear the reason as well.
      if (answered() >= processes() || now >= deadline_) sendOff(now);
      break;
    case Phase::Running:
      if (allClosed() || now - *stopping_ > kGoodbye) sendOff(now);
      break;
    case Phase::Asking:
      break;  // ends in Failed by its own deadline
    case Phase::Failed:
      sendOff(now);
      break;
  }
  return false;
}

}  // namespace vsim::gpu
