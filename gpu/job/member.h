#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gpu/job/connection.h"
#include "gpu/job/hub.h"
#include "gpu/job/job.h"
#include "gpu/job/messages.h"

namespace vsim::gpu {

/// A process's side of a job whose hub it is connected with. One thread reads and writes; the others leave
/// what they want to send to it.
class Member final : public Job {
 public:
  struct Timing {
    std::chrono::milliseconds heartbeat{}, silence{};  // as in JoinOptions
  };
  /// `connection`: welcomed. `hub`: in the leading process alone.
  Member(Connection connection, int process, const std::vector<Peer>& peers, Timing timing,
         std::unique_ptr<Hub> hub);
  ~Member() override;

  [[nodiscard]] int process() const override { return process_; }
  [[nodiscard]] int processes() const override { return static_cast<int>(hosts_.size()); }
  [[nodiscard]] const std::string& host(int process) const override;
  [[nodiscard]] core::Result<std::vector<std::string>> exchange(std::string_view mine) override;
  [[nodiscard]] core::Result<std::string> broadcast(std::string_view text) override;
  void fail(const core::Error& error) override;
  [[nodiscard]] std::shared_ptr<const core::Error> failure() const override;
  void onFailure(std::function<void(const core::Error&)> tell) override;
  void setStatus(std::function<std::string()> status) override;

 private:
  using Clock = Connection::Clock;

  // Of the callers.
  [[nodiscard]] core::Result<std::vector<std::string>> gather(FrameKind kind, std::string_view text);
  void post(FrameKind kind, std::string_view payload);
  [[nodiscard]] bool onOwnThread() const { return std::this_thread::get_id() == thread_.get_id(); }

  // Of the thread.
  void run();
  void wait();
  void sendPosted();
  void hear(Frame& frame);
  void takeResult(const Frame& frame);
  void checkHub(Clock::time_point now);
  void loseHub(const std::string& what);
  void setFailure(Failure failure);
  [[nodiscard]] std::string status();
  [[nodiscard]] bool mayEnd(Clock::time_point now);

  const int process_;
  std::vector<std::string> hosts_;  // by process
  const Peer leader_;
  const Timing timing_;
  std::unique_ptr<Hub> hub_;
  Wake wake_;

  // The thread's alone.
  Connection connection_;
  Clock::time_point lastBeat_, lastTick_;
  std::optional<Clock::time_point> leavingSince_;
  bool hubLost_ = false;

  mutable std::mutex mutex_;  // of all to the next empty line
  std::condition_variable changed_;
  std::shared_ptr<const core::Error> failure_;  // shared: handed out while it may be read elsewhere
  std::vector<std::shared_ptr<const std::string>> posted_;  // shared as in Connection
  std::optional<std::vector<std::string>> result_;
  bool hubLeft_ = false, leaving_ = false;

  // Held while the functions are called, so that none is called after it was replaced; recursive, since a
  // function may replace itself.
  std::recursive_mutex callMutex_;
  std::function<void(const core::Error&)> tell_;
  std::function<std::string()> status_;

  std::thread thread_;
};

}  // namespace vsim::gpu
