#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/program/execution_log.h"
#include "gpu/machine.h"

namespace vsim::gpu {

/// What one process of a job logged of an execution.
struct ProcessLog {
  std::vector<core::RankLog> ranks;
  std::uint64_t instructionsExecuted = 0;
};

/// As bytes for the job's channel: some 10 bytes a slice, 12 a memory event. Every process must be of the
/// same build.
[[nodiscard]] std::string encodeProcessLog(const ProcessLog& log);
/// Errors: bytes that are none of encodeProcessLog.
[[nodiscard]] core::Result<ProcessLog> decodeProcessLog(std::string_view bytes);

/// What one process found where its ranks run.
[[nodiscard]] std::string encodeRankFacts(const std::vector<RankFacts>& ranks);
[[nodiscard]] core::Result<std::vector<RankFacts>> decodeRankFacts(std::string_view bytes);

}  // namespace vsim::gpu
