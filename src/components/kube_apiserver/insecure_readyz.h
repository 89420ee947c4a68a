// cluster-kube-apiserver-operator insecure-readyz: tells over plain HTTP whether the API server is ready, for load balancers that
// cannot ask over TLS.
#pragma once

#include "components/program/program.h"
#include "net/http_server.h"

namespace slipway::components::kube_apiserver {

// The answer of the API server, status and text, asked anew each time; 503 with the reason when there is none.
//   time  at most three seconds: load balancers give up then, too
net::ServerAnswer relay_readyz(net::Http& http, const net::Url& target, std::stop_token stop);

// Serves until a stop: /readyz, and nothing else.
Result<> run_insecure_readyz(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::kube_apiserver
