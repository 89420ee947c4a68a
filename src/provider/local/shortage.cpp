#include "provider/local/shortage.h"

#include "base/text.h"
#include "sys/wait_for.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

namespace slipway::provider::local {

namespace {

// Short enough for a waiting user, long enough to use little processor time.
constexpr Milliseconds pause_between = Milliseconds(200);

// Descriptors of connections must be below this number.
int highest_descriptor(int headroom) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const auto most = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 30));
  return most - std::min(headroom, most / 4);
}

// Errors of accept() about a single connection, not about the listening socket.
bool is_of_the_connection(int number) {
  return number == EINTR || number == ECONNABORTED || number == EPROTO || number == ENETDOWN || number == ENETUNREACH ||
         number == EHOSTUNREACH;
}

bool is_shortage(int number) { return number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM; }

}  // namespace

Result<> Shortage::until_done(const std::function<Result<>()>& attempt) {
  for (;;) {
    const Result<> done = attempt();
    if (done.ok()) {
      over();
      return Ok{};
    }
    if (done.error().code() != Code::unavailable) return done;
    begin(done.error());
    if (!sys::pause(context_, pause_between)) return error(Code::cancelled, "stopped");
  }
}

void Shortage::begin(const Error& why) {
  if (since_) return;
  since_ = context_.clock.steady();
  context_.log.warn("{}: {}; waiting until the shortage is over", what_, why.message());
  context_.events.emit({.kind = "shortage", .name = what_, .phase = sys::Phase::failed, .error = why});
}

void Shortage::over() {
  if (!since_) return;
  const auto took = std::chrono::duration_cast<Milliseconds>(context_.clock.steady() - *since_);
  since_.reset();
  context_.log.info("{}: continues after {}", what_, human_duration(took));
  context_.events.emit({.kind = "shortage", .name = what_, .phase = sys::Phase::finished, .duration = took});
}

Result<sys::Fd> accept_connection(const sys::Context& context, Shortage& shortage, const sys::Fd& listener, int headroom) {
  sys::Fd connection;
  TRY(shortage.until_done([&]() -> Result<> {
    while (!connection.is_open()) {
      connection = sys::Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      const int reason = errno;
      if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
      if (connection.is_open() || is_of_the_connection(reason)) continue;
      if (is_shortage(reason)) return error(Code::unavailable, "accepting a connection: {}", std::strerror(reason));
      return sys::system_error("accepting a connection", reason);
    }
    const int highest = highest_descriptor(headroom);
    if (connection.get() < highest) return Ok{};
    // Lower descriptors may be free now; F_DUPFD returns the lowest one.
    sys::Fd lower(::fcntl(connection.get(), F_DUPFD_CLOEXEC, 0));
    if (!lower.is_open() || lower.get() >= highest)
      return error(Code::unavailable, "accepting a connection: {} file descriptors are open, the rest are reserved", highest);
    connection = std::move(lower);
    return Ok{};
  }));
  return connection;
}

}  // namespace slipway::provider::local
