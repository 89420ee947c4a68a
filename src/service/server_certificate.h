// The certificate of the service, in its state folder: an authority that hosts trust, and a certificate of the server.
#pragma once

#include "net/environment.h"
#include "net/http_server.h"
#include "net/x509.h"

#include <string>
#include <vector>

namespace slipway::service {

struct ServerCertificate {
  std::string authority;  // PEM, without its key
  net::ServerTls tls;
};

// Makes what is missing. The server's certificate is made again if it does not have the names, or has less than half of its year
// left; the authority lives for ten years.
//
//   names   addresses and DNS names by which clients reach the service
//   errors  those of Files; invalid: files that somebody changed
Result<ServerCertificate> ensure_certificate(const net::Environment& environment, const std::string& folder,
                                             const std::vector<std::string>& names);

// A new authority, and a certificate of a server that it signs. errors: internal; invalid
Result<net::Certificate> make_authority(sys::Random& random, WallTime now);
Result<net::Certificate> make_server_certificate(const net::Certificate& authority, const std::vector<std::string>& names,
                                                 sys::Random& random, WallTime now);

}  // namespace slipway::service
