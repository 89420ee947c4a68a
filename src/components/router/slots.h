// Servers of haproxy and the places they take. A process has as many places as it began with, and is told over its socket who is
// in them; so pods come and go without another process. Pure. Commands: haproxy's management guide, "set server".
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

// The places of a service in a backend. One that is nothing is free.
using Slots = std::vector<std::optional<Server>>;

// Places of all backends of a process, by backend and place of the service in it.
using Layout = std::map<std::string, std::vector<Slots>, std::less<>>;

// Servers as they shall be, in the same order.
using Servers = std::map<std::string, std::vector<std::vector<Server>>, std::less<>>;

// "b0-s3": the fourth place of the first service.
std::string slot_name(std::size_t service, std::size_t slot);

// Places for a process that begins: the servers, and at least one that is free, for the pod that comes before another goes.
Layout first_layout(const Servers& servers);

struct SlotChange {
  Layout layout;                      // afterwards
  std::vector<std::string> commands;  // none: nothing differs
  bool is_all = true;                 // false: there are too few places or other backends; that takes another process
};

// What brings a running process from its layout to the servers, as far as it can; servers stay in their places.
SlotChange change_slots(const Layout& running, const Servers& servers);

// Whether haproxy did what a "set server" wanted, by its answer.
bool is_done(std::string_view answer);

}  // namespace slipway::components::router
