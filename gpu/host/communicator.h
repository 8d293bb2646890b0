#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/program/execution_log.h"
#include "core/program/step_program.h"
#include "gpu/run_control.h"

namespace vsim::gpu {

/// What one rank brings to a collective.
struct CollectiveCall {
  core::CollectiveKind kind = core::CollectiveKind::allGather;
  core::ReduceOp reduce = core::ReduceOp::none;
  core::DType dtype = core::DType::fp32;
  std::int64_t sendElements = 0, receiveElements = 0;
  std::span<const float> input{};  // sendElements, or empty when the collective is only timed
  std::span<float> output{};       // receiveElements
  int step = 0;
  core::Index instruction = 0;
  std::string name{};  // "all_gather(L1)"
};

/// A communicator of in-process ranks. A collective begins when its last member has come, then every member
/// makes its own output out of the members' inputs; reductions add in fp32 in the order of the members and
/// round once. A member's calls run in the order of their turns, whatever stream they come from.
/// Thread-safe.
class Communicator {
 public:
  /// `members`: ranks by index.
  Communicator(std::string name, std::vector<int> members, RunControl& control);

  /// The member's turn-th call (from 0); `times` receives when all had come, and when the output was there.
  /// False: the execution was stopped. Calls that do not fit each other stop it, with an error that names
  /// both.
  bool run(std::size_t member, std::uint64_t turn, const CollectiveCall& call, core::Slice& times);

  /// Who waits here, and for whom; nullopt when nobody does.
  [[nodiscard]] std::optional<std::string> waiting() const;
  [[nodiscard]] std::size_t indexOf(int rank) const;

 private:
  bool meet(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::string describe(std::size_t member, const CollectiveCall& call) const;
  [[nodiscard]] std::vector<float> result(std::size_t member, const CollectiveCall& call) const;
  void mismatch(std::size_t member, const CollectiveCall& call) const;

  std::string name_;
  std::vector<int> members_;
  RunControl& control_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<CollectiveCall>> calls_;  // [member]: in progress
  std::vector<std::uint64_t> turns_;                  // [member]: calls done
  std::size_t arrived_ = 0;
  std::uint64_t meetings_ = 0;
};

}  // namespace vsim::gpu
