#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>

#include "tests/gpu/support/reference_training.h"

namespace vsim::test {

/// What a rank's buffer held when an execution had ended; empty when it was not live.
using FinalContents = std::function<std::span<const float>(int rank, core::Index buffer)>;

/// What the order of additions may change, relative to the norm of a buffer, where the coarsest type that
/// sums are rounded to is one of these.
double reductionTolerance(std::initializer_list<core::DType> types);

/// |found - wanted| relative to |wanted|, as vectors; infinite where a number is none.
double relativeDistance(std::span<const float> found, std::span<const float> wanted);

/// Shards and Adam states of ranks `first` to `first` + `ranks` - 1 against the reference: to the last bit,
/// or each buffer to within `tolerance` where it is not zero. Answers the first difference, or "".
std::string finalDifference(const core::StepProgram& program, const ReferenceTraining& reference, int ranks,
                            const FinalContents& contents, int first = 0, double tolerance = 0);

}  // namespace vsim::test
