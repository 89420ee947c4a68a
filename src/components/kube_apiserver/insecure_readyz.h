// cluster-kube-apiserver-operator insecure-readyz: serves the readiness of the API server over plain HTTP, for load balancers
// that
// do not support health checks over TLS.
#pragma once

#include "components/program/program.h"
#include "net/http_server.h"

namespace slipway::components::kube_apiserver {

// Requests the readiness of the API server and returns its status and text; 503 with the reason when it does not answer.
//
//   time  at most three seconds, the usual limit of load balancers
net::ServerAnswer relay_readyz(net::Http& http, const net::Url& target, std::stop_token stop);

// The command. Serves only /readyz, until a stop is requested.
Result<> run_insecure_readyz(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::kube_apiserver
