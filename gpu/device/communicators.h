#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/program/step_program.h"
#include "gpu/device/rank_context.h"
#include "gpu/job/job.h"

namespace vsim::gpu::device {

/// One rank's membership of one communicator. The rank's host thread joins and calls, under `calls`; the
/// watchdog asks for its state and aborts.
class RankCommunicator {
 public:
  RankCommunicator(Api& api, std::vector<int> members, int rank);
  RankCommunicator(const RankCommunicator&) = delete;
  RankCommunicator& operator=(const RankCommunicator&) = delete;

  /// Joins unless it has; waits until all members have, for `timeout` at most.
  void join(const RankContext& context, const UniqueId& id, std::chrono::milliseconds timeout);
  /// Leaves in peace; on the rank's device.
  void leave();
  /// Ends whatever runs in it; at most once, from any thread.
  void abort();

  [[nodiscard]] Comm comm() const { return comm_.load(std::memory_order_acquire); }
  [[nodiscard]] bool joined() const { return joined_.load(std::memory_order_acquire); }
  [[nodiscard]] bool dead() const { return dead_.load(std::memory_order_acquire); }
  /// An error of the communicator's own, found while nobody called it.
  [[nodiscard]] Status asyncStatus() const;
  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] const std::vector<int>& members() const { return members_; }
  /// "group dp_shard of ranks 0, 1, 2, 3"
  [[nodiscard]] std::string title() const;
  void setGroup(const std::string& name) { group_ = name; }

  std::mutex calls;  // held while a call of the library with this communicator is made

 private:
  Api& api_;
  std::string group_;
  std::vector<int> members_;
  int index_ = 0;
  std::atomic<Comm> comm_ = nullptr;
  std::atomic<bool> joined_ = false, dead_ = false;
};

/// The communicators of this process's ranks: one per rank and communicator group, made when a program first
/// needs it and kept for the next ones. Groups of a program are distinct even where their ranks are the same.
class Communicators {
 public:
  Communicators(Api& api, std::vector<int> ranks) : api_(api), ranks_(std::move(ranks)) {}

  /// Exchanges what the ranks need to join the communicators that `program` uses. Collective.
  [[nodiscard]] core::Result<void> prepare(const core::StepProgram& program, Job& job);
  /// By group of the program; null for groups that no collective uses.
  [[nodiscard]] std::vector<RankCommunicator*> of(const core::StepProgram& program, int localRank);
  [[nodiscard]] const UniqueId& idOf(const RankCommunicator& communicator) const {
    return ids_.at(&communicator);
  }
  /// All ranks of this process leave all communicators in peace, each on its device and in a thread of its
  /// own: libraries wait for all ranks of a host there. Everything has ended by then.
  void leave(const std::vector<int>& devices);
  /// Ends whatever runs in any of them, at once.
  void abort() const;
  [[nodiscard]] std::vector<RankCommunicator*> all() const;
  /// After an abort: forgets everything.
  void clear() {
    known_.clear();
    ids_.clear();
  }

 private:
  struct Key {
    std::int64_t size = 1, stride = 1;
    int ordinal = 0;  // among the groups of this shape
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static std::vector<Key> keysOf(const core::StepProgram& program);
  core::Result<std::string> newIds(const core::StepProgram& program, const std::vector<Key>& keys);

  Api& api_;
  std::vector<int> ranks_;                                               // of this process
  std::map<Key, std::vector<std::unique_ptr<RankCommunicator>>> known_;  // [local rank]
  std::map<const RankCommunicator*, UniqueId> ids_;
};

/// Which groups any collective of the program uses.
[[nodiscard]] std::vector<bool> usedGroups(const core::StepProgram& program);

}  // namespace vsim::gpu::device
