#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace vsim::test {

using Message = std::vector<std::byte>;

/// Who writes to whom, and about what: messages of one route keep their order.
struct Route {
  int from = 0, to = 0, subject = 0;
  friend auto operator<=>(const Route&, const Route&) = default;
};

/// The channel of one communicator's members. Thread-safe.
class Mail {
 public:
  virtual ~Mail() = default;
  virtual void announce(int member) = 0;
  [[nodiscard]] virtual int announced() = 0;
  virtual void put(const Route& route, Message message) = 0;
  [[nodiscard]] virtual std::optional<Message> take(const Route& route) = 0;
  /// Waits a little, or until something has come.
  virtual void pause() = 0;
};

/// Members in one process.
class LocalMail : public Mail {
 public:
  void announce(int member) override;
  int announced() override;
  void put(const Route& route, Message message) override;
  std::optional<Message> take(const Route& route) override;
  void pause() override;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<int> members_;
  std::map<Route, std::deque<Message>> boxes_;
};

/// Members in several processes of one machine: a message is a file of a folder in shared memory. Each
/// process has its own object; a route is used by one process at each end.
class FileMail : public Mail {
 public:
  FileMail(std::string folder, std::string name) : prefix_(std::move(folder) + "/" + std::move(name)) {}
  void announce(int member) override;
  int announced() override;
  void put(const Route& route, Message message) override;
  std::optional<Message> take(const Route& route) override;
  void pause() override;

 private:
  std::string pathOf(const Route& route, std::uint64_t number) const;

  std::string prefix_;
  std::mutex mutex_;
  std::map<Route, std::uint64_t> sent_, received_;
  int known_ = 0;  // members that have been seen
};

/// Names of communicators of this process to their mail.
class LocalMails {
 public:
  static std::shared_ptr<Mail> find(const std::string& name);

 private:
  inline static std::mutex mutex_;
  inline static std::map<std::string, std::weak_ptr<Mail>> known_;
};

}  // namespace vsim::test
