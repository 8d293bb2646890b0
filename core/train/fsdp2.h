#pragma once

#include "core/train/system.h"

namespace vsim::core {

/// PyTorch FSDP2 (`fully_shard`): one parameter at a time cut on dim 0, gather buffer copied out into
/// parameters, gradients copied in; copy-in, all-gather, reduce-scatter and all-reduce streams; one unit
/// gathered ahead in backward. Host order as recorded from torch 2.15.0.
class Fsdp2 final : public System {
 public:
  [[nodiscard]] std::string_view name() const override { return "fsdp2"; }
  [[nodiscard]] std::string_view description() const override {
    return "PyTorch FSDP2 (fully_shard): per-parameter shards on dim 0, copy-in and copy-out";
  }
  [[nodiscard]] ExpertStorage expertStorage() const override { return ExpertStorage::stacked; }
  void prepare(TrainModel& model, const TrainOptions& options) const override;
  [[nodiscard]] Result<LayoutSet> plan(const TrainModel& model, const TrainOptions& options) const override;
  [[nodiscard]] Result<StepProgram> emit(const TrainModel& model, const TrainOptions& options,
                                         const LayoutSet& layouts) const override;
};

}  // namespace vsim::core
