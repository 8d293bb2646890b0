#pragma once

#include <condition_variable>
#include <mutex>

#include "gpu/host/communicator.h"

namespace vsim::gpu {

/// Members that are threads of this process: each makes its own output out of the others' memory.
class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(std::string name, std::vector<int> members, RunControl& control);

  bool run(std::size_t member, std::uint64_t turn, const CollectiveCall& call, core::Slice& times) override;
  [[nodiscard]] std::optional<std::string> waiting() const override;

 private:
  bool meet(std::unique_lock<std::mutex>& lock);
  void makeOutput(std::size_t member, const CollectiveCall& call);
  void reduce(const CollectiveCall& call, std::size_t first, std::span<float> out) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<CollectiveCall>> calls_;  // [member]: in progress
  std::vector<std::uint64_t> turns_;                  // [member]: calls done
  std::vector<std::vector<float>> outputs_;           // [member]: until all have read their inputs
  std::size_t arrived_ = 0;
  std::uint64_t meetings_ = 0;
};

}  // namespace vsim::gpu
