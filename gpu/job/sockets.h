#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace vsim::gpu {

/// A file descriptor that is closed with its owner. Move only.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(); }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool isOpen() const { return descriptor_ >= 0; }
  void close();

 private:
  int descriptor_ = -1;
};

/// What wakes a thread that waits in poll(2): descriptor() becomes readable. Thread-safe.
class Wake {
 public:
  Wake();
  [[nodiscard]] int descriptor() const { return event_.descriptor(); }
  void signal();
  void clear();

 private:
  Socket event_;
};

enum class ListenFailure { Taken, Other };
struct ListenError {
  ListenFailure kind = ListenFailure::Other;
  std::string message;
};
/// Who shall reach a listening socket: whoever reaches the named address, or also other hosts, where the name
/// may well mean another address than here (many machines know themselves as 127.0.1.1).
enum class Reach { Address, OtherHosts };

/// Listens on all addresses of `host` that this machine has (IPv4 and IPv6). On all its interfaces where it
/// has none of them (the address is translated on its way here), or none that other hosts can reach. The
/// sockets are non-blocking and not inherited by programs that are started.
[[nodiscard]] tl::expected<std::vector<Socket>, ListenError> listenAt(const std::string& host, int port,
                                                                      Reach reach);

enum class ConnectFailure { NoAnswer, UnknownHost };  // try again later; or never
struct ConnectError {
  ConnectFailure kind = ConnectFailure::NoAnswer;
  std::string message;
};
/// Connects to the first address of `host` that accepts within `patience`. The socket is non-blocking.
[[nodiscard]] tl::expected<Socket, ConnectError> connectTo(const std::string& host, int port,
                                                           std::chrono::milliseconds patience);

/// Two sockets that are connected with each other; both non-blocking.
[[nodiscard]] core::Result<std::pair<Socket, Socket>> socketPair();

/// Waits until `descriptor` can be read (or has ended), at most `patience`.
[[nodiscard]] bool waitReadable(int descriptor, std::chrono::milliseconds patience);

/// The system's words for its last error.
[[nodiscard]] std::string systemError(int number);

}  // namespace vsim::gpu
