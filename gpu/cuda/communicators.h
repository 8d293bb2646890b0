#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/collective.h"
#include "core/base/dtype.h"
#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

/// One rank's membership in a communicator.
struct Member;

/// Buffers and sizes of a collective or of one side of a transfer.
struct Transfer {
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  core::DType type = core::DType::fp32;
  core::ReduceOp operation = core::ReduceOp::none;
  int peer = 0;  // or root
};
enum class TransferKind : std::uint8_t { allGather, reduceScatter, allReduce, broadcast, send, receive };

/// NCCL with communicators that do not block: after each call the plug-in waits until the launch is made,
/// and gives up when another thread aborts the communicator or the limit has passed. Thread-safe; the calls
/// of one group come from one thread.
class Communicators {
 public:
  Communicators();
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  void limitWaits(double seconds) { limitSeconds_ = seconds; }
  [[nodiscard]] device::Status version(int& out);
  [[nodiscard]] device::Status uniqueId(device::UniqueId& out);
  [[nodiscard]] device::Status join(device::Comm& out, int ranks, const device::UniqueId& id, int rank);
  [[nodiscard]] device::Status asyncStatus(device::Comm comm, bool& busy);
  [[nodiscard]] device::Status leave(device::Comm comm);
  [[nodiscard]] device::Status abort(device::Comm comm);
  [[nodiscard]] device::Status registerBuffer(device::Comm comm, void* memory, std::size_t bytes,
                                              void*& handle);
  [[nodiscard]] device::Status deregisterBuffer(device::Comm comm, void* handle);
  [[nodiscard]] device::Status groupStart();
  [[nodiscard]] device::Status groupEnd();
  [[nodiscard]] device::Status transfer(TransferKind kind, const Transfer& transfer, device::Comm comm,
                                        device::Stream stream);

 private:
  /// `code`: an ncclResult_t. Waits while it, and then the communicator, says "in progress".
  [[nodiscard]] device::Status settle(Member& member, const char* call, int code);

  std::atomic<double> limitSeconds_{600};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Member>> members_;  // kept to the end: a late call on one gets an error
};

}  // namespace vsim::gpu::cuda
