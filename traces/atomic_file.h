#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace vsim::traces {

/// Writes a file so that readers see the old content or the new one, never a part: a temporary file in the
/// same folder is renamed. An existing file keeps its permissions; a symbolic link keeps pointing; pipes and
/// devices are written to directly. Errors name the path and the system's reason.
[[nodiscard]] core::Result<void> writeFileAtomically(const std::string& path, std::string_view content);
/// The same for content in pieces, written one after the other.
[[nodiscard]] core::Result<void> writeFileAtomically(const std::string& path,
                                                     std::span<const std::string_view> pieces);

}  // namespace vsim::traces
