#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/base/operation.h"
#include "core/profile/cost.h"
#include "core/profile/hardware.h"
#include "sim/compute/kernel_parameters.h"

namespace vsim::sim {

/// What the kernels of a run are (the fields of a scenario's `software` that kernel times depend on).
struct KernelSoftware {
  std::string attention{};  // "triton", "flash1" ... "flash4", "cudnn", "te", "eager"; empty: the GPU's usual
  bool compile = false;     // pointwise kernels made by a compiler
  std::int64_t year = 0;    // age of the libraries; 0: current
  double routingExponent = 0;  // power law of tokens over experts (1.2: strongly skewed); 0: balanced
};

/// Times of single kernels on one board with one software, from the fitted parameters. Pure: the same
/// operation gives the same cost. Safe to use from several threads.
class KernelModel {
 public:
  /// Parameters from the file `path`; empty: those compiled in. Errors: unreadable file, or its first mistake
  /// with line and column.
  static core::Result<KernelParameters> loadParameters(const std::string& path = {});

  KernelModel(core::GpuSpec gpu, KernelParameters parameters, KernelSoftware software = {});

  /// Time of all `count` launches. Provenance: modelled.
  [[nodiscard]] core::Cost cost(const core::Operation& operation) const;

  [[nodiscard]] const core::GpuSpec& gpu() const { return gpu_; }

 private:
  struct Tables;
  [[nodiscard]] core::Cost gemmCost(const core::Operation& op) const;
  [[nodiscard]] core::Cost groupedCost(const core::Operation& op) const;
  [[nodiscard]] core::Cost attentionCost(const core::Operation& op) const;
  [[nodiscard]] core::Cost memoryCost(const core::Operation& op) const;

  core::GpuSpec gpu_;
  KernelSoftware software_;
  std::shared_ptr<const Tables> tables_;  // constant; shared by copies of the model
};

}  // namespace vsim::sim
