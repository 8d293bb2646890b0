#include "gpu/job/hub.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace vsim::gpu {
namespace {

using namespace std::chrono_literals;

constexpr auto kGuestPatience = 10s;  // for a connection to say who it is
// For late processes to come and hear why the job is not formed; when time was what it lacked, hardly any.
constexpr auto kRefusing = 3s;
constexpr auto kRefusingLate = 300ms;
constexpr std::size_t kSpareGuests = 64;

std::string secondsText(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000.0);
}

}  // namespace

void Hub::admit(Socket socket) {
  Guest guest{Connection(std::move(socket), kMaximumShort), Clock::now()};
  guest.connection.send(FrameKind::Greeting, PayloadWriter().text(options_.jobName).take());
  guests_.push_back(std::move(guest));
}

void Hub::acceptGuests() {
  if (Clock::now() < acceptAfter_) return;
  for (const Socket& listener : listeners_) {
    while (guests_.size() < static_cast<std::size_t>(processes()) + kSpareGuests) {
      Socket socket(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket.isOpen()) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno == EMFILE || errno == ENFILE) {
          acceptAfter_ = Clock::now() + 100ms;
          if (phase_ == Phase::Forming)
            refuseAll(
                fmt::format("{} processes want to join, but the leading process may have no more files open",
                            processes()),
                "raise the limit (ulimit -n)");
        }
        break;
      }
      admit(std::move(socket));
    }
  }
}

void Hub::serveGuests() {
  const Clock::time_point now = Clock::now();
  // By number: a guest's hello may end the whole forming, which looks at all guests.
  for (std::size_t i = 0; i < guests_.size(); ++i) {
    Guest& guest = guests_[i];
    guest.connection.flush();
    if (guest.readable) {
      const std::vector<Frame> frames = guest.connection.receive();
      if (!frames.empty() && !guest.refused) greet(guest, frames.front());
    }
    // Strangers (port scanners, lost clients) are no matter of the job's: they just go.
    if (now - guest.since > kGuestPatience) guest.connection.close();
  }
  guests_.erase(std::remove_if(guests_.begin(), guests_.end(),
                               [](const Guest& guest) { return !guest.connection.isOpen(); }),
                guests_.end());
}

void Hub::greet(Guest& guest, const Frame& frame) {
  const std::optional<Hello> hello =
      frame.kind == FrameKind::Hello ? decodeHello(frame.payload) : std::nullopt;
  if (!hello) {
    guest.connection.close();
  } else if (hello->jobName != options_.jobName) {
    refuse(
        guest,
        fmt::format("{} serves the job '{}', not '{}'", options_.address, options_.jobName, hello->jobName),
        "give every job a port of its own (MASTER_PORT)");
  } else if (phase_ == Phase::Refusing) {
    refuse(guest, failure_.error.message, failure_.error.hint);
  } else if (phase_ != Phase::Forming) {
    refuse(guest,
           fmt::format("{} came when the job was complete already", nameOf(hello->process, hello->peer)), "");
  } else {
    seat(guest, *hello);
  }
}

std::string Hub::objection(const Hello& hello) const {
  const std::string name = nameOf(hello.process, hello.peer);
  if (hello.processes != processes())
    return fmt::format("{} was started as one of {} processes, the leader as one of {}", name,
                       hello.processes, processes());
  if (hello.process >= processes()) return fmt::format("{} of {} processes", name, processes());
  if (const auto& other = members_[static_cast<std::size_t>(hello.process)]; other != nullptr)
    return fmt::format("two processes are rank {}: process {} on {} and process {} on {}", hello.process,
                       other->peer.pid, other->peer.host, hello.peer.pid, hello.peer.host);
  if (hello.version != options_.version)
    return fmt::format("{} runs vsim {}, the leader {}", name, hello.version, options_.version);
  return {};
}

void Hub::seat(Guest& guest, const Hello& hello) {
  if (const std::string why = objection(hello); !why.empty()) {
    const std::string hint =
        "start all processes with the same vsim, the same number of processes, and each "
        "with a rank of its own";
    refuse(guest, why, hint);
    refuseAll(why, hint);
    return;
  }
  guest.connection.setMaximum(kMaximumText);
  members_[static_cast<std::size_t>(hello.process)] =
      std::make_unique<Member>(std::move(guest.connection), hello.peer);
  std::vector<Peer> peers;
  for (const std::unique_ptr<Member>& member : members_) {
    if (member == nullptr) return;
    peers.push_back(member->peer);
  }
  phase_ = Phase::Running;
  const auto welcome = std::make_shared<const std::string>(encodeFrame(FrameKind::Welcome, encode(peers)));
  for (const std::unique_ptr<Member>& member : members_) {
    member->connection.send(welcome);
    member->connection.forgive(Clock::now() -
                               member->connection.heard());  // they had nothing to say till now
  }
}

void Hub::refuse(Guest& guest, const std::string& why, const std::string& hint) {
  guest.refused = true;
  ++refused_;
  guest.connection.send(FrameKind::Refused, encode(Failure{0, core::Error{.message = why, .hint = hint}}));
  guest.connection.finish();
}

void Hub::refuseAll(const std::string& why, const std::string& hint) {
  phase_ = Phase::Refusing;
  failure_ = Failure{0, core::Error{.message = why, .hint = hint}};
  deadline_ = Clock::now() + kRefusing;
  for (const std::unique_ptr<Member>& member : members_) {
    if (member == nullptr) continue;
    member->connection.send(FrameKind::Refused, encode(failure_));
    member->connection.finish();
  }
}

int Hub::answered() const {
  const auto seated = std::count_if(members_.begin(), members_.end(),
                                    [](const std::unique_ptr<Member>& member) { return member != nullptr; });
  return refused_ + static_cast<int>(seated);
}

void Hub::checkForming(Clock::time_point now) {
  if (phase_ != Phase::Forming || now < deadline_) return;
  std::vector<int> missing;
  for (int process = 0; process < processes(); ++process)
    if (member(process) == nullptr) missing.push_back(process);
  refuseAll(fmt::format("{} of {} processes did not come to {} within {}", namesOf(missing), processes(),
                        options_.address, secondsText(options_.timeout)),
            "were they started, and have they the same MASTER_ADDR and MASTER_PORT?");
  deadline_ = Clock::now() + kRefusingLate;
}

}  // namespace vsim::gpu
