// The socket on which a machine's systemd-nspawn reports its status (sd_notify).
#pragma once

#include "base/result.h"
#include "sys/fd.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace slipway::provider::local {

// An abstract socket: its name belongs to the network namespace, so no file remains, and the length of paths does not matter.
// Threads: the handler is called on the socket's own thread, until the object is destroyed.
class NotifySocket {
 public:
  using Handler = std::function<void(const std::string& message)>;

  static Result<NotifySocket> open(std::string_view name, Handler handler);

  // For NOTIFY_SOCKET.
  const std::string& address() const { return address_; }

 private:
  NotifySocket(std::string address, std::jthread thread) : address_(std::move(address)), thread_(std::move(thread)) {}

  std::string address_;
  std::jthread thread_;
};

}  // namespace slipway::provider::local
