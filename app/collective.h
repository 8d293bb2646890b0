#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"

namespace vsim::app {

/// `vsim collective`: one collective on one cluster, as nccl-tests prints it.
struct CollectiveOptions {
  std::string kind = "all_gather";  // a name of core::kCollectiveNames
  std::string cluster = "h100-rail-optimized";
  std::int64_t ranks = 8;
  std::int64_t stride = 1;  // between neighbouring ranks of the group
  std::string dtype = "bf16";
  std::string bytes = "1M..8G";  // one size, or A..B by doubling; M is 2^20 as in nccl-tests
  std::string profile;           // path; empty: none
};

/// The table. Errors: unknown names (with the nearest one), sizes that are none, a profile with mistakes.
core::ResultAll<std::string> collectiveText(const CollectiveOptions& options);

/// A size in nccl-tests' units: "8", "512K", "1M", "8G" (powers of 1,024; an upper bound of 2^50 bytes).
core::Result<std::int64_t> ncclTestsSize(const std::string& text);

}  // namespace vsim::app
