#include "provider/local/line_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <functional>

namespace slipway::provider::local {

namespace {

constexpr std::size_t max_line = 64u << 20;

// The address of a socket in an open folder. It is short, even if the folder's path is long.
Result<sockaddr_un> address_in(const sys::Fd& folder, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", folder.get(), name);
  if (path.size() >= sizeof address.sun_path) return error(Code::invalid, "socket {}: name is too long", name);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<sys::Fd> open_folder(const std::string& folder) {
  sys::Fd fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return sys::system_error("opening " + folder);
  return fd;
}

// Unblocks calls on the socket when a stop is requested.
class ShutOnStop {
 public:
  ShutOnStop(std::stop_token stop, const sys::Fd& fd)
      : callback_(std::move(stop), std::function<void()>([&fd] { ::shutdown(fd.get(), SHUT_RDWR); })) {}

 private:
  std::stop_callback<std::function<void()>> callback_;
};

}  // namespace

Result<LineSocket> LineSocket::connect(const std::string& folder, const std::string& name) {
  Result<sys::Fd> directory = open_folder(folder);
  if (!directory.ok()) return error(Code::unavailable, "{}", directory.error().message());
  const sockaddr_un address = TRY(address_in(directory.value(), name));
  sys::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return sys::system_error("creating a socket");
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return error(Code::unavailable, "connecting to {}/{}: {}", folder, name, std::strerror(errno));
  }
  return LineSocket(std::move(fd));
}

Result<std::pair<LineSocket, LineSocket>> LineSocket::pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return sys::system_error("creating a pair of sockets");
  return std::pair(LineSocket(sys::Fd(fds[0])), LineSocket(sys::Fd(fds[1])));
}

Result<> LineSocket::send(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  std::string_view left = bytes;
  while (!left.empty()) {
    const ssize_t sent = ::send(fd_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return error(Code::unavailable, "sending: {}", std::strerror(errno));
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return Ok{};
}

Result<std::optional<std::string>> LineSocket::receive(std::stop_token stop) {
  const ShutOnStop shut(stop, fd_);
  for (;;) {
    if (const std::size_t end = read_.find('\n'); end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return std::optional(std::move(line));
    }
    if (read_.size() > max_line) return error(Code::invalid, "received a line without an end");
    char piece[65536];
    const ssize_t got = ::recv(fd_.get(), piece, sizeof piece, 0);
    if (got < 0 && errno == EINTR) continue;
    if (stop.stop_requested()) return error(Code::cancelled, "stopped while waiting for an answer");
    if (got < 0 && errno != ECONNRESET) return sys::system_error("receiving");
    if (got <= 0) return std::optional<std::string>();
    read_.append(piece, static_cast<std::size_t>(got));
  }
}

Result<LineListener> LineListener::listen(const std::string& folder, const std::string& name) {
  const std::string doing = fmt::format("listening on {}/{}", folder, name);
  const sys::Fd directory = TRY(open_folder(folder));
  const sockaddr_un address = TRY(address_in(directory, name));
  sys::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return sys::system_error(doing);
  (void)::unlinkat(directory.get(), name.c_str(), 0);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return sys::system_error(doing);
  if (::fchmodat(directory.get(), name.c_str(), 0600, 0) != 0) return sys::system_error(doing);
  if (::listen(fd.get(), 64) != 0) return sys::system_error(doing);
  return LineListener(std::move(fd));
}

Result<LineSocket> LineListener::accept(const sys::Context& context, Shortage& shortage) {
  const ShutOnStop shut(context.stop, fd_);
  return LineSocket(TRY(accept_connection(context, shortage, fd_, headroom_of_requests)));
}

}  // namespace slipway::provider::local
