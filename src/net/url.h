// URLs of http and https, as far as slipway uses them.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::net {

// A parsed absolute URL. `target` is path and query as they go over the wire, "/" at least.
struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;    // lower case; an IPv6 address without brackets
  int port = 0;        // the scheme's own when the text has none
  std::string target = "/";

  bool operator==(const Url&) const = default;
};

// A fragment is dropped.
//
//   errors  invalid: another scheme, no host, a port out of range, characters that are not printable ASCII, user information
//           (credentials do not belong in a URL)
Result<Url> parse_url(std::string_view text);

// Text of a URL; the port only where it is not the scheme's own.
std::string to_string(const Url& url);

// "host:port" or "host", as in a Host header; IPv6 in brackets.
std::string authority(const Url& url);

// What a Location header means, seen from the URL that answered with it (RFC 3986 5; dot segments stay as they are).
// errors: as parse_url
Result<Url> resolve(const Url& base, std::string_view reference);

// Percent-encodes everything but unreserved characters (RFC 3986 2.3).
std::string percent_encode(std::string_view text);

// Whether a host is this machine: "localhost", 127.0.0.0/8, "::1".
bool is_loopback(std::string_view host);

}  // namespace slipway::net
