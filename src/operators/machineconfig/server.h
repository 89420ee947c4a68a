// `machine-config-server bootstrap`: gives masters their configs while the cluster is not there yet (machine-config A.6, E.4;
// operators 4.8.3).
#pragma once

#include "base/guarded.h"
#include "base/secret.h"
#include "ignition/types.h"
#include "net/http_server.h"
#include "operators/lib/program.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::operators {

// Answers requests for configs from what `machine-config-controller bootstrap` rendered, also when that comes later.
//
//   GET /config/master  200 the Ignition config, 503 as long as nothing is rendered (Ignition asks again), 404 when pools are
//                       there but this one or its config is not, 400 for a version of Ignition that we do not write
//   GET /config/worker  500: workers wait for the cluster
//   GET /healthz        200
//   otherwise           404; 405 for methods other than GET and HEAD
//
// With a token, who does not send it as "Authorization: Bearer TOKEN" gets 403 for every config, is logged and told as an event
// "config-request", once a second at most.
//
// Lifetime: context and files outlive it. Threads: any.
class ConfigServer {
 public:
  struct Options {
    std::string base_folder;
    std::string kubeconfig_file;    // the credential that machines join with
    std::optional<Secret> token{};  // none: everybody is answered
  };

  ConfigServer(const sys::Context& context, sys::Files& files, Options options);

  net::ServerAnswer answer(const net::ServerRequest& request);

 private:
  // What a config is made of, as the files have it. Files are small and read for each request, so that nothing has to watch them.
  struct Sources {
    std::string pool, controller, kubeconfig;
    bool operator==(const Sources&) const = default;
  };
  struct Prepared {
    Sources sources;
    std::map<ignition::Version, std::shared_ptr<const std::string>> bodies;
  };
  struct Refusals {
    std::optional<SteadyTime> told;
    int since = 0;  // that were not told
  };

  bool is_allowed(const net::ServerRequest& request) const;
  void tell_refusal(const net::ServerRequest& request);
  net::ServerAnswer answer_config(const net::ServerRequest& request, const std::string& pool);
  Result<Sources> read_sources(const std::string& pool);
  Result<std::shared_ptr<const std::string>> prepare(const Sources& sources, ignition::Version version);
  Result<std::shared_ptr<const std::string>> body(const std::string& pool, ignition::Version version);

  const sys::Context& context_;
  sys::Files& files_;
  Options options_;
  Guarded<std::map<std::string, Prepared>> prepared_;
  Guarded<Refusals> refusals_;
};

// The command. Flags: --server-basedir, --bootstrap-kubeconfig, --cert, --key, --token-file (no such file: no token),
// --secure-port on all addresses, --insecure-port on 127.0.0.1 only: it has no TLS, and what it serves are secrets.
Result<> run_machine_config_server_bootstrap(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators
