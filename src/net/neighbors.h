// Asks the machines of a link for their addresses: ARP (RFC 826) and IPv6 neighbor discovery (RFC 4861), over packet sockets.
#pragma once

#include "base/result.h"
#include "net/ip.h"
#include "sys/context.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::net {

using MacAddress = std::array<std::uint8_t, 6>;

// "52:54:00:12:34:56", in any case. errors: invalid
Result<MacAddress> parse_mac(std::string_view text);
std::string to_string(const MacAddress& mac);  // lower case

// The Ethernet frame that asks all machines of a link who has `target`.
//
//   own  an address of the sender, of the same family; nothing: the sender is without one, as in the search for duplicate
//   addresses
//        (RFC 5227, RFC 4862). Machines do not record the sender then
std::string neighbor_question(const MacAddress& mac, const std::optional<IpAddress>& own, const IpAddress& target);

struct NeighborAnswer {
  IpAddress address;
  MacAddress mac{};

  bool operator==(const NeighborAnswer&) const = default;
};

// The ARP reply or neighbor advertisement in an Ethernet frame; nothing for every other frame. Pure.
std::optional<NeighborAnswer> parse_neighbor_answer(std::string_view frame);

struct NeighborQuestions {
  std::string interface;
  MacAddress mac{};                   // of the interface
  std::optional<IpAddress> own_v4{};  // see neighbor_question
  std::optional<IpAddress> own_v6{};
  std::vector<IpAddress> targets{};  // of both families
  int attempts = 3;                  // questions for each address; one that is answered is still asked, to find a second machine
  Milliseconds interval{500};        // between two attempts, and for the last answers
};

using MacsByAddress = std::map<IpAddress, std::set<std::string>>;

// The MAC addresses of all machines that answer for each address; addresses without an answer are missing. The addresses of this
// machine are missing too, unless another machine has one of them.
//
//   errors  denied: not root (CAP_NET_RAW); not_found: no such interface; unavailable: the interface is down; cancelled
//   time    attempts * interval, and 10 ms for every hundred addresses
Result<MacsByAddress> ask_neighbors(const sys::Context& context, const NeighborQuestions& questions);

}  // namespace slipway::net
