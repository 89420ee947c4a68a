// The server that gives machines their config, on the bootstrap machine and in the cluster. The protocol is that of
// openshift/machine-config-operator docs/MachineConfigServer.md; here a request also needs a token. Where configs come from is a
// ConfigSource: server_bootstrap.h, server_cluster.h.
#pragma once

#include "base/flags.h"
#include "base/guarded.h"
#include "base/secret.h"
#include "components/program/program.h"
#include "ignition/types.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/served_config.h"
#include "machineconfig/types.h"
#include "net/http_server.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_server {

// All that the config of a pool's machines is made of.
struct PoolConfig {
  machineconfig::MachineConfig rendered;
  machineconfig::ControllerConfig controller;
  Secret kubeconfig;  // the credential that machines join with
};

// Threads: any.
class ConfigSource {
 public:
  virtual ~ConfigSource() = default;

  // The same object as long as nothing changed.
  //
  //   errors  unavailable: not there yet, ask again; not_found: will not come; all others: not from here, or broken
  virtual Result<std::shared_ptr<const PoolConfig>> find(const std::string& pool) = 0;
};

// What pointer configs carry. The one of the control plane opens every pool, the one of workers all but those of the control
// plane. Clusters that were installed before there were two have the same in both.
struct PointerTokens {
  Secret control_plane;
  Secret worker;

  bool operator==(const PointerTokens&) const = default;
};

// Whether the machines of a pool are of the control plane: their configs and credentials are for them alone.
bool is_control_plane_pool(std::string_view pool);

// Answers requests for configs.
//
//   GET /config/POOL  200 the Ignition config, 400 for a version of Ignition that we do not write; 503 (Ignition asks again), 404
//                     (it gives up) and 500 (it asks again) as the source says unavailable, not_found and anything else
//   GET /healthz      200
//   otherwise         404; 405 for methods other than GET and HEAD
//
// A client that does not send "Authorization: Bearer TOKEN" with a token of the pool gets 403, is logged and reported as an event
// "config-request", once a second at most. Each answer ends its connection, so that strangers cannot hold one. What clients send
// is logged without control characters.
//
// Lifetime: context and source outlive it. Threads: any.
class ConfigServer {
 public:
  ConfigServer(const sys::Context& context, ConfigSource& source, PointerTokens tokens);

  net::ServerAnswer answer(const net::ServerRequest& request);

 private:
  using Body = std::shared_ptr<const std::string>;
  struct Prepared {
    std::shared_ptr<const PoolConfig> from;
    std::map<ignition::Version, Body> bodies{};
  };
  struct Refusals {
    std::optional<SteadyTime> told;
    int since = 0;  // that were not told
  };

  net::ServerAnswer make_answer(const net::ServerRequest& request);
  bool is_allowed(const net::ServerRequest& request, std::string_view pool) const;
  void tell_refusal(const net::ServerRequest& request);
  net::ServerAnswer answer_config(const net::ServerRequest& request, const std::string& pool);
  Result<std::optional<machineconfig::ConfigServerAccess>> access_for(const std::string& pool,
                                                                      const machineconfig::ControllerConfig& controller) const;
  Result<Body> body(const std::string& pool, ignition::Version version);

  const sys::Context& context_;
  ConfigSource& source_;
  PointerTokens tokens_;
  Guarded<std::map<std::string, Prepared>> prepared_;
  Guarded<Refusals> refusals_;
};

// What both commands have in common: --secure-port on all addresses; --insecure-port on 127.0.0.1 only, for it has no TLS, and
// what it serves are secrets; --cert, --key, --token-file, --worker-token-file (no such file: the other one is for workers, too),
// --payload-version, which changes nothing.
std::vector<Flag> config_server_flags();

// Serves until a stop, or until certificate, key or token are other files than at the start, as they are after a renewal: the
// program is then started again by whoever keeps it. Looked at once a minute.
//
//   source  answers the requests
//   errors  of the flags and their files, as not_found: there is no token; conflict: a port is taken
Result<> serve_configs(const Environment& environment, const Flags& flags, ConfigSource& source);

}  // namespace slipway::components::machine_config_server
