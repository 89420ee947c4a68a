// Checks of the outside during the bootstrap: whether etcd serves, and whether the names of the API resolve.
#pragma once

#include "base/result.h"
#include "net/http.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <functional>
#include <string>
#include <string_view>

namespace slipway::bootstrap {

// Waits until the etcd of this machine runs. It does not need a leader yet: an API server that starts now connects when etcd has
// one. An API server that cannot connect at all retries with growing pauses.
//
//   errors, time  as of wait_for_etcd
Result<> wait_for_etcd_process(const sys::Context& context, sys::Files& files, net::Http& http, const std::string& assets);

// Waits until the etcd of this machine reports that it is healthy. Uses the client certificate of its render.
//
//   errors  timeout; not_found: tls/etcd-* do not exist
//   time    up to 20 minutes; the first check is immediate
Result<> wait_for_etcd(const sys::Context& context, sys::Files& files, net::Http& http, const std::string& assets);

// A check whose failure is reported (event "check", a warning) and stops nothing. A success creates ASSETS/MARKER.done.
struct Check {
  std::string stage;   // "resolve-api-url"
  std::string marker;  // "api-dns-resolved"
};
Result<> run_check(const sys::Context& context, sys::Files& files, const std::string& assets, const Check& check,
                   const std::function<Result<>()>& probe);

// The host of the server in a kubeconfig below the assets: auth/kubeconfig has the name for users, auth/kubeconfig-kubelet the
// name for machines.
Result<std::string> api_host(sys::Files& files, const std::string& assets, const std::string& kubeconfig);

// errors: unavailable: the name has no address
Result<> resolve(const sys::Context& context, sys::Runner& runner, const std::string& host);

// GET https://HOST:6443/readyz, without authentication. errors: unavailable: no answer, or a status other than 200
Result<> ask_readyz(const sys::Context& context, net::Http& http, const std::string& host);

}  // namespace slipway::bootstrap
