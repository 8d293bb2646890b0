#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"

namespace vsim::gpu {

/// The first host of a Slurm node list: "node01" of "node[01-04,7],login1". Errors: a list that is empty or
/// not written so.
[[nodiscard]] core::Result<std::string> firstHost(std::string_view list);

/// How many tasks node `node` (from 0) has, of Slurm's "2(x3),1": 2 for the nodes 0 to 2, 1 for node 3.
/// Errors: a text that is not written so, or has no such node.
[[nodiscard]] core::Result<int> tasksOfNode(std::string_view tasks, int node);

}  // namespace vsim::gpu
