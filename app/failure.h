#pragma once

#include "core/base/error.h"

namespace vsim::app {

/// Why a use case on real hardware ended: by its input (a scenario, a profile, options), or because the
/// machine failed.
struct Failure {
  core::Errors errors;
  bool wrongInput = false;
};

template <class T>
using Outcome = tl::expected<T, Failure>;

inline tl::unexpected<Failure> wrongInput(core::Errors errors) {
  return tl::unexpected(Failure{.errors = std::move(errors), .wrongInput = true});
}
inline tl::unexpected<Failure> wrongInput(core::Error error) {
  return wrongInput(core::Errors{std::move(error)});
}
inline tl::unexpected<Failure> machineFailed(core::Error error) {
  return tl::unexpected(Failure{.errors = {std::move(error)}, .wrongInput = false});
}

}  // namespace vsim::app
