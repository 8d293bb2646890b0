#include "gpu/job/hub.h"

#include <algorithm>

namespace vsim::gpu {
namespace {

using namespace std::chrono_literals;

// For all to say what they are at, after something has failed.
constexpr auto kAnswerPatience = 500ms;
// When a process ends, the others' data channels to it break as well, and they may report that first. So a
// reported failure waits this long for the end of another process, which is then the cause.
constexpr auto kCausePatience = 150ms;
constexpr std::size_t kStatuses = 4;  // that an error shows

}  // namespace

void Hub::serveMembers() {
  for (int process = 0; process < processes(); ++process) {
    Member* each = member(process);
    if (each == nullptr || !each->connection.isOpen()) continue;
    each->connection.flush();
    if (!each->readable) continue;
    for (Frame& frame : each->connection.receive()) hear(process, frame);
    if (each->connection.isOpen() || each->left || each->lost) continue;
    const std::string& broken = each->connection.broken();
    lose(process, broken.empty() ? "ended" : "cannot be understood any more: " + broken);
  }
}

void Hub::hear(int process, Frame& frame) {
  Member& from = *member(process);
  switch (frame.kind) {
    case FrameKind::Heartbeat:
      return;
    case FrameKind::Exchange:
    case FrameKind::Broadcast:
      return gather(process, frame);
    case FrameKind::Status:
      from.status = std::move(frame.payload);
      return;
    case FrameKind::Failed:
      return takeFailure(process, frame);
    case FrameKind::Goodbye:
      return leave(process);
    default:
      // What only a hub says.
      from.connection.close();
      lose(process, "cannot be understood any more");
  }
}

void Hub::gather(int process, Frame& frame) {
  if (phase_ != Phase::Running) return;  // the failure is on its way to it
  for (int other = 0; other < processes(); ++other) {
    if (!member(other)->left) continue;
    const char* operation = frame.kind == FrameKind::Exchange ? "an exchange" : "a broadcast";
    return ask({other, fmt::format("has left the job while rank {} is at {}", process, operation), {}},
               kAnswerPatience);
  }
  const core::Result<void> added = round_.add(process, frame.kind, std::move(frame.payload));
  if (!added) return tellFailure(process, added.error());
  if (!round_.complete()) return;
  const auto result = round_.take();
  if (!result) return tellFailure(process, result.error());
  for (const std::unique_ptr<Member>& each : members_) each->connection.send(*result);
}

void Hub::leave(int process) {
  Member& from = *member(process);
  from.left = true;
  from.connection.send(FrameKind::Goodbye);
  from.connection.finish();
  if (phase_ == Phase::Running && round_.begun())
    ask({process,
         fmt::format("has left the job while rank {} is at an {}", round_.first(), round_.operation()),
         {}},
        kAnswerPatience);
}

void Hub::lose(int process, const std::string& what) {
  Member& lost = *member(process);
  lost.lost = true;
  if (phase_ == Phase::Forming) {
    refuseAll(fmt::format("{} {} before all had come", nameOf(process, lost.peer), what), "");
  } else if (phase_ == Phase::Running) {
    ask({process, what, {}}, kAnswerPatience);
  } else if (phase_ == Phase::Asking && cause_.told && process != cause_.process) {
    member(cause_.process)->status = fmt::format("rank {}: {}", cause_.process, cause_.told->text());
    cause_ = {process, what, {}};
    deadline_ = Clock::now() + kAnswerPatience;
  }
}

void Hub::takeFailure(int process, const Frame& frame) {
  std::optional<Failure> failure = decodeFailure(frame.payload);
  if (phase_ != Phase::Running || !failure) return;
  ask({process, {}, std::move(failure->error)}, kCausePatience);
}

void Hub::ask(Cause cause, Clock::duration patience) {
  phase_ = Phase::Asking;
  cause_ = std::move(cause);
  deadline_ = Clock::now() + patience;
  for (int process = 0; process < processes(); ++process)
    if (process != cause_.process) member(process)->connection.send(FrameKind::StatusRequest);
}

void Hub::checkAnswers(Clock::time_point now) {
  if (phase_ != Phase::Asking) return;
  bool awaited = cause_.told.has_value();
  for (int process = 0; process < processes(); ++process) {
    const Member& each = *member(process);
    awaited |=
        process != cause_.process && each.connection.isOpen() && !each.left && !each.lost && !each.status;
  }
  if (awaited && now < deadline_) return;
  tellFailure(cause_.process, composed());
}

void Hub::checkSilence(Clock::time_point now) {
  for (int process = 0; process < processes() && phase_ == Phase::Running; ++process) {
    const Member& each = *member(process);
    if (!each.connection.isOpen() || each.left || now - each.connection.heard() <= options_.silence) continue;
    lose(process,
         fmt::format("has not answered for {:g} s", static_cast<double>(options_.silence.count()) / 1000.0));
  }
}

core::Error Hub::composed() const {
  const Peer& peer = members_[static_cast<std::size_t>(cause_.process)]->peer;
  if (cause_.told) {
    core::Error error = *cause_.told;
    error.message = reportOf(cause_.process, peer.host, error.message);
    return error;
  }
  core::Error error{.message = fmt::format("{} {}", nameOf(cause_.process, peer), cause_.what)};
  std::size_t shown = 0, more = 0;
  for (const std::unique_ptr<Member>& each : members_) {
    if (each->lost || !each->status || each->status->empty()) continue;
    if (shown < kStatuses) {
      error.message += "; " + *each->status;
      ++shown;
    } else {
      ++more;
    }
  }
  if (more > 0) error.message += fmt::format("; and {} more", more);
  return error;
}

void Hub::tellFailure(int origin, const core::Error& error) {
  phase_ = Phase::Failed;
  failure_ = Failure{origin, error};
  const auto frame = std::make_shared<const std::string>(encodeFrame(FrameKind::Failed, encode(failure_)));
  for (const std::unique_ptr<Member>& each : members_) each->connection.send(frame);
}

}  // namespace vsim::gpu
