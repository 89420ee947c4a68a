// The certificate of the service, in its state folder: an authority that hosts trust, and a certificate of the server.
#pragma once

#include "net/environment.h"
#include "net/http_server.h"

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

}  // namespace slipway::service
