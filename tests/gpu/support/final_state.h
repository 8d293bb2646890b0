#pragma once

#include <functional>
#include <span>
#include <string>

#include "tests/gpu/support/reference_training.h"

namespace vsim::test {

/// What a rank's buffer held when an execution had ended; empty when it was not live.
using FinalContents = std::function<std::span<const float>(int rank, core::Index buffer)>;

/// Shards and Adam states of ranks `first` to `first` + `ranks` - 1 against the reference, bit for bit.
/// Answers the first difference, or "".
std::string finalDifference(const core::StepProgram& program, const ReferenceTraining& reference, int ranks,
                            const FinalContents& contents, int first = 0);

}  // namespace vsim::test
