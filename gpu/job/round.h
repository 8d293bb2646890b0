#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "gpu/job/frames.h"

namespace vsim::gpu {

/// The texts of one exchange or broadcast while they come in. Not thread-safe.
class Round {
 public:
  explicit Round(int processes) : texts_(static_cast<std::size_t>(processes)) {}

  /// `kind`: Exchange or Broadcast. Errors: the processes do different things, or one does two at once.
  [[nodiscard]] core::Result<void> add(int process, FrameKind kind, std::string text);
  [[nodiscard]] bool begun() const { return given_ > 0; }
  [[nodiscard]] bool complete() const { return given_ == texts_.size(); }
  /// A process that has given its text; the round has begun.
  [[nodiscard]] int first() const { return first_; }
  /// "exchange" or "broadcast".
  [[nodiscard]] const char* operation() const { return nameOf(kind_); }
  /// The result as an encoded frame for everybody; the next round begins. Errors: it is too long.
  [[nodiscard]] core::Result<std::shared_ptr<const std::string>> take();

 private:
  [[nodiscard]] static const char* nameOf(FrameKind kind);

  std::vector<std::optional<std::string>> texts_;
  std::size_t given_ = 0;
  int first_ = 0;
  FrameKind kind_ = FrameKind::Exchange;
};

}  // namespace vsim::gpu
