#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "core/report/report.h"
#include "gui/model/memory_curve.h"

namespace vsim::gui {

/// What the caching allocator may take: the board without the context and NCCL. 0: the board is not known.
struct MemoryLimit {
  core::Bytes board = 0, context = 0, nccl = 0;
  [[nodiscard]] core::Bytes allocator() const {
    return board <= 0 ? 0 : std::max<core::Bytes>(0, board - context - nccl);
  }
};
[[nodiscard]] MemoryLimit memoryLimit(const core::HardwareFacts& hardware);

/// What must hold after every event: what the live buffers took, summed over the categories, is what is
/// allocated; allocated <= active <= reserved <= limit; times do not go back; buffers are taken and given
/// back in turns. Sums are kept buffer by buffer, apart from the curve's own.
struct MemoryCheck {
  std::int64_t violations = 0;
  std::int64_t firstEvent = -1;
  std::string first;           // "after event 12 at 3.10 ms: allocated 1.00 GiB exceeds active 512.00 MiB"
  bool overLimitAlone = true;  // nothing is wrong with the log: the run does not fit
  [[nodiscard]] bool holds() const { return violations == 0; }
};
[[nodiscard]] MemoryCheck checkMemory(const MemoryCurve& curve, const MemoryLimit& limit,
                                      const std::atomic<bool>* cancelled = nullptr);

}  // namespace vsim::gui
