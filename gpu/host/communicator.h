#pragma once

#include <memory>
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
  std::int64_t sendElements = 0, receiveElements = 0;  // of the whole collective
  std::span<const float> input{};                      // empty when the collective is only timed
  std::span<float> output{};
  int step = 0;
  core::Index instruction = 0;
  std::string name{};  // "all_gather(L1)"
};

/// A communicator of ranks. A collective begins when its last member has come, then every member gets its own
/// output out of the members' inputs; reductions add in fp32 in the order of the members and round once. A
/// member's calls run in the order of their turns, whatever stream they come from. Thread-safe.
class Communicator {
 public:
  /// `members`: ranks by index.
  Communicator(std::string name, std::vector<int> members, RunControl& control);
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// The member's turn-th call (from 0); `times` receives when all had come, and when the output was there.
  /// False: the execution was stopped. Calls that do not fit each other stop it, with an error that names
  /// both.
  virtual bool run(std::size_t member, std::uint64_t turn, const CollectiveCall& call,
                   core::Slice& times) = 0;

  /// Who waits here, and for whom; nullopt when nobody does.
  [[nodiscard]] virtual std::optional<std::string> waiting() const = 0;
  [[nodiscard]] std::size_t indexOf(int rank) const;
  [[nodiscard]] std::size_t size() const { return members_.size(); }

 protected:
  /// "group dp_shard of ranks 0, 1"
  [[nodiscard]] std::string title() const;
  /// "rank 1: all_gather(L1) of 16 bf16 elements out, 64 in (instruction 41, step 1)"
  [[nodiscard]] std::string describe(std::size_t member, const CollectiveCall& call) const;
  /// "in group ... rank 1 did not come to rank 0: ..."
  [[nodiscard]] std::string absence(const std::vector<std::size_t>& missing,
                                    const std::vector<std::string>& here) const;
  [[nodiscard]] static bool fit(const CollectiveCall& a, const CollectiveCall& b);
  void mismatch(const std::string& one, const std::string& other) const;
  [[nodiscard]] RunControl& control() const { return control_; }
  [[nodiscard]] const std::vector<int>& members() const { return members_; }

 private:
  std::string name_;
  std::vector<int> members_;
  RunControl& control_;
};

/// `out` = the sum (or average) of equally long inputs, added in fp32 in their order and rounded once as
/// `dtype` rounds. `out` may be one of the inputs.
void reduceInOrder(std::span<const float* const> inputs, core::ReduceOp reduce, core::DType dtype,
                   std::span<float> out);

}  // namespace vsim::gpu
