#pragma once

#include <optional>

#include "core/profile/profile.h"
#include "sim/compute/kernel_grid.h"
#include "sim/compute/kernel_model.h"

namespace vsim::sim {

/// Cost of a kernel from the best source there is: the profile's own point of that name and those sizes
/// (measured, published), else the model corrected by measured kernels of near shapes (fitted), else the
/// model (modelled). Immutable and thread-safe.
class ProfiledKernels {
 public:
  /// Without a profile everything is modelled.
  ProfiledKernels(KernelModel model, core::Profile profile = {});  // NOLINT: a model is one without a profile
  /// On a processor (host executor) the model is a roofline of the rates that the profile's description
  /// states, for the share of the work that the profile was measured with.
  ProfiledKernels(core::GpuSpec processor, core::Profile profile);

  /// Time of all `count` launches.
  [[nodiscard]] core::Cost cost(const core::Operation& operation) const;

 private:
  [[nodiscard]] core::Cost modelled(const core::Operation& operation) const;

  std::optional<KernelModel> model_;  // none: a processor
  core::GpuSpec processor_;
  double scale_ = 1;
  core::Profile profile_;
  KernelGrid grid_;
};

}  // namespace vsim::sim
