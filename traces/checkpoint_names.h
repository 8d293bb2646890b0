#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/mesh/blocks.h"

namespace vsim::traces {

/// Error: a name that is empty, absolute, reserved, holds control characters or backslashes, or has a part
/// ".." between slashes.
[[nodiscard]] core::Result<void> checkTensorName(const std::string& name);
/// Whether this names a file of the folder that it stands in: no separators, no "." or "..".
[[nodiscard]] bool isPlainFileName(const std::string& name);
/// Name of a box of a tensor in its rank file: "name@offset,offset". The last '@' ends the tensor's name, so
/// that different tensors never collide.
[[nodiscard]] std::string entryName(const std::string& tensor, const core::TensorBlock& box);
/// What a rank file says about itself.
[[nodiscard]] std::map<std::string, std::string> rankMetadata(const std::string& label, std::int64_t rank,
                                                              std::int64_t ranks);

}  // namespace vsim::traces
