#pragma once

#include <string>
#include <vector>

#include "core/scenario/section.h"

namespace vsim::core {

/// Points of one sweep: more are refused before any is read.
inline constexpr std::size_t kMaxSweepPoints = 4096;

/// One swept key with its values, as nodes and as they were written.
struct SweepAxis {
  std::string key;
  Place place;
  std::vector<const Node*> values;
  std::vector<std::string> written;
};

/// The axes of `sweep:` ({cluster.gpus: [8, 16]}, or nested maps). Reports lists that are empty or missing,
/// keys swept twice or not to be swept, and more than kMaxSweepPoints points.
std::vector<SweepAxis> readAxes(Problems& problems, const Node* sweep);

/// Number of points; 1 without axes.
std::size_t pointCount(const std::vector<SweepAxis>& axes);

/// Which value of each axis point `index` takes: the first axis changes slowest.
std::vector<std::size_t> pointAt(const std::vector<SweepAxis>& axes, std::size_t index);

}  // namespace vsim::core
