// Commands over Unix sockets that accept one command per connection, like haproxy's stats socket.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "sys/fd.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace slipway::components {

// Sends a line and reads until the other side closes the connection.
//
//   path     a file; with "@" before it, a name in the abstract namespace of this network namespace. Every user may listen on
//            such a name, so a listener that runs neither as root nor as the user of this process is refused
//   errors   unavailable: nothing listens on the socket, or no answer within the limit; denied; invalid: the path is too long
//   threads  any; blocks
Result<std::string> send_socket_command(const std::string& path, std::string_view line, Milliseconds limit);

// The other side: answers commands on an abstract name until it is destroyed. Connections of users other than root and the user
// of this process are closed without an answer. One command is answered at a time; each has a second.
class SocketResponder {
 public:
  using Answer = std::function<std::string(std::string_view line)>;

  // name: "@slipway/x". answer: called on another thread. errors: conflict: the name is in use; invalid: it is too long
  static Result<std::unique_ptr<SocketResponder>> listen(const std::string& name, Answer answer);
  ~SocketResponder();

 private:
  SocketResponder(sys::Fd listener, Answer answer);
  void serve();

  sys::Fd listener_;
  Answer answer_;
  std::jthread thread_;
};

}  // namespace slipway::components
