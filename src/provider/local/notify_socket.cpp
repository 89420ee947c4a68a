#include "provider/local/notify_socket.h"

#include "provider/local/shortage.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace slipway::provider::local {

namespace {

void receive_messages(std::stop_token stop, const sys::Fd& fd, const NotifySocket::Handler& handler) {
  const std::stop_callback wake(stop, [&fd] { ::shutdown(fd.get(), SHUT_RD); });
  char message[4096];
  while (!stop.stop_requested()) {
    const ssize_t size = ::recv(fd.get(), message, sizeof message, 0);
    if (size < 0 && errno != EINTR) return;
    if (size > 0) handler(std::string(message, static_cast<std::size_t>(size)));
  }
}

}  // namespace

Result<NotifySocket> NotifySocket::open(std::string_view name, Handler handler) {
  const std::string doing = fmt::format("creating the socket @{}", name);
  sys::Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return sys::system_error(doing);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 2 > sizeof address.sun_path) return error(Code::invalid, "{}: name is too long", doing);
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // a leading zero byte: an abstract socket, no file
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return sys::system_error(doing);
  std::jthread thread = TRY(start_thread([fd = std::move(fd), handler = std::move(handler)](std::stop_token stop) {
    receive_messages(std::move(stop), fd, handler);
  }));
  return NotifySocket(fmt::format("@{}", name), std::move(thread));
}

}  // namespace slipway::provider::local
