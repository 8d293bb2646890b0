#pragma once

#include <cstdint>

#include "core/profile/profile.h"

namespace vsim::core {

/// log2 of the ratio of two counts, without its sign; counts below 1 count as 1.
double logRatio(std::int64_t a, std::int64_t b);

/// How unlike a measured group and the query's are, 0 for the same: crossing nodes or not tells most, then
/// ranks per node, then ranks, then (across nodes) the stride.
double unlikeness(std::int64_t ranks, std::int64_t ranksPerNode, std::int64_t stride,
                  const CollectiveQuery& query);

}  // namespace vsim::core
