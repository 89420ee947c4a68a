// The servers of the haproxy of a master. Its configuration has slots for them, which commands fill in. Formats: haproxy's
// management guide, "show servers state" (version 1) and "set server".
#pragma once

#include "base/result.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::runtimecfg {

// The backend with the slots, as in haproxy.cfg.
inline constexpr std::string_view proxy_backend = "masters";

// A slot for a server in haproxy.
struct ProxySlot {
  std::string name;         // "master1"
  std::string address;      // "10.0.0.10"
  bool is_enabled = false;  // haproxy uses and checks it
  bool is_up = false;       // its last check succeeded

  bool operator==(const ProxySlot&) const = default;
};

// Parses the answer to "show servers state". errors: invalid: no servers, or an unknown format
Result<std::vector<ProxySlot>> parse_proxy_slots(std::string_view text);

// The commands that make the enabled slots equal to the addresses. An address without a free slot has to wait for the next
// update.
// Pure.
std::vector<std::string> slot_commands(const std::vector<ProxySlot>& slots, const std::set<std::string>& addresses);

}  // namespace slipway::components::runtimecfg
