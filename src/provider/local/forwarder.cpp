#include "provider/local/forwarder.h"

#include "provider/local/owner_descriptors.h"
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
#include <functional>
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

// The address may move to another machine, which answers the keepalive probes of an old connection with a reset. So a connection
// without traffic ends within about two seconds after the move.
void enable_keepalive(const sys::Fd& fd) {
  const int yes = 1, second = 1, probes = 3;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPIDLE, &second, sizeof second);
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPINTVL, &second, sizeof second);
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

// Runs the function in the host's network namespace. setns() changes the namespace of one thread only, so this needs its own
// thread.
Result<sys::Fd> in_network_of_host(const std::function<Result<sys::Fd>()>& make) {
  std::optional<Result<sys::Fd>> made;
  TRY(start_thread([&] {
    made =
        ::setns(host_network_fd, CLONE_NEWNET) == 0 ? make() : Result<sys::Fd>(sys::system_error("entering the host's network"));
  })).join();
  return std::move(*made);
}

Result<sys::Fd> new_socket() {
  sys::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return sys::system_error("creating a socket");
  return fd;
}

// One direction of a connection.
struct Direction {
  const sys::Fd& from;
  const sys::Fd& to;
  std::string pending{};  // read, but not written yet
  bool at_end = false;    // `from` has no more data
  bool is_shut = false;   // `to` is shut down for writing

  short wants_from() const { return !at_end && pending.empty() ? POLLIN : 0; }
  short wants_to() const { return pending.empty() ? 0 : POLLOUT; }

  // Copies data that is available. Returns false if the connection is broken.
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

void copy_both_ways(const sys::Fd& outer, const sys::Fd& inner) {
  Direction in{outer, inner}, out{inner, outer};
  while (!in.is_shut || !out.is_shut) {
    std::array<pollfd, 2> watched = {{{outer.get(), static_cast<short>(in.wants_from() | out.wants_to()), 0},
                                      {inner.get(), static_cast<short>(out.wants_from() | in.wants_to()), 0}}};
    // poll() reports errors of a descriptor even with no events requested, which would make this a busy loop.
    for (pollfd& side : watched) {
      if (side.events == 0) side.fd = -1;
    }
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (!in.move() || !out.move()) return;
  }
}

// A connection with its own thread. Stopping the thread closes both sides.
class Connection {
 public:
  Connection(sys::Fd outer, bool leads_to_host) : outer_(std::move(outer)), leads_to_host_(leads_to_host) {}

  // May be called again after a failure. errors: unavailable: no descriptors or threads are available
  Result<> start(const std::string& address, int port) {
    if (!inner_.is_open()) inner_ = TRY(leads_to_host_ ? in_network_of_host(new_socket) : new_socket());
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
        ::shutdown(outer_.get(), SHUT_RDWR);
        ::shutdown(inner_.get(), SHUT_RDWR);
      });
      const sockaddr_in target = address_of(address, port);
      enable_keepalive(inner_);
      if (::connect(inner_.get(), reinterpret_cast<const sockaddr*>(&target), sizeof target) == 0) copy_both_ways(outer_, inner_);
    }
    outer_.reset();
    inner_.reset();
    over_.with_lock([](bool& over) { over = true; });
  }

  sys::Fd outer_, inner_;
  const bool leads_to_host_;
  Guarded<bool> over_{false};
  std::jthread thread_;
};

}  // namespace

Result<Forwarder> Forwarder::listen(const std::string& host_address, int host_port) {
  sys::Fd fd = TRY(in_network_of_host([&] { return listen_here(host_address, host_port); }));
  return Forwarder(std::move(fd), fmt::format("the forward of {}:{}", host_address, host_port), false);
}

Result<Forwarder> Forwarder::listen_for_machines(const std::string& address, int port) {
  sys::Fd fd = TRY(listen_here(address, port).context("the port of the host for machines"));
  return Forwarder(std::move(fd), fmt::format("the way of machines to port {} of the host", port), true);
}

bool Forwarder::is_free(const std::string& host_address, int host_port) {
  const Result<sys::Fd> listening = listen_here(host_address, host_port);
  return listening.ok() || listening.error().code() != Code::conflict;
}

Result<> Forwarder::run(const sys::Context& context, const std::function<std::string()>& address, int port) {
  const std::stop_callback wake(context.stop, [this] { ::shutdown(fd_.get(), SHUT_RDWR); });
  Shortage shortage(context, name_);
  std::list<Connection> connections;
  for (;;) {
    sys::Fd outer = TRY(accept_connection(context, shortage, fd_, headroom_of_forward));
    connections.remove_if([](const Connection& connection) { return connection.is_over(); });
    const std::string target = address();
    if (target.empty()) continue;
    Connection& connection = connections.emplace_back(std::move(outer), leads_to_host_);
    TRY(shortage.until_done([&] { return connection.start(target, port); }));
  }
}

}  // namespace slipway::provider::local
