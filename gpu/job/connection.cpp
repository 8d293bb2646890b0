#include "gpu/job/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace vsim::gpu {

Connection::Connection(Socket socket, std::size_t maximum) : socket_(std::move(socket)), reader_(maximum) {}

void Connection::send(FrameKind kind, std::string_view payload) {
  send(std::make_shared<const std::string>(encodeFrame(kind, payload)));
}

void Connection::send(std::shared_ptr<const std::string> encoded) {
  if (!isOpen() || !writable_ || finishing_) return;
  outgoing_.push_back(std::move(encoded));
  flush();
}

void Connection::flush() {
  while (hasToWrite()) {
    const std::string& bytes = *outgoing_.front();
    const ssize_t sent =
        ::send(socket_.descriptor(), bytes.data() + written_, bytes.size() - written_, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      // The other side reads no more. What it said before is still to be read, so the end comes from
      // receive().
      writable_ = false;
      outgoing_.clear();
      break;
    }
    written_ += static_cast<std::size_t>(sent);
    if (written_ == bytes.size()) {
      outgoing_.pop_front();
      written_ = 0;
    }
  }
  if (finishing_ && isOpen() && outgoing_.empty() && writable_) {
    writable_ = false;
    ::shutdown(socket_.descriptor(), SHUT_WR);
  }
}

void Connection::finish() {
  finishing_ = true;
  flush();
}

void Connection::fill() {
  // As much as one call takes, so that a busy peer does not keep the others waiting.
  constexpr std::size_t kAtOnce = std::size_t{1} << 20U;
  static thread_local std::array<char, std::size_t{64} << 10U> buffer;
  for (std::size_t total = 0; isOpen() && total < kAtOnce;) {
    const ssize_t count = ::recv(socket_.descriptor(), buffer.data(), buffer.size(), 0);
    if (count > 0) {
      reader_.feed(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
      total += static_cast<std::size_t>(count);
      heard_ = Clock::now();
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
      close();
    } else if (errno != EINTR) {
      break;
    }
  }
}

std::optional<Frame> Connection::next() {
  if (!broken_.empty()) return std::nullopt;
  core::Result<std::optional<Frame>> frame = reader_.next();
  if (frame) return std::move(*frame);
  broken_ = frame.error().message;
  close();
  return std::nullopt;
}

std::vector<Frame> Connection::receive() {
  fill();
  std::vector<Frame> frames;
  while (std::optional<Frame> frame = next()) frames.push_back(std::move(*frame));
  return frames;
}

}  // namespace vsim::gpu
