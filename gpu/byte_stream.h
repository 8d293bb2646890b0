#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vsim::gpu {

/// Values as bytes, for what the processes of a job tell each other. Integers take 1 to 10 bytes (7 bits
/// each, lowest first; signed ones zigzag), so that small ones stay small.
class ByteWriter {
 public:
  void number(std::uint64_t value);
  void signedNumber(std::int64_t value);
  void real(double value);
  void text(std::string_view value);
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what a ByteWriter wrote, in the same order. Bytes that end too early, or are not what is asked for,
/// give zeros and empty texts, and failed() from then on.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  std::uint64_t number();
  /// A number of at most `largest`.
  std::uint64_t number(std::uint64_t largest);
  std::int64_t signedNumber();
  double real();
  std::string text();
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  std::uint64_t bad();
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace vsim::gpu
