// ServiceClient: signed requests of this host to the service of the assisted installation.
#pragma once

#include "agent/identity.h"
#include "base/guarded.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "net/environment.h"

#include <string>
#include <vector>

namespace slipway::agent {

struct ServiceOptions {
  std::string url;  // "https://192.168.1.1:8090", without a slash at the end
  std::string infra_env_id;
  std::string ca_file{};  // PEM; empty: the system's authorities
  Secret token{};         // of the discovery environment; empty for a service without authentication
};

// Every request has the token (X-Secret-Key) and the signature of the host's key (X-Host-Signature). Plain HTTP is refused,
// except to loopback, because answers contain secrets of the cluster.
//
//   errors   of all requests: unavailable (no connection, 408, 429, 5xx), denied (401, 403, a certificate that is not trusted),
//            not_found (404), conflict (409), invalid (other answers); the message has the service's reason
//   threads  any
class ServiceClient {
 public:
  ServiceClient(const net::Environment& environment, ServiceOptions options, Identity identity);

  const ServiceOptions& options() const { return options_; }
  Identity identity() const;
  void set_identity(Identity identity);
  void set_token(Secret token);

  // "/v2/infra-envs/ID/hosts/ID"
  std::string host_path() const;

  // path  below /api/assisted-install, with a query: "/v2/clusters/ID/hosts"
  Result<net::Answer> send(const sys::Context& context, const std::string& method, const std::string& path, std::string body = "",
                           std::vector<net::Header> headers = {}) const;
  Result<net::Answer> send_json(const sys::Context& context, const std::string& method, const std::string& path,
                                const Json& body) const;

  // The next two repeat a request until the service answers, with pauses from 0.5 s to a minute. `denied` is repeated, too: the
  // conversation (agent.h) registers again when a token has ended. errors: conflict, not_found, invalid, cancelled
  Result<net::Answer> deliver(const sys::Context& context, const std::string& method, const std::string& path,
                              const Json& body) const;
  Result<net::Answer> fetch(const sys::Context& context, const std::string& path) const;

 private:
  struct Credentials {
    Identity identity;
    Secret token;
  };

  const net::Environment& environment_;
  const ServiceOptions options_;
  Guarded<Credentials> credentials_;
};

// Whether the service refused a registration because a connected machine has the same host ID.
bool is_id_in_use(const net::Answer& answer);

}  // namespace slipway::agent
