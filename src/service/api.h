// Api: the REST interface of assisted installations, below /api/assisted-install. Paths, fields, states and codes are those of
// OpenShift's assisted-service. routes.cpp is the table of all requests.
#pragma once

#include "net/environment.h"
#include "net/http_server.h"
#include "service/core.h"
#include "service/feed.h"
#include "service/images.h"

#include <string>

namespace slipway::service {

struct ApiOptions {
  bool authenticates = true;
  std::string url{};                // of the service, as hosts reach it
  std::string authority{};          // PEM of the service's certificate authority; empty: plain HTTP
  std::string openshift_version{};  // that is installed
  std::string release_image{};      // its image, which hosts try to pull; empty: not tried
  std::string logs{};               // folder for the logs of hosts
  std::string live_image{};         // file with the live image of the machine OS; empty: none
  bool is_on_bootstrap_host = false;  // the service ends when the host with the bootstrap restarts (rendezvous.h)
  // Of an agent-based installation: the install-config that the Ignition configs in the image were made from, without secrets.
  // The settings of the cluster cannot change then. nullopt: the Ignition configs are made from the settings.
  std::optional<std::string> prepared_install_config{};
  // Names of this server, if it asks for no token (web/page.h)
  std::vector<std::string> names{};
};

// Threads: any.
class Api {
 public:
  Api(net::Environment environment, Core& core, Feed& feed, ApiOptions options);

  net::ServerAnswer answer(const net::ServerRequest& request);

  // Larger for the logs of callers that may send them.
  std::size_t body_limit(const net::ServerRequest& head) const;

  // What the agent of a host is to do; nullopt if the host is gone.
  std::optional<assist::Steps> steps_of(const std::string& key) const;

  net::Environment environment;
  Core& core;
  Feed& feed;
  const ApiOptions options;
  const BaseImage base_image;
};

}  // namespace slipway::service
