#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace vsim::traces {

/// Appends values in a compact, machine-independent form: integers as zigzag base-128 varints, doubles as
/// eight bytes (little-endian), texts and lists with their length in front.
class ByteWriter {
 public:
  void number(std::int64_t value) {
    auto rest = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
    char buffer[10];
    std::size_t size = 0;
    for (; rest >= 0x80; rest >>= 7) buffer[size++] = static_cast<char>(rest | 0x80);
    buffer[size++] = static_cast<char>(rest);
    bytes_.append(buffer, size);
  }

  template <class T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void operator()(const T& value) {
    number(static_cast<std::int64_t>(value));
  }
  void operator()(const double& value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift));
  }
  void operator()(const std::string& value) {
    number(static_cast<std::int64_t>(value.size()));
    bytes_ += value;
  }
  template <class T>
  void list(const std::vector<T>& values) {
    number(static_cast<std::int64_t>(values.size()));
  }

  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what ByteWriter wrote. Damaged input never reads outside and never asks for more memory than a small
/// multiple of the input: `ok()` turns false and every later value is 0.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool atEnd() const { return rest_.empty(); }

  std::int64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return giveUp();
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
    }
    return giveUp();
  }

  template <class T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void operator()(T& value) {
    const std::int64_t stored = number();
    value = static_cast<T>(stored);
    if (static_cast<std::int64_t>(value) != stored) giveUp();
  }
  void operator()(double& value) {
    std::uint64_t bits = 0;
    if (rest_.size() < sizeof bits) {
      value = 0;
      giveUp();
      return;
    }
    for (std::size_t i = 0; i < sizeof bits; ++i)
      bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
    rest_.remove_prefix(sizeof bits);
    std::memcpy(&value, &bits, sizeof bits);
  }
  void operator()(std::string& value) {
    const std::size_t size = count();
    value.assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }
  template <class T>
  void list(std::vector<T>& values) {
    values.resize(count());
  }

 private:
  /// A length: every element takes a byte at least.
  std::size_t count() {
    const std::int64_t value = number();
    if (value < 0 || static_cast<std::uint64_t>(value) > rest_.size()) {
      giveUp();
      return 0;
    }
    return static_cast<std::size_t>(value);
  }
  std::int64_t giveUp() {
    ok_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace vsim::traces
