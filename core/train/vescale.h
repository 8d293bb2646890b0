#pragma once

#include "core/train/system.h"

namespace vsim::core {

/// veScale-FSDP (arXiv 2602.22437): RaggedShard layouts by the planner, one DBuffer per group for parameters
/// and one for gradients, so that collectives run in place and parameters are views of the gather buffer: no
/// copy-out, no interleaved copy before the reduction. The paper's planner and DBuffer code are not public;
/// where the paper is silent (streams, when buffers are freed) this follows FSDP2's schedule with rotating
/// buffers: an assumption.
class VeScale final : public System {
 public:
  [[nodiscard]] std::string_view name() const override { return "vescale"; }
  [[nodiscard]] std::string_view description() const override {
    return "veScale-FSDP: RaggedShard layouts, zero-copy collectives on DBuffers";
  }
  [[nodiscard]] ExpertStorage expertStorage() const override { return ExpertStorage::perExpert; }
  void prepare(TrainModel& model, const TrainOptions& options) const override;
  [[nodiscard]] Result<LayoutSet> plan(const TrainModel& model, const TrainOptions& options) const override;
  [[nodiscard]] Result<StepProgram> emit(const TrainModel& model, const TrainOptions& options,
                                         const LayoutSet& layouts) const override;
};

}  // namespace vsim::core
