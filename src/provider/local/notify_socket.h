// The socket through which a machine's systemd-nspawn tells how it goes (sd_notify).
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

// Has a name in the network namespace instead of a file, so that nothing is left of it and its length does not matter.
// Threads: messages are told on a thread of its own, until the object dies.
class NotifySocket {
 public:
  using Told = std::function<void(const std::string& message)>;

  static Result<NotifySocket> open(std::string_view name, Told told);

  // For NOTIFY_SOCKET.
  const std::string& address() const { return address_; }

 private:
  NotifySocket(std::string address, std::jthread thread) : address_(std::move(address)), thread_(std::move(thread)) {}

  std::string address_;
  std::jthread thread_;
};

}  // namespace slipway::provider::local
