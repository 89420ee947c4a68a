// How a virtual IP leaves a machine on purpose. A connection cannot move with its address, so calls that are under way have to
// end before, and new connections have to wait for the machine that takes over.
#pragma once

#include "base/json.h"
#include "net/environment.h"
#include "net/ip.h"

#include <functional>
#include <string>
#include <string_view>

namespace slipway::components::runtimecfg {

// A value for keepalived's priority with which this machine gives the address to any other machine that may have it. Lower values
// than -253 would take the address away even if there is no other machine.
constexpr int lowest_priority_change = -100;

// Writes the value that keepalived adds to its priority. Returns whether the file had another value. keepalived also writes the
// file when it starts. errors: those of Files
Result<bool> write_priority_change(sys::Files& files, const std::string& track_file, int change);

// The script of nft that drops packets which open connections to the address, for two seconds at most. Each name has its own
// table. Pure.
std::string leaving_rules(std::string_view name, const net::IpAddress& address);

// The script that removes the table of leaving_rules. It succeeds without the table, too. Pure.
std::string no_leaving_rules(std::string_view name, const net::IpAddress& address);

// The name of a Departure, its address, and the file that keepalived reads.
struct Departing {
  std::string name;  // "API", "ingress"
  net::IpAddress address;
  int router_id = 0;  // of VRRP
  std::string track_file;
};

// Threads: one.
class Departure {
 public:
  struct Parts {
    std::string name;
    std::string track_file;
    std::function<Result<bool>()> holds_address;
    std::function<Result<>(const sys::Context& context, bool drop)> drop_new_connections;
    std::function<Result<>()> say_farewell;  // other machines take over without waiting for three missing advertisements
  };
  Departure(sys::Files& files, Parts parts);

  // Accepts connections again, which an earlier monitor may have stopped.
  void begin(const sys::Context& context);

  // Lowers the priority if it is higher, and gives the address away if this machine holds it:
  //
  //   0.0 s  packets that open connections are dropped. The priority is lower from now on
  //   0.5 s  calls that were under way have ended. The other machines are told to take over
  //   0.7 s  one of them has the address (1.0 s: none does, and this machine keeps it)
  //
  // Connections are accepted again at the end. All together is less than the second after which clients repeat their first
  // packet.
  //
  //   change  value for the priority; see write_priority_change
  //   time    1 s at most, also after a stop request, 0 if this machine does not hold the address
  //   errors  those of the files. If another part fails, a warning is logged and the address leaves all the same
  Result<> leave(const sys::Context& context, int change);

 private:
  sys::Files& files_;
  const Parts parts_;
};

// With nft, VRRP and the interfaces of this machine.
//
//   addresses  output of `ip -json address`
//   errors     not_found: no interface is in the network of the address
Result<Departure> make_departure(const net::Environment& environment, const Departing& departing, const Json& addresses);

}  // namespace slipway::components::runtimecfg
