#include "sim/compute/profiled_kernels.h"

#include "sim/compute/processor_time.h"

namespace vsim::sim {

ProfiledKernels::ProfiledKernels(KernelModel model, core::Profile profile)
    : model_(std::move(model)), profile_(std::move(profile)) {
  grid_ = KernelGrid(profile_, [this](const core::Operation& operation) {
    return core::secondsFromPicoseconds(modelled(operation).time);
  });
}

ProfiledKernels::ProfiledKernels(core::GpuSpec processor, core::Profile profile)
    : processor_(std::move(processor)),
      scale_(profile.hardware ? profile.hardware->scale : 1),
      profile_(std::move(profile)) {
  grid_ = KernelGrid(profile_, [this](const core::Operation& operation) {
    return core::secondsFromPicoseconds(modelled(operation).time);
  });
}

core::Cost ProfiledKernels::modelled(const core::Operation& operation) const {
  return model_ ? model_->cost(operation) : processorCost(operation, processor_, scale_);
}

core::Cost ProfiledKernels::cost(const core::Operation& operation) const {
  core::Cost cost = modelled(operation);
  if (const auto measured = core::matchOperation(profile_, operation)) {
    cost.time = measured->time;
    cost.provenance = measured->provenance;
    cost.relativeError = measured->relativeError;
  } else if (const auto correction = grid_.correction(operation)) {
    cost.time = static_cast<core::Picoseconds>(static_cast<double>(cost.time) * correction->factor);
    cost.provenance = core::Provenance::fitted;
    cost.relativeError = correction->relativeError;
  }
  return cost;
}

}  // namespace vsim::sim
