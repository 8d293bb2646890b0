#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace vsim::traces {

[[nodiscard]] inline tl::unexpected<core::Error> fileFailure(std::string path, std::string message,
                                                             std::string hint = {}) {
  return tl::unexpected<core::Error>(
      core::Error{.message = std::move(message), .file = std::move(path), .hint = std::move(hint)});
}

/// A regular file that is read at given positions. Closed with the object.
class InputFile {
 public:
  /// Errors: what the system says; anything but a regular file (a pipe would wait for ever).
  [[nodiscard]] static core::Result<InputFile> open(const std::string& path);
  InputFile(InputFile&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        size_(other.size_) {}
  InputFile& operator=(InputFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~InputFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Fills `target` from byte `offset` on. Errors: the system's, a file that ends before.
  [[nodiscard]] core::Result<void> read(std::int64_t offset, std::span<std::byte> target) const;

 private:
  InputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

/// JSON without what makes it ambiguous or expensive. Errors, with file, line and column: syntax, a key twice
/// in one object, more than eight levels. No exceptions leave it.
[[nodiscard]] core::Result<nlohmann::json> parseStrictJson(const std::string& text, const std::string& path);

/// A whole number in [0, 2^63), written as one: no fraction, no string; nullopt otherwise.
[[nodiscard]] std::optional<std::int64_t> sizeFrom(const nlohmann::json& value);
/// A list of them.
[[nodiscard]] std::optional<std::vector<std::int64_t>> sizesFrom(const nlohmann::json& value);

}  // namespace vsim::traces
