// What answers machines that ask for their config, on the bootstrap machine and in the cluster (machine-config A.6, E.4;
// operators 4.8.3). Where configs come from is a ConfigSource: server_bootstrap.h, server_cluster.h.
#pragma once

#include "base/flags.h"
#include "base/guarded.h"
#include "base/secret.h"
#include "ignition/types.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/types.h"
#include "net/http_server.h"
#include "operators/lib/program.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::operators {

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

// Answers requests for configs.
//
//   GET /config/POOL  200 the Ignition config, 400 for a version of Ignition that we do not write; 503 (Ignition asks again), 404
//                     (it gives up) and 500 (it asks again) as the source says unavailable, not_found and anything else
//   GET /healthz      200
//   otherwise         404; 405 for methods other than GET and HEAD
//
// With a token, who does not send it as "Authorization: Bearer TOKEN" gets 403 for every config, is logged and told as an event
// "config-request", once a second at most.
//
// Lifetime: context and source outlive it. Threads: any.
class ConfigServer {
 public:
  // token: none: everybody is answered
  ConfigServer(const sys::Context& context, ConfigSource& source, std::optional<Secret> token);

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

  bool is_allowed(const net::ServerRequest& request) const;
  void tell_refusal(const net::ServerRequest& request);
  net::ServerAnswer answer_config(const net::ServerRequest& request, const std::string& pool);
  Result<Body> body(const std::string& pool, ignition::Version version);

  const sys::Context& context_;
  ConfigSource& source_;
  std::optional<Secret> token_;
  Guarded<std::map<std::string, Prepared>> prepared_;
  Guarded<Refusals> refusals_;
};

// What both commands have in common: --secure-port on all addresses; --insecure-port on 127.0.0.1 only, for it has no TLS, and
// what it serves are secrets; --cert, --key, --token-file (no such file: no token), --payload-version, which changes nothing.
std::vector<Flag> config_server_flags();

// Serves until a stop, or until certificate, key or token are other files than at the start, as they are after a renewal: the
// program is then started again by whoever keeps it. Looked at once a minute.
//
//   source  answers the requests
//   errors  of the flags and their files; conflict: a port is taken
Result<> serve_configs(const Environment& environment, const Flags& flags, ConfigSource& source);

}  // namespace slipway::operators
