#pragma once

#include <memory>
#include <vector>

#include "tests/gpu/device/program/conformance.h"

namespace vsim::test {

/// Every kind of collective, in place and with two buffers, misaligned, on two streams of one communicator:
/// in groups of one rank, which no training program has, and in one of all devices where there are several.
/// One device alone thus goes the whole way through the library: joining, registered buffers, calls, leaving.
[[nodiscard]] std::vector<ConformanceRow> checkCollectives(const std::shared_ptr<gpu::device::Api>& api,
                                                           const ConformanceOptions& options);

}  // namespace vsim::test
