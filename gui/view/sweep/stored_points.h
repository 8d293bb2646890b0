#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "gui/model/sweep.h"

namespace vsim::gui {

struct StoredPoints {
  SweepData data;
  std::string remark;  // what is missing, and why; empty: nothing
};

/// Reports of the newest `most` runs of a store. Reads files: for background threads; `cancelled` may be
/// empty.
[[nodiscard]] StoredPoints storedPoints(const std::string& path, std::int64_t most,
                                        const std::function<bool()>& cancelled);

}  // namespace vsim::gui
