#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/kernel_cases.h"
#include "sim/compute/kernel_parameters.h"

namespace vsim::app {

/// Fits all blocks of the kernel model that `cases` have data for: per GPU family and format (products,
/// expert layers), per family and direction (attention), all memory-bound kernels together. Starts and weak
/// priors are those of sim::parameterFields, so that the result does not depend on an earlier fit.
/// Single-threaded, deterministic. Always returns at least one block of each kind.
sim::KernelParameters fitKernels(std::span<const KernelCase* const> cases);

/// Predicted seconds of every case, each by parameters that were fitted without its fold (fold = shapeHash
/// mod folds). The cases of `extra` train as well, in the folds that do not hold their shape. Uses up to
/// `threads` threads; the result does not depend on their number.
std::vector<double> crossValidate(std::span<const KernelCase> cases, std::span<const KernelCase> extra,
                                  int folds, int threads);

/// fitKernels on all cases with the cross-validated error of every block written into it.
sim::KernelParameters fitWithErrors(std::span<const KernelCase> cases, int folds, int threads);

}  // namespace vsim::app
