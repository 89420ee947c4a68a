// Challenges: the authentication that a server requests with status 401 (RFC 9110 11.6.1). Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::release {

struct Challenge {
  std::string scheme;                             // "basic", "bearer", in lower case
  std::map<std::string, std::string> parameters;  // names in lower case: realm, service, scope

  bool operator==(const Challenge&) const = default;

  std::string parameter(const std::string& name) const;  // empty if missing
};

// Parses the value of a WWW-Authenticate header:
//
//   Bearer realm="https://auth.example/token",service="registry",scope="repository:a/b:pull,push", Basic realm="x"
//
// Never fails: malformed parts are skipped. A server without a usable challenge has denied access.
std::vector<Challenge> parse_challenges(std::string_view header);

}  // namespace slipway::release
