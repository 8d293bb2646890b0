#pragma once

#include <poll.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gpu/job/connection.h"
#include "gpu/job/messages.h"
#include "gpu/job/round.h"
#include "gpu/job/sockets.h"

namespace vsim::gpu {

struct HubOptions {
  std::string jobName, version;
  int processes = 1;
  std::string address;                                          // where the others look for it, for errors
  std::chrono::milliseconds timeout{}, heartbeat{}, silence{};  // as in JoinOptions
};

/// What the leading process serves to all, itself included: it forms the job, gathers texts, notices who ends
/// or falls silent, and tells everybody. Runs in a thread of its own, which the destructor ends after it has
/// let everybody go (in about a second at most).
class Hub {
 public:
  /// `own`: the connection to the leading process itself.
  Hub(HubOptions options, std::vector<Socket> listeners, Socket own);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

 private:
  using Clock = Connection::Clock;
  enum class Phase {
    Forming,   // until everybody has said hello
    Refusing,  // it cannot be formed: everybody is told why
    Running,
    Asking,  // something failed: what was everybody at?
    Failed,  // everybody has been told
  };
  /// A connection that has not said who it is, or that was refused.
  struct Guest {
    Connection connection;
    Clock::time_point since;
    bool refused = false, readable = false;
  };
  struct Member {
    Connection connection;
    Peer peer;
    bool left = false;  // said goodbye
    bool lost = false;  // ended or fell silent without
    bool readable = false;
    std::optional<std::string> status;
  };
  /// Why the phase is Asking.
  struct Cause {
    int process = 0;
    std::string what;                 // "ended"
    std::optional<core::Error> told;  // that the process told itself
  };

  // hub.cpp: the thread
  void run();
  void wait();
  void forgivePause(Clock::time_point now);
  void beat(Clock::time_point now);
  [[nodiscard]] bool stopRequested();
  [[nodiscard]] bool mayEnd(Clock::time_point now);
  [[nodiscard]] bool allClosed() const;
  void sendOff(Clock::time_point now);
  void markReadable(const std::vector<pollfd>& polled);

  // hub_forming.cpp: until the job runs
  void admit(Socket socket);
  void acceptGuests();
  void serveGuests();
  void greet(Guest& guest, const Frame& frame);
  void seat(Guest& guest, const Hello& hello);
  [[nodiscard]] std::string objection(const Hello& hello) const;
  void refuse(Guest& guest, const std::string& why, const std::string& hint);
  void refuseAll(const std::string& why, const std::string& hint);
  void checkForming(Clock::time_point now);
  [[nodiscard]] int answered() const;

  // hub_course.cpp: while it runs
  void serveMembers();
  void hear(int process, Frame& frame);
  void gather(int process, Frame& frame);
  void leave(int process);
  void lose(int process, const std::string& what);
  void takeFailure(int process, const Frame& frame);
  void ask(Cause cause, Clock::duration patience);
  void checkAnswers(Clock::time_point now);
  void checkSilence(Clock::time_point now);
  [[nodiscard]] core::Error composed() const;
  void tellFailure(int origin, const core::Error& error);

  [[nodiscard]] int processes() const { return options_.processes; }
  [[nodiscard]] Member* member(int process) { return members_[static_cast<std::size_t>(process)].get(); }

  const HubOptions options_;
  std::vector<Socket> listeners_;
  std::vector<Guest> guests_;
  std::vector<std::unique_ptr<Member>> members_;  // by process; null: has not come
  Phase phase_ = Phase::Forming;
  Failure failure_;  // of Refusing and Failed
  Round round_;
  Cause cause_;
  Clock::time_point deadline_;  // of Forming, Refusing and Asking
  Clock::time_point lastBeat_, lastTick_, acceptAfter_;
  std::optional<Clock::time_point> stopping_, sentOff_;  // since when
  int refused_ = 0;                                      // guests

  Wake wake_;
  std::mutex mutex_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace vsim::gpu
