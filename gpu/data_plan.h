#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/program/data_moves.h"
#include "core/program/step_program.h"

namespace vsim::gpu {

/// A program seen from the data's side: what its buffers hold, checked once before the ranks run it.
/// Immutable.
class DataPlan {
 public:
  /// Errors: indices that the program does not have, types that the host cannot compute in (fp8 among them),
  /// optimizers other than AdamW, groups that do not divide `ranks`.
  [[nodiscard]] static core::Result<DataPlan> make(std::shared_ptr<const core::StepProgram> program,
                                                   int ranks);

  [[nodiscard]] const core::StepProgram& program() const { return *program_; }
  [[nodiscard]] const std::vector<core::UnitTensor>& tensors(core::Index unit) const {
    return program_->tensorTables[program_->units[unit].tensorTable];
  }
  /// Set for buffers that hold whole tensors one after the other, without padding.
  [[nodiscard]] std::optional<core::TensorRange> packed(core::Index buffer) const { return packed_[buffer]; }
  /// Which shard of the unit a rank holds, and which of the sets of tensors under the unit's name.
  [[nodiscard]] std::int64_t shardOf(core::Index unit, int rank) const;
  [[nodiscard]] std::int64_t coordinateOf(core::Index unit, int rank) const;
  /// Where a rank's shard begins in a buffer of its unit: gathered buffers hold all shards.
  [[nodiscard]] std::int64_t ownSlice(core::Index buffer, core::Index unit, int rank) const;

 private:
  explicit DataPlan(std::shared_ptr<const core::StepProgram> program);
  void findPackedBuffers();

  std::shared_ptr<const core::StepProgram> program_;  // shared with the log
  std::vector<std::optional<core::TensorRange>> packed_;
};

/// The ranks of `rank`'s communicator, by index in it.
[[nodiscard]] std::vector<int> membersOf(const core::CommGroup& group, int rank);

}  // namespace vsim::gpu
