#include "gpu/job/sockets.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <system_error>

namespace vsim::gpu {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// The addresses of `host` ("" with AI_PASSIVE: all interfaces), or getaddrinfo's error number.
tl::expected<Addresses, int> resolve(const char* host, int port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host, std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return tl::unexpected(error);
  return Addresses(found, &freeaddrinfo);
}

void setOption(const Socket& socket, int level, int option) {
  const int on = 1;
  // These options make things better, none is needed.
  static_cast<void>(setsockopt(socket.descriptor(), level, option, &on, sizeof(on)));
}

Socket openFor(const addrinfo& address) {
  return Socket(
      ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
}

/// The socket, or the system's error.
tl::expected<Socket, int> listenOn(const addrinfo& address) {
  Socket socket = openFor(address);
  if (!socket.isOpen()) return tl::unexpected(errno);
  // Connections of an earlier job that the system still remembers do not hold the port; a listener does.
  setOption(socket, SOL_SOCKET, SO_REUSEADDR);
  if (address.ai_family == AF_INET6) setOption(socket, IPPROTO_IPV6, IPV6_V6ONLY);
  if (::bind(socket.descriptor(), address.ai_addr, address.ai_addrlen) != 0) return tl::unexpected(errno);
  if (::listen(socket.descriptor(), SOMAXCONN) != 0) return tl::unexpected(errno);
  return socket;
}

/// Error numbers of a machine that has no such address or not this kind of addresses.
bool notHere(int error) {
  return error == EADDRNOTAVAIL || error == EAFNOSUPPORT || error == EPROTONOSUPPORT || error == EINVAL;
}

bool anyLoopback(const addrinfo* first) {
  for (const addrinfo* address = first; address != nullptr; address = address->ai_next) {
    if (address->ai_family == AF_INET) {
      const auto* four = reinterpret_cast<const sockaddr_in*>(address->ai_addr);
      if ((ntohl(four->sin_addr.s_addr) >> 24U) == 127) return true;
    } else if (address->ai_family == AF_INET6) {
      const auto* six = reinterpret_cast<const sockaddr_in6*>(address->ai_addr);
      if (IN6_IS_ADDR_LOOPBACK(&six->sin6_addr)) return true;
    }
  }
  return false;
}

tl::expected<std::vector<Socket>, ListenError> listenOnAll(const addrinfo* first) {
  std::vector<Socket> sockets;
  for (const addrinfo* address = first; address != nullptr; address = address->ai_next) {
    auto socket = listenOn(*address);
    if (socket) {
      sockets.push_back(std::move(*socket));
    } else if (!notHere(socket.error())) {
      const bool taken = socket.error() == EADDRINUSE;
      return tl::unexpected(
          ListenError{taken ? ListenFailure::Taken : ListenFailure::Other, systemError(socket.error())});
    }
  }
  return sockets;
}

/// Nothing, or the system's error.
std::optional<int> connectOne(const Socket& socket, const addrinfo& address,
                              std::chrono::milliseconds patience) {
  if (::connect(socket.descriptor(), address.ai_addr, address.ai_addrlen) == 0) return std::nullopt;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  pollfd waiting{socket.descriptor(), POLLOUT, 0};
  const int ready = ::poll(&waiting, 1, static_cast<int>(patience.count()));
  if (ready < 0) return errno;
  if (ready == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  if (error != 0) return error;
  return std::nullopt;
}

/// TCP connects a socket to itself when it is given the very port that it asks for.
bool isConnectedToItself(const Socket& socket) {
  sockaddr_storage mine{}, others{};
  socklen_t mineSize = sizeof(mine), othersSize = sizeof(others);
  if (getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&mine), &mineSize) != 0) return false;
  if (getpeername(socket.descriptor(), reinterpret_cast<sockaddr*>(&others), &othersSize) != 0) return false;
  const auto* left = reinterpret_cast<const char*>(&mine);
  return mineSize == othersSize && std::equal(left, left + mineSize, reinterpret_cast<const char*>(&others));
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

void Socket::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

Wake::Wake() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_.isOpen()) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void Wake::signal() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(event_.descriptor(), &one, sizeof(one)) == 0);  // full: it is signalled already
}

void Wake::clear() {
  std::uint64_t count = 0;
  static_cast<void>(::read(event_.descriptor(), &count, sizeof(count)) == 0);  // empty: nothing to clear
}

tl::expected<std::vector<Socket>, ListenError> listenAt(const std::string& host, int port, Reach reach) {
  const auto addresses = resolve(host.c_str(), port, AI_PASSIVE);
  if (!addresses)
    return tl::unexpected(ListenError{
        ListenFailure::Other, fmt::format("unknown host '{}': {}", host, gai_strerror(addresses.error()))});
  if (reach == Reach::Address || !anyLoopback(addresses->get())) {
    auto sockets = listenOnAll(addresses->get());
    if (!sockets || !sockets->empty()) return sockets;
  }
  const auto everywhere = resolve(nullptr, port, AI_PASSIVE);
  if (!everywhere) return tl::unexpected(ListenError{ListenFailure::Other, gai_strerror(everywhere.error())});
  auto sockets = listenOnAll(everywhere->get());
  if (sockets && sockets->empty())
    return tl::unexpected(ListenError{ListenFailure::Other, "this machine has no network address"});
  return sockets;
}

tl::expected<Socket, ConnectError> connectTo(const std::string& host, int port,
                                             std::chrono::milliseconds patience) {
  const auto addresses = resolve(host.c_str(), port, 0);
  if (!addresses) {
    // A name server that is busy may answer the next time.
    const bool later = addresses.error() == EAI_AGAIN;
    return tl::unexpected(ConnectError{later ? ConnectFailure::NoAnswer : ConnectFailure::UnknownHost,
                                       gai_strerror(addresses.error())});
  }
  int last = 0;
  for (const addrinfo* address = addresses->get(); address != nullptr; address = address->ai_next) {
    Socket socket = openFor(*address);
    const std::optional<int> error = socket.isOpen() ? connectOne(socket, *address, patience) : errno;
    if (!error && !isConnectedToItself(socket)) {
      setOption(socket, IPPROTO_TCP, TCP_NODELAY);
      return socket;
    }
    // Of several reasons the one of an address family that is used here is of interest.
    if (const int reason = error.value_or(ECONNREFUSED); last == 0 || !notHere(reason)) last = reason;
  }
  return tl::unexpected(ConnectError{ConnectFailure::NoAnswer, systemError(last)});
}

core::Result<std::pair<Socket, Socket>> socketPair() {
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
    return core::fail("no socket pair: " + systemError(errno));
  return std::pair(Socket(pair[0]), Socket(pair[1]));
}

bool waitReadable(int descriptor, std::chrono::milliseconds patience) {
  pollfd waiting{descriptor, POLLIN, 0};
  return ::poll(&waiting, 1,
                static_cast<int>(std::max<std::chrono::milliseconds::rep>(0, patience.count()))) > 0;
}

std::string systemError(int number) { return std::generic_category().message(number); }

}  // namespace vsim::gpu
