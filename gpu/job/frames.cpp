#include "gpu/job/frames.h"

namespace vsim::gpu {
namespace {

constexpr std::string_view kMark = "vsJ1";  // vsim, job, first edition of the protocol

void appendNumber(std::string& bytes, std::uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>((value >> shift) & 0xffU);
}

std::uint64_t numberAt(std::string_view bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

}  // namespace

std::string encodeFrame(FrameKind kind, std::string_view payload) {
  std::string bytes;
  bytes.reserve(kFrameHeader + payload.size());
  bytes += kMark;
  bytes += static_cast<char>(kind);
  appendNumber(bytes, payload.size());
  bytes += payload;
  return bytes;
}

core::Result<std::optional<Frame>> FrameReader::next() {
  const std::string_view bytes = std::string_view(buffer_).substr(begin_);
  // A wrong beginning shows at once, not when a header's worth of it has come.
  const std::string_view mark = bytes.substr(0, kMark.size());
  if (mark != kMark.substr(0, mark.size())) return core::fail("what came is not of vsim's protocol");
  if (bytes.size() < kFrameHeader) return std::optional<Frame>();
  const auto kind = static_cast<std::uint8_t>(bytes[kMark.size()]);
  if (kind == 0 || kind > kLastFrameKind)
    return core::fail(fmt::format("a message of unknown kind {}", kind));
  const std::uint64_t length = numberAt(bytes.substr(kMark.size() + 1));
  if (length > maximum_)
    return core::fail(
        fmt::format("a message of {} bytes, more than the {} that it may have", length, maximum_));
  if (bytes.size() - kFrameHeader < length) return std::optional<Frame>();
  Frame frame{static_cast<FrameKind>(kind), std::string(bytes.substr(kFrameHeader, length))};
  begin_ += kFrameHeader + length;
  // Moving the rest to the front only when it is the smaller part keeps the cost linear in the bytes.
  if (begin_ >= buffer_.size() - begin_) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return std::optional<Frame>(std::move(frame));
}

PayloadWriter& PayloadWriter::number(std::uint64_t value) {
  appendNumber(bytes_, value);
  return *this;
}

PayloadWriter& PayloadWriter::text(std::string_view value) {
  number(value.size());
  bytes_ += value;
  return *this;
}

std::uint64_t PayloadReader::number() {
  if (!ok_ || rest_.size() < 8) {
    ok_ = false;
    return 0;
  }
  const std::uint64_t value = numberAt(rest_);
  rest_.remove_prefix(8);
  return value;
}

std::uint64_t PayloadReader::count() {
  const std::uint64_t value = number();
  if (value <= rest_.size()) return value;
  ok_ = false;
  return 0;
}

std::string PayloadReader::text() {
  const std::uint64_t length = count();
  std::string value(rest_.substr(0, length));
  rest_.remove_prefix(length);
  return value;
}

}  // namespace vsim::gpu
