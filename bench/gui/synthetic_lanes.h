#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gui/model/timeline_data.h"

namespace vsim::bench {

/// `slices` slices without overlap, spread evenly over `lanes` lanes: runs of slices of 1 to 200 us with
/// gaps, classes in bursts as in a training step. Same seed, same lanes.
std::vector<gui::LaneColumns> syntheticLanes(std::size_t slices, std::size_t lanes, std::uint64_t seed);

/// The same slices as a log: `classes` classes of ranks, a stream of kernels and three of collectives each.
std::shared_ptr<const core::ExecutionLog> syntheticLog(std::size_t slices, std::size_t classes,
                                                       std::uint64_t seed);

}  // namespace vsim::bench
