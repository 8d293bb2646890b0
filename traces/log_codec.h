#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/program/execution_log.h"

namespace vsim::traces {

/// An ExecutionLog with its program as a compressed blob (zlib), for the run store. Lossless.
[[nodiscard]] std::string encodeLog(const core::ExecutionLog& log);

/// Errors: damaged or cut input, a format of a later version, indices that point nowhere. Takes no more
/// memory than a small multiple of what the blob unpacks to.
[[nodiscard]] core::Result<core::ExecutionLog> decodeLog(std::string_view blob);

}  // namespace vsim::traces
