#include "provider/local/forwarder.h"

#include "provider/local/owner.h"
#include "provider/local/shortage.h"

#include "base/guarded.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <list>
#include <optional>
#include <thread>

namespace slipway::provider::local {

namespace {

sockaddr_in address_of(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

Result<sys::Fd> listen_here(const std::string& host, int port) {
  const std::string doing = fmt::format("listening on {}:{} of the host", host, port);
  sys::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return sys::system_error(doing);
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = address_of(host, port);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(fd.get(), 64) != 0) {
    if (errno == EADDRINUSE) return error(Code::conflict, "{}: port already in use (choose another one with --forward)", doing);
    return sys::system_error(doing);
  }
  return fd;
}

// The address may move to another machine, which knows nothing of this connection and says so when it is asked: who only listens
// hears of it within two seconds.
void notice_moves(const sys::Fd& fd) {
  const int yes = 1, second = 1, probes = 3;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPIDLE, &second, sizeof second);
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPINTVL, &second, sizeof second);
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

// One direction of a connection: what was read and not yet written.
struct Direction {
  const sys::Fd& from;
  const sys::Fd& to;
  std::string pending{};
  bool at_end = false;   // of what can be read
  bool is_shut = false;  // the other side was told so

  short wants_from() const { return !at_end && pending.empty() ? POLLIN : 0; }
  short wants_to() const { return pending.empty() ? 0 : POLLOUT; }

  // False when the connection is broken.
  bool move() {
    if (pending.empty() && !at_end) {
      char piece[65536];
      const ssize_t got = ::recv(from.get(), piece, sizeof piece, MSG_DONTWAIT);
      if (got < 0) return errno == EAGAIN || errno == EINTR;
      if (got == 0) at_end = true;
      pending.assign(piece, static_cast<std::size_t>(got));
    }
    if (!pending.empty()) {
      const ssize_t sent = ::send(to.get(), pending.data(), pending.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN || errno == EINTR;
      pending.erase(0, static_cast<std::size_t>(sent));
    }
    if (at_end && pending.empty() && !is_shut) {
      ::shutdown(to.get(), SHUT_WR);
      is_shut = true;
    }
    return true;
  }
};

void carry(const sys::Fd& outside, const sys::Fd& inside) {
  Direction in{outside, inside}, out{inside, outside};
  while (!in.is_shut || !out.is_shut) {
    std::array<pollfd, 2> watched = {{{outside.get(), static_cast<short>(in.wants_from() | out.wants_to()), 0},
                                      {inside.get(), static_cast<short>(out.wants_from() | in.wants_to()), 0}}};
    // A side that wants nothing would still tell of errors, again and again.
    for (pollfd& side : watched) {
      if (side.events == 0) side.fd = -1;
    }
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (!in.move() || !out.move()) return;
  }
}

// A connection that is served on a thread of its own; stopping it closes both sides.
class Carrier {
 public:
  explicit Carrier(sys::Fd outside) : outside_(std::move(outside)) {}

  // May be called again after it failed. errors: unavailable: a shortage
  Result<> start(const std::string& address, int port) {
    if (!inside_.is_open()) inside_ = sys::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!inside_.is_open()) return sys::system_error("creating a socket");
    thread_ = TRY(start_thread([this, address, port](std::stop_token stop) { work(std::move(stop), address, port); }));
    return Ok{};
  }

  bool is_over() const {
    return over_.with_lock([](bool over) { return over; });
  }

 private:
  void work(std::stop_token stop, const std::string& address, int port) {
    {
      const std::stop_callback close(stop, [this] {
        ::shutdown(outside_.get(), SHUT_RDWR);
        ::shutdown(inside_.get(), SHUT_RDWR);
      });
      const sockaddr_in target = address_of(address, port);
      notice_moves(inside_);
      if (::connect(inside_.get(), reinterpret_cast<const sockaddr*>(&target), sizeof target) == 0) carry(outside_, inside_);
    }
    outside_.reset();
    inside_.reset();
    over_.with_lock([](bool& over) { over = true; });
  }

  sys::Fd outside_, inside_;
  Guarded<bool> over_{false};
  std::jthread thread_;
};

}  // namespace

Result<Forwarder> Forwarder::listen(const std::string& host_address, int host_port) {
  std::optional<Result<sys::Fd>> listening;
  // The namespace belongs to the thread; this one ends right after.
  TRY(start_thread([&] {
    if (::setns(host_network_fd, CLONE_NEWNET) != 0) {
      listening = sys::system_error("entering the host's network");
      return;
    }
    listening = listen_here(host_address, host_port);
  })).join();
  sys::Fd fd = TRY(std::move(*listening));
  return Forwarder(std::move(fd), fmt::format("the forward of {}:{}", host_address, host_port));
}

bool Forwarder::is_free(const std::string& host_address, int host_port) {
  const Result<sys::Fd> listening = listen_here(host_address, host_port);
  return listening.ok() || listening.error().code() != Code::conflict;
}

Result<> Forwarder::run(const sys::Context& context, const std::function<std::string()>& address, int port) {
  const std::stop_callback wake(context.stop, [this] { ::shutdown(fd_.get(), SHUT_RDWR); });
  Shortage shortage(context, name_);
  std::list<Carrier> carriers;
  for (;;) {
    sys::Fd outside = TRY(accept_connection(context, shortage, fd_, headroom_of_forward));
    carriers.remove_if([](const Carrier& carrier) { return carrier.is_over(); });
    const std::string target = address();
    if (target.empty()) continue;
    Carrier& carrier = carriers.emplace_back(std::move(outside));
    TRY(shortage.until_done([&] { return carrier.start(target, port); }));
  }
}

}  // namespace slipway::provider::local
