#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/job/frames.h"
#include "gpu/job/sockets.h"

namespace vsim::gpu {

/// A stream of frames to one other process, over a non-blocking socket. Belongs to one thread at a time.
class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  /// `maximum`: of what the other side may send in one payload, in bytes.
  Connection(Socket socket, std::size_t maximum);

  [[nodiscard]] bool isOpen() const { return socket_.isOpen(); }
  [[nodiscard]] int descriptor() const { return socket_.descriptor(); }
  [[nodiscard]] bool hasToWrite() const { return isOpen() && !outgoing_.empty(); }
  /// Why it was closed, when the other side sent what is no frame; else empty.
  [[nodiscard]] const std::string& broken() const { return broken_; }
  /// When the last bytes came.
  [[nodiscard]] Clock::time_point heard() const { return heard_; }
  /// Takes time out of the count during which this process did not listen itself.
  void forgive(Clock::duration gap) { heard_ += gap; }
  void setMaximum(std::size_t maximum) { reader_.setMaximum(maximum); }

  /// Queues a frame, and writes what the system takes now.
  void send(FrameKind kind, std::string_view payload = {});
  /// The same with a frame that is already encoded, which many connections may share.
  void send(std::shared_ptr<const std::string> encoded);
  void flush();
  /// After the queued frames: tells the other side that no more will come.
  void finish();

  /// Reads what has come by now. When the other side has ended, the connection is closed; the frames before
  /// that can still be taken.
  void fill();
  /// The next frame of what was read; nothing while there is none. What is no frame closes the connection.
  [[nodiscard]] std::optional<Frame> next();
  /// Reads, and takes all frames.
  [[nodiscard]] std::vector<Frame> receive();
  void close() { socket_.close(); }

 private:
  Socket socket_;
  FrameReader reader_;
  std::deque<std::shared_ptr<const std::string>> outgoing_;  // shared: one result goes to every process
  std::size_t written_ = 0;                                  // of outgoing_'s first
  bool finishing_ = false, writable_ = true;
  std::string broken_;
  Clock::time_point heard_ = Clock::now();
};

}  // namespace vsim::gpu
