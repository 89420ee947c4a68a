// Checks: what the bootstrap asks of the outside while it renders: whether etcd serves, whether the names of the API lead
// somewhere.
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

// Waits until the machine's etcd runs. It need not have a leader yet: an API server that starts now asks it when it does, while
// one that finds nobody there tries again later and later.
//
//   errors, time  as of wait_for_etcd
Result<> wait_for_etcd_process(const sys::Context& context, sys::Files& files, net::Http& http, const std::string& assets);

// Waits until the machine's etcd says that it is healthy, asked with the client certificate that its render made.
//
//   errors  timeout; not_found: tls/etcd-* are not there
//   time    up to 20 minutes, the first look at once
Result<> wait_for_etcd(const sys::Context& context, sys::Files& files, net::Http& http, const std::string& assets);

// A check whose failure is told (event "check", a warning) and stops nothing. A success leaves ASSETS/MARKER.done.
struct Check {
  std::string stage;   // "resolve-api-url"
  std::string marker;  // "api-dns-resolved"
};
Result<> run_check(const sys::Context& context, sys::Files& files, const std::string& assets, const Check& check,
                   const std::function<Result<>()>& look);

// Host of the server in a kubeconfig below the assets: of auth/kubeconfig the name for users, of auth/kubeconfig-kubelet the one
// for machines.
Result<std::string> api_host(sys::Files& files, const std::string& assets, const std::string& kubeconfig);

// errors: unavailable: the name has no address
Result<> resolve(const sys::Context& context, sys::Runner& runner, const std::string& host);

// GET https://HOST:6443/readyz, whoever answers. errors: unavailable: no answer, or another than 200
Result<> ask_readyz(const sys::Context& context, net::Http& http, const std::string& host);

}  // namespace slipway::bootstrap
