#include "components/program/socket_command.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace slipway::components {

namespace {

constexpr Milliseconds exchange_limit{1'000};
constexpr std::size_t longest_line = 4096;
constexpr int most_waiting = 8;

struct Address {
  sockaddr_un value{};
  socklen_t size = 0;
};

bool is_abstract(std::string_view path) { return path.starts_with('@'); }

Result<Address> address_of(const std::string& path) {
  Address address;
  address.value.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.value.sun_path) return error(Code::invalid, "{}: too long for the path of a socket", path);
  std::memcpy(address.value.sun_path, path.c_str(), path.size() + 1);
  address.size = sizeof address.value;
  if (is_abstract(path)) {
    // All bytes of the address belong to the name.
    address.value.sun_path[0] = '\0';
    address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  }
  return address;
}

Result<sys::Fd> make_socket() {
  sys::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return sys::system_error("creating a socket");
  return fd;
}

void set_limit(const sys::Fd& fd, Milliseconds limit) {
  const timeval time{.tv_sec = limit.count() / 1000, .tv_usec = limit.count() % 1000 * 1000};
  for (int option : {SO_RCVTIMEO, SO_SNDTIMEO}) ::setsockopt(fd.get(), SOL_SOCKET, option, &time, sizeof time);
}

// Whether the process at the other end runs as root or as the user of this process.
bool is_trusted(const sys::Fd& fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

Result<sys::Fd> connect_to(const std::string& path, Milliseconds limit) {
  const Address address = TRY(address_of(path));
  sys::Fd fd = TRY(make_socket());
  set_limit(fd, limit);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.value), address.size) != 0) {
    return error(Code::unavailable, "connecting to {}: {}", path, std::strerror(errno));
  }
  if (is_abstract(path) && !is_trusted(fd)) return error(Code::denied, "{}: a process of another user listens there", path);
  return fd;
}

}  // namespace

Result<std::string> send_socket_command(const std::string& path, std::string_view line, Milliseconds limit) {
  const sys::Fd fd = TRY(connect_to(path, limit));
  const std::string bytes = std::string(line) + "\n";
  // One write: a command is much shorter than the buffer of a socket.
  if (::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    return error(Code::unavailable, "sending to {}: {}", path, std::strerror(errno));
  }
  std::string answer;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return error(Code::unavailable, "reading from {}: {}", path, std::strerror(errno));
    if (got == 0) return answer;
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

Result<std::unique_ptr<SocketResponder>> SocketResponder::listen(const std::string& name, Answer answer) {
  const Address address = TRY(address_of(name));
  sys::Fd fd = TRY(make_socket());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.value), address.size) != 0) {
    return error(errno == EADDRINUSE ? Code::conflict : Code::internal, "listening on {}: {}", name, std::strerror(errno));
  }
  if (::listen(fd.get(), most_waiting) != 0) return sys::system_error("listening on " + name);
  return std::unique_ptr<SocketResponder>(new SocketResponder(std::move(fd), std::move(answer)));
}

SocketResponder::SocketResponder(sys::Fd listener, Answer answer)
    : listener_(std::move(listener)), answer_(std::move(answer)), thread_([this] { serve(); }) {}

SocketResponder::~SocketResponder() {
  // Ends accept().
  ::shutdown(listener_.get(), SHUT_RDWR);
}

void SocketResponder::serve() {
  for (;;) {
    const sys::Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd.is_open()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
      std::this_thread::sleep_for(exchange_limit);
      continue;
    }
    if (!is_trusted(fd)) continue;
    set_limit(fd, exchange_limit);
    std::string line;
    std::array<char, 256> buffer;
    while (line.size() < longest_line && line.find('\n') == std::string::npos) {
      const ssize_t got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      line.append(buffer.data(), static_cast<std::size_t>(got));
    }
    const std::size_t end = line.find('\n');
    if (end == std::string::npos) continue;
    const std::string answer = answer_(std::string_view(line).substr(0, end));
    std::string_view left = answer;
    while (!left.empty()) {
      const ssize_t sent = ::send(fd.get(), left.data(), left.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) break;
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
}

}  // namespace slipway::components
