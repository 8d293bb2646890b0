#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <utility>

#include "gpu/host/process_transport.h"

namespace vsim::gpu {

/// Processes of one mpirun. Calls of MPI that block (making communicators, leaving) run in a thread of their
/// own, which is given up when the execution is stopped or takes too long: a process that is gone never
/// holds another one.
class MpiTransport : public ProcessTransport {
 public:
  [[nodiscard]] core::Result<void> init() override;
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int localRank() const override { return localRank_; }
  [[nodiscard]] int localRanks() const override { return localRanks_; }
  [[nodiscard]] std::string version() const override;
  [[nodiscard]] core::Result<std::vector<std::unique_ptr<Communicator>>> communicators(
      const std::vector<GroupRequest>& requests, RunControl& control,
      std::chrono::milliseconds timeout) override;
  void finalize() override;

 private:
  /// The n-th communicator of these members within one call of communicators(): kept for the next calls.
  using Key = std::pair<std::vector<int>, int>;

  int rank_ = 0, size_ = 1, localRank_ = 0, localRanks_ = 1;
  std::map<Key, MPI_Comm> made_;
};

}  // namespace vsim::gpu
