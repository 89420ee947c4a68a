// Assigns servers to the slots of a haproxy process. The number of slots is fixed when a process starts; commands on its socket
// change the servers in them. Pods can therefore start and end without a new process. Pure. Source of the commands: haproxy's
// management guide, "set server".
#pragma once

#include "components/router/endpoints.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::router {

struct Server {
  Endpoint endpoint;
  int weight = 1;  // 0 to 256

  bool operator==(const Server&) const = default;
};

// The slots of a service in a backend; nothing: the slot is free.
using Slots = std::vector<std::optional<Server>>;

// The slots of all backends of a process: by backend, then by index of the service.
using Layout = std::map<std::string, std::vector<Slots>, std::less<>>;

// The desired servers, in the same order.
using Servers = std::map<std::string, std::vector<std::vector<Server>>, std::less<>>;

// "b0-s3": the fourth slot of the first service.
std::string slot_name(std::size_t service, std::size_t slot);

// The slots for a new process: all servers and at least one free slot, so that a new pod can start before an old one ends.
Layout first_layout(const Servers& servers);

struct SlotChange {
  Layout layout;                      // afterwards
  std::vector<std::string> commands;  // empty: nothing differs
  bool is_all = true;                 // false: too few slots or other backends, so a new process is required
};

// The commands that bring a running process from its layout to the servers, as far as possible. Servers keep their slots.
SlotChange change_slots(const Layout& running, const Servers& servers);

// Whether haproxy's answer says that it executed all "set server" commands.
bool is_done(std::string_view answer);

}  // namespace slipway::components::router
