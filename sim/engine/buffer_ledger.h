#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/program/execution_log.h"
#include "core/program/memory_model.h"
#include "sim/engine/program_tables.h"

namespace vsim::sim {

/// The buffers of one rank: asks the memory model, keeps what is live, by category, and the peaks. Without a
/// model, buffers count with their own bytes.
class BufferLedger {
 public:
  BufferLedger(const core::StepProgram& program, const ProgramTables& tables,
               std::unique_ptr<core::MemoryModel> memory);

  struct Answer {
    std::int64_t driverCalls = 0;
    bool waitedForDevice = false;
  };
  /// Fails when the buffer is live, or when memory is exhausted and the model cannot be told to go on.
  core::Result<Answer> allocate(core::Index buffer, core::Picoseconds time);
  core::Result<void> release(core::Index buffer);
  core::Result<void> recordStream(core::Index buffer, core::StreamId stream);

  void beginStep(core::Picoseconds time);
  [[nodiscard]] core::MemoryPeak peak() const;
  [[nodiscard]] core::MemoryPeak stepPeak() const;
  [[nodiscard]] core::MemoryModel* memory() const { return memory_.get(); }
  [[nodiscard]] core::MemoryModel::Totals totals() const;
  [[nodiscard]] std::uint64_t address(core::Index buffer) const { return addresses_[buffer]; }

 private:
  static constexpr core::Bytes kNotLive = -1;

  core::Result<core::MemoryModel::Block> request(core::Index buffer);
  void updatePeak(core::MemoryPeak& peak, const core::MemoryModel::Totals& totals, core::Picoseconds time);

  const core::StepProgram& program_;
  const ProgramTables& tables_;
  std::unique_ptr<core::MemoryModel> memory_;
  std::vector<std::uint64_t> addresses_;  // [buffer]
  std::vector<core::Bytes> charged_;      // [buffer]: what it adds to the allocated bytes; kNotLive
  std::array<core::Bytes, 9> byCategory_{};
  core::Bytes allocated_ = 0;
  core::MemoryPeak peak_, stepPeak_;
  std::int64_t retriesBefore_ = 0;  // before the current step
};

}  // namespace vsim::sim
