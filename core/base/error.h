#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace vsim::core {

/// What is wrong with an input, where, and what to do. Line and column count from 1; 0 means unknown.
struct Error {
  std::string message;
  std::string file{};
  int line = 0;
  int column = 0;
  std::string hint{};

  /// "file:line:column: message (hint)"; the parts that are unknown are left out.
  [[nodiscard]] std::string text() const;
};

/// All problems of one input: readers report every one they find, not the first.
using Errors = std::vector<Error>;
[[nodiscard]] std::string text(const Errors& errors);

template <class T>
using Result = tl::expected<T, Error>;
template <class T>
using ResultAll = tl::expected<T, Errors>;

inline tl::unexpected<Error> fail(std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{.message = std::move(message), .hint = std::move(hint)});
}

/// A broken invariant of vsim itself (never of its input). Stays on in release builds.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};
[[noreturn]] void failCheck(const char* condition, const char* file, int line, const std::string& what);

/// The candidate nearest to `word` by edit distance, or "" when none is near: for "did you mean ...?".
[[nodiscard]] std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace vsim::core

#define VSIM_CHECK(condition, what) \
  (static_cast<bool>(condition) ? void(0) : ::vsim::core::failCheck(#condition, __FILE__, __LINE__, (what)))
