#include "net/resolve.h"

#include "net/interfaces.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

namespace slipway::net {

Result<Resolved> resolve_host(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;  // one entry for each address
  hints.ai_flags = AI_CANONNAME;
  addrinfo* list = nullptr;
  const int problem = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  Resolved found{.addresses = {}, .canonical_name = name};
  if (problem == EAI_NONAME || problem == EAI_NODATA) return found;
  if (problem != 0) return error(Code::unavailable, "resolving {}: {}", name, ::gai_strerror(problem));
  if (list->ai_canonname) found.canonical_name = list->ai_canonname;
  for (const addrinfo* each = list; each; each = each->ai_next) {
    const IpAddress address = TRY(ip_of_socket_address(each->ai_addr));
    if (std::find(found.addresses.begin(), found.addresses.end(), address) == found.addresses.end()) {
      found.addresses.push_back(address);
    }
  }
  return found;
}

}  // namespace slipway::net
