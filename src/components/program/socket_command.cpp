#include "components/program/socket_command.h"

#include "sys/fd.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <array>
#include <cerrno>
#include <cstring>

namespace slipway::components {

namespace {

Result<sys::Fd> connect_to(const std::string& path, Milliseconds limit) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return error(Code::invalid, "{}: too long for the path of a socket", path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  sys::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return sys::system_error("creating a socket");
  const timeval time{.tv_sec = limit.count() / 1000, .tv_usec = limit.count() % 1000 * 1000};
  for (int option : {SO_RCVTIMEO, SO_SNDTIMEO}) ::setsockopt(fd.get(), SOL_SOCKET, option, &time, sizeof time);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return error(Code::unavailable, "connecting to {}: {}", path, std::strerror(errno));
  }
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

}  // namespace slipway::components
