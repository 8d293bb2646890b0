#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "gpu/device/api.h"
#include "gpu/run_control.h"

namespace vsim::gpu::device {

/// Ends a rank's host thread from within; caught where that thread began. Only inside this folder.
class RankFailure {
 public:
  explicit RankFailure(core::Error error) : error_(std::move(error)) {}
  [[nodiscard]] const core::Error& error() const { return error_; }

 private:
  core::Error error_;
};

/// Who calls the device: what every part of one rank needs. Outlives them.
struct RankContext {
  Api& api;
  RunControl& control;
  int rank = 0, device = 0;
  std::string host{};
  /// What the rank is at, in words; asked for when something goes wrong.
  std::function<std::string()> where = [] { return std::string(); };

  [[nodiscard]] std::string name() const { return fmt::format("rank {} ({})", rank, host); }
  /// Throws RankFailure that names the rank, its host and what it is at.
  [[noreturn]] void fail(const std::string& problem, const std::string& hint = {}) const {
    const std::string at = where();
    throw RankFailure({.message = name() + (at.empty() ? "" : ", " + at) + ": " + problem, .hint = hint});
  }
  void check(const Status& status) const {
    if (!status.ok()) fail(status.text);
  }
  /// Throws when the execution has ended elsewhere.
  void checkStopped() const {
    if (control.stopped()) throw RankFailure({.message = name() + " was stopped"});
  }
};

}  // namespace vsim::gpu::device
