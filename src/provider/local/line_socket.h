// Lines of text over stream sockets between processes of one host.
#pragma once

#include "provider/local/shortage.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/fd.h"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace slipway::provider::local {

// Threads: one sends, one receives.
class LineSocket {
 public:
  explicit LineSocket(sys::Fd fd) : fd_(std::move(fd)) {}

  // Connects to socket `name` in `folder`. The folder's path may be longer than the 107 bytes of a socket address.
  // errors: unavailable: there is no socket, or no process listens on it
  static Result<LineSocket> connect(const std::string& folder, const std::string& name);

  // Two connected sockets.
  static Result<std::pair<LineSocket, LineSocket>> pair();

  const sys::Fd& fd() const { return fd_; }

  // Appends the line end. errors: unavailable: the other end is closed
  Result<> send(std::string_view line);

  // The next line without its end; empty if the other end is closed. Blocks until there is a line or a stop.
  // errors: cancelled; invalid: a line of more than 64 MB
  Result<std::optional<std::string>> receive(std::stop_token stop);

 private:
  sys::Fd fd_;
  std::string read_;
};

// Threads: one.
class LineListener {
 public:
  // Replaces an existing socket, so the caller must hold a lock that excludes other listeners. Only the same user may connect
  // (mode 0600).
  static Result<LineListener> listen(const std::string& folder, const std::string& name);

  // The next connection. Waits if no descriptors are available. errors: cancelled; with the kernel's message: the socket cannot
  // be used
  Result<LineSocket> accept(const sys::Context& context, Shortage& shortage);

 private:
  explicit LineListener(sys::Fd fd) : fd_(std::move(fd)) {}

  sys::Fd fd_;
};

}  // namespace slipway::provider::local
