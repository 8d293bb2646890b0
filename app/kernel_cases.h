#pragma once

#include <string>
#include <variant>
#include <vector>

#include "app/kernel_table.h"
#include "core/base/error.h"
#include "sim/compute/attention_time.h"
#include "sim/compute/gemm_time.h"
#include "sim/compute/grouped_time.h"
#include "sim/compute/kernel_parameters.h"
#include "sim/compute/memory_time.h"

namespace vsim::app {

/// One kernel of a measured operation in the terms of the kernel model.
struct KernelPart {
  std::variant<sim::GemmShape, sim::AttentionShape, sim::GroupedShape, sim::MemoryShape> shape;
  sim::Device device;
  std::string family{};   // as the board's
  std::string variant{};  // "bf16", "forward", "backward_fp8"; empty for memory
  std::vector<std::string> rateKeys{};
  std::vector<std::string> floorKeys{};  // memory only: multipliers of the floor
  double repeat = 1;
};

/// A measured row in the terms of the kernel model, with the work that the naive model counts.
struct KernelCase {
  std::vector<KernelPart> parts;  // run one after the other
  std::string family, op, format, source;
  double work = 0;      // FLOP, or bytes for kernels bound by memory
  double peak = 0;      // work per second at the hardware's peak
  double measured = 0;  // seconds
  std::uint64_t shapeHash = 0;
};

/// Error: why the row cannot be predicted (flag, unknown GPU or operation, missing sizes or time).
core::Result<KernelCase> kernelCase(const KernelRow& row);

/// Class of a table's source whose products share a rate: "aic/trtllm", "vidur", "simumax".
std::string sourceClass(const std::string& source);

/// A case with its parameter blocks looked up, as pointers into `parameters` (which must outlive it; later
/// changes of values are seen, added blocks or rates are not).
class BoundCase {
 public:
  BoundCase(const KernelCase& kernel, const sim::KernelParameters& parameters);
  [[nodiscard]] double seconds() const;

 private:
  struct Part {
    const KernelPart* part;
    const sim::GemmParameters* gemm = nullptr;
    const sim::AttentionParameters* attention = nullptr;
    const sim::GroupedParameters* grouped = nullptr;
    const sim::MemoryParameters* memory = nullptr;
    std::vector<const double*> rates, floorRates;
  };
  std::vector<Part> parts_;
};

}  // namespace vsim::app
