// The HTTPS server that gives machines their Ignition configs, on the bootstrap machine and in the cluster. The protocol is that
// of openshift/machine-config-operator docs/MachineConfigServer.md, but a request also needs a token. A ConfigSource provides the
// configs: bootstrap.h, cluster.h. On the bootstrap machine it also serves operating system images: os_images.h.
#pragma once

#include "base/flags.h"
#include "base/guarded.h"
#include "base/secret.h"
#include "components/machine_config_server/os_images.h"
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

// The inputs of the config that the machines of a pool get.
struct PoolConfig {
  machineconfig::MachineConfig rendered;
  machineconfig::ControllerConfig controller;
  Secret kubeconfig;  // the credential that machines join with
  // Image mode: the image that the machines boot, by digest; empty: that of the config.
  std::string image{};
  bool is_image_served = false;  // by this server (os_images.h)
};

// Threads: any.
class ConfigSource {
 public:
  virtual ~ConfigSource() = default;

  // Returns the same object until something changes.
  //
  //   errors  unavailable: does not exist yet (retry); not_found: will not exist; others: invalid, or not served here
  virtual Result<std::shared_ptr<const PoolConfig>> find(const std::string& pool) = 0;
};

// The tokens in pointer configs. The token of the control plane gives access to every pool, the token of workers to all pools
// except those of the control plane. In clusters that were installed with a single token, both are equal.
struct PointerTokens {
  Secret control_plane;
  Secret worker;

  bool operator==(const PointerTokens&) const = default;
};

// Answers requests for configs, and for images if this server has them.
//
//   GET /config/POOL  200: the Ignition config; 400: unsupported version of Ignition; for errors of the source 503 (unavailable;
//                     Ignition retries), 404 (not_found; Ignition gives up) or 500 (others; Ignition retries)
//   GET /healthz      200
//   /v2/...           os_images.h
//   otherwise         404; 405 for methods other than GET and HEAD
//
// A client that does not send "Authorization: Bearer TOKEN" with a token of the pool gets 403. Refusals are logged and reported
// as events "config-request", at most once a second. The server closes the connection after each answer, so that unauthorized
// clients cannot hold one. It logs text of clients without control characters. Answers 503 have a Retry-After.
//
//   lifetime  context, source and images must outlive it
//   threads   any
class ConfigServer {
 public:
  // images: null if this server has none
  ConfigServer(const sys::Context& context, ConfigSource& source, PointerTokens tokens, const OsImages* images = nullptr);

  net::ServerAnswer answer(const net::ServerRequest& request);

 private:
  using Body = std::shared_ptr<const std::string>;
  struct Prepared {
    std::shared_ptr<const PoolConfig> from;
    std::map<ignition::Version, Body> bodies{};
  };
  struct Refusals {
    std::optional<SteadyTime> reported;  // when a refusal was last reported
    int unreported = 0;                  // refusals since then
  };

  net::ServerAnswer make_answer(const net::ServerRequest& request);
  net::ServerAnswer answer_image(const net::ServerRequest& request);
  bool is_allowed(const net::ServerRequest& request, std::string_view pool) const;
  void report_refusal(const net::ServerRequest& request);
  net::ServerAnswer answer_config(const net::ServerRequest& request, const std::string& pool);
  Result<std::optional<machineconfig::ConfigServerAccess>> access_for(const std::string& pool,
                                                                      const machineconfig::ControllerConfig& controller) const;
  std::optional<machineconfig::ServedImage> image_of(const PoolConfig& config,
                                                     const std::optional<machineconfig::ConfigServerAccess>& access) const;
  Result<Body> body(const std::string& pool, ignition::Version version);

  const sys::Context& context_;
  ConfigSource& source_;
  PointerTokens tokens_;
  const OsImages* images_;
  Guarded<std::map<std::string, Prepared>> prepared_;
  Guarded<Refusals> refusals_;
};

// The port in a flag. errors: invalid
Result<int> port_of(const Flags& flags, std::string_view flag);

// Listens on all addresses, also on a machine without IPv6. options.address is not used. errors: those of HttpServer::listen
Result<net::HttpServer> listen_everywhere(net::ServerOptions options, const net::HttpServer::Handler& handler);

// The flags of both commands:
//
//   --secure-port        HTTPS, on all addresses
//   --insecure-port      HTTP, only on 127.0.0.1, because configs contain secrets
//   --cert, --key        PEM files
//   --token-file         token of the control plane
//   --worker-token-file  token of workers; if the file does not exist, workers use the token of the control plane
//   --payload-version    ignored
std::vector<Flag> config_server_flags();

// Serves until a stop is requested, or until certificate, key or tokens have been renewed: the program then exits, and the
// kubelet starts it again. The files are checked once a minute.
//
//   source         provides the configs
//   images_folder  of OsImages; empty: no images are served
//   errors         invalid flags or files; not_found: no token; conflict: a port is in use
Result<> serve_configs(const Environment& environment, const Flags& flags, ConfigSource& source,
                       const std::string& images_folder = "");

}  // namespace slipway::components::machine_config_server
