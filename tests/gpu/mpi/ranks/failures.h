#pragma once

#include <string>

#include "gpu/host/host_machine.h"

namespace vsim::test {

/// Executions on four ranks in which rank 2 does something wrong in its second step: "dies" (by SIGKILL),
/// "hangs" (in a kernel), "memory" (has too little), "differs" (has another program). Answers the error of
/// this rank's execution, "" when there was none.
[[nodiscard]] std::string failureOf(const std::string& how, gpu::Job& job,
                                    std::unique_ptr<gpu::ProcessTransport> transport);

/// Rank 1 of two issues other collectives, without a job that would have noticed.
[[nodiscard]] std::string mismatchOf(gpu::ProcessTransport& transport);

}  // namespace vsim::test
