// Resolves host names with the resolver of this machine: /etc/hosts and the servers of /etc/resolv.conf.
#pragma once

#include "base/result.h"
#include "net/ip.h"

#include <string>
#include <vector>

namespace slipway::net {

struct Resolved {
  std::vector<IpAddress> addresses;  // of both families, without repetitions
  std::string canonical_name;        // the name at the end of a chain of CNAMEs; the name itself if there is none

  bool operator==(const Resolved&) const = default;
};

// A name that does not exist or has no address gives no addresses.
//
//   errors  unavailable: the servers do not answer, or answer with a failure
//   time    the time limits of resolv.conf, 20 s by default; it cannot be stopped
Result<Resolved> resolve_host(const std::string& name);

}  // namespace slipway::net
