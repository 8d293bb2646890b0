#pragma once

#include <string_view>

#include "gpu/job/job.h"

namespace vsim::gpu {

/// Makes sure that all processes hold the same text; collective, like Job::exchange. `what` is the plural
/// that an error names it with ("scenarios", "versions of vsim"). Where they differ, every process gets the
/// same error: which processes differ from the leader, and the first line in which they do. That is not yet a
/// failure of the job.
[[nodiscard]] core::Result<void> agree(Job& job, std::string_view what, std::string_view text);

}  // namespace vsim::gpu
