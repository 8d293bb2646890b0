#include "gpu/byte_stream.h"

#include <bit>

namespace vsim::gpu {

void ByteWriter::number(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) bytes_.push_back(static_cast<char>((value & 0x7fU) | 0x80U));
  bytes_.push_back(static_cast<char>(value));
}

void ByteWriter::signedNumber(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  number((bits << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

void ByteWriter::real(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift));
}

void ByteWriter::text(std::string_view value) {
  number(value.size());
  bytes_ += value;
}

std::uint64_t ByteReader::bad() {
  failed_ = true;
  rest_ = {};
  return 0;
}

std::uint64_t ByteReader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return bad();
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) return value;
  }
  return bad();
}

std::uint64_t ByteReader::number(std::uint64_t largest) {
  const std::uint64_t value = number();
  return value <= largest ? value : bad();
}

std::int64_t ByteReader::signedNumber() {
  const std::uint64_t value = number();
  return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1));
}

double ByteReader::real() {
  constexpr std::size_t kBytes = 8;
  if (rest_.size() < kBytes) return static_cast<double>(bad());
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kBytes; ++i)
    bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
  rest_.remove_prefix(kBytes);
  return std::bit_cast<double>(bits);
}

std::string ByteReader::text() {
  const std::uint64_t size = number();
  if (size > rest_.size()) {
    bad();
    return {};
  }
  std::string value(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return value;
}

}  // namespace vsim::gpu
