// URLs of http and https, in the extent that slipway uses.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::net {

// A parsed absolute URL. `target` is path and query in wire format, at least "/".
struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;    // lower case; an IPv6 address without brackets
  int port = 0;        // the scheme's default if the text has none
  std::string target = "/";

  bool operator==(const Url&) const = default;
};

// Drops the fragment.
//
//   errors  invalid: another scheme, no host, a port out of range, characters other than printable ASCII, user information
//           (credentials do not belong in a URL)
Result<Url> parse_url(std::string_view text);

// Formats a URL. Omits the scheme's default port.
std::string to_string(const Url& url);

// "host:port" or "host", as in a Host header. IPv6 addresses have brackets.
std::string authority(const Url& url);

// Resolves the Location header of an answer of `base` (RFC 3986 5; dot segments are not removed). errors: as parse_url
Result<Url> resolve(const Url& base, std::string_view reference);

// Percent-encodes all characters except unreserved ones (RFC 3986 2.3).
std::string percent_encode(std::string_view text);

// Whether a host is loopback: "localhost", 127.0.0.0/8, "::1".
bool is_loopback(std::string_view host);

}  // namespace slipway::net
