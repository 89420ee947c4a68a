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

  // `name` is a socket in `folder`, however long the folder's path is (the address of a socket holds 107 bytes).
  // errors: unavailable when nobody listens there or nothing is there
  static Result<LineSocket> connect(const std::string& folder, const std::string& name);

  // The two ends of a new one.
  static Result<std::pair<LineSocket, LineSocket>> pair();

  const sys::Fd& fd() const { return fd_; }

  // Adds the line end. errors: unavailable when the other end is gone
  Result<> send(std::string_view line);

  // The next line without its end; nothing when the other end is closed. Blocks until there is one or a stop.
  // errors: cancelled; invalid: a line of more than 64 MB
  Result<std::optional<std::string>> receive(std::stop_token stop);

 private:
  sys::Fd fd_;
  std::string read_;
};

// Threads: one.
class LineListener {
 public:
  // Replaces a socket that a dead process left: the caller holds a lock on what it stands for. Only we may connect (0600).
  static Result<LineListener> listen(const std::string& folder, const std::string& name);

  // The next connection; waits through a shortage. errors: cancelled; what the kernel says of a socket that cannot be used
  Result<LineSocket> accept(const sys::Context& context, Shortage& shortage);

 private:
  explicit LineListener(sys::Fd fd) : fd_(std::move(fd)) {}

  sys::Fd fd_;
};

}  // namespace slipway::provider::local
