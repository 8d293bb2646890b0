#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace vsim::gpu {

/// What the processes of a job tell each other. H: from the hub in the leading process; M: from a member.
enum class FrameKind : std::uint8_t {
  Greeting = 1,   // H: the job it serves; the first on every connection
  Hello,          // M: who it is
  Welcome,        // H: everybody is there, and who they are
  Refused,        // H: the job cannot be formed
  Heartbeat,      // H, M
  Exchange,       // M: its text
  Broadcast,      // M: its text, empty but from the leader
  Gathered,       // H: the result of either
  StatusRequest,  // H
  Status,         // M: what it is at
  Failed,         // M: it cannot go on; H: the job has failed
  Goodbye,        // M: it leaves; H: so it may, or the leader leaves itself
};
constexpr std::uint8_t kLastFrameKind = static_cast<std::uint8_t>(FrameKind::Goodbye);

struct Frame {
  FrameKind kind = FrameKind::Heartbeat;
  std::string payload;
};

/// The longest payload in bytes that one process may give at once, and that a result may have.
constexpr std::size_t kMaximumText = std::size_t{64} << 20U;
constexpr std::size_t kMaximumGathered = std::size_t{1} << 30U;
/// For peers that have not said yet who they are, and for everything but texts.
constexpr std::size_t kMaximumShort = std::size_t{64} << 10U;

/// The bytes of one frame: 4 of the protocol's mark, 1 of kind, 8 of length (little end first), the payload.
[[nodiscard]] std::string encodeFrame(FrameKind kind, std::string_view payload);
constexpr std::size_t kFrameHeader = 13;

/// Takes frames out of a stream of bytes that come in pieces. Memory grows with the bytes that came, never
/// with a length that was only announced. Not thread-safe.
class FrameReader {
 public:
  /// `maximum`: of a payload, in bytes.
  explicit FrameReader(std::size_t maximum) : maximum_(maximum) {}

  void setMaximum(std::size_t maximum) { maximum_ = maximum; }
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole frame; nothing while there is none. Errors: bytes that are no frame (after which the
  /// stream is lost).
  [[nodiscard]] core::Result<std::optional<Frame>> next();
  /// Bytes that no frame was made of yet.
  [[nodiscard]] std::size_t pending() const { return buffer_.size() - begin_; }

 private:
  std::size_t maximum_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of buffer_: what lies before is used up
};

/// A payload, field after field.
class PayloadWriter {
 public:
  PayloadWriter& number(std::uint64_t value);
  PayloadWriter& text(std::string_view value);
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads a payload as PayloadWriter wrote it. After a field that is not there everything is 0 or empty, and
/// ok() is false.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view payload) : rest_(payload) {}
  [[nodiscard]] std::uint64_t number();
  [[nodiscard]] std::string text();
  /// A number that is at most the bytes that are left: as many fields can follow.
  [[nodiscard]] std::uint64_t count();
  /// All fields were there, and nothing is left.
  [[nodiscard]] bool complete() const { return ok_ && rest_.empty(); }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace vsim::gpu
