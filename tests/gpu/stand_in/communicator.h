#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/device/api.h"
#include "tests/gpu/stand_in/device.h"
#include "tests/gpu/stand_in/mail.h"

namespace vsim::test {

/// One call of a collective.
struct CollectiveWork {
  core::CollectiveKind kind = core::CollectiveKind::allGather;
  core::ReduceOp reduce = core::ReduceOp::none;
  core::DType dtype = core::DType::fp32;
  std::size_t count = 0;  // as the Api's functions count
  int root = 0;
  const void* send = nullptr;
  void* receive = nullptr;
};

/// One send or receive of a group of them.
struct PeerWork {
  bool sends = false;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;
  core::DType dtype = core::DType::fp32;
  int peer = 0;
};

/// A member of a communicator. Calls run in the order in which they were issued, on whatever streams they
/// are; calls that do not fit the other members' never end, as with NCCL. Reductions add in fp32 in the order
/// of the ranks and round once. Thread-safe.
class StandInCommunicator {
 public:
  StandInCommunicator(int device, int ranks, int rank, std::shared_ptr<Mail> mail,
                      const std::atomic<bool>& over);

  void announce() { mail_->announce(rank_); }
  [[nodiscard]] bool complete() { return mail_->announced() == ranks_; }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  /// The host issues a call: its turn.
  [[nodiscard]] std::uint64_t issue() { return issued_++; }
  void run(std::uint64_t turn, const CollectiveWork& work, StandInDevice& memory);
  void run(std::uint64_t turn, const std::vector<PeerWork>& works, StandInDevice& memory);
  /// A call that never ends.
  void stall(std::uint64_t turn);

  void setError(const gpu::device::Status& error);
  [[nodiscard]] gpu::device::Status error() const;
  /// Ends what runs and waits until it has.
  void abort();
  [[nodiscard]] bool idle() const { return running_.load() == 0 && finished_.load() == issued_.load(); }

 private:
  bool comesUp(std::uint64_t turn);
  void finish();
  void waitForAbort();
  bool receive(const Route& route, Message& message);
  [[nodiscard]] bool ends() const { return aborted_.load() || over_.load(); }
  [[nodiscard]] Message header(const CollectiveWork& work) const;
  [[nodiscard]] Message outgoing(const CollectiveWork& work, int peer) const;
  void combine(const CollectiveWork& work, const std::vector<Message>& inputs) const;

  int device_, ranks_, rank_;
  std::shared_ptr<Mail> mail_;
  const std::atomic<bool>& over_;
  std::atomic<std::uint64_t> issued_ = 0, finished_ = 0;
  std::atomic<int> running_ = 0;
  std::atomic<bool> aborted_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  gpu::device::Status error_;
};

}  // namespace vsim::test
