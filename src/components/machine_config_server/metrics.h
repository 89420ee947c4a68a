// The metrics of the operators of this master, for Prometheus. This program serves them because it runs on each master and is a
// server anyway (docs/metrics.md).
#pragma once

#include "base/flags.h"
#include "components/program/program.h"
#include "kube/client.h"
#include "net/http_server.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::components::machine_config_server {

// Whether the user of a token may read the path /metrics. Asks the API server twice: who it is (TokenReview) and what the user
// may do (SubjectAccessReview).
//
//   returns  401: the API server does not know the token; 403: the user has no role that allows it; 200
//   errors   those of the API
Result<int> review_token(const sys::Context& context, kube::Api& api, const Secret& token);

// The answer to a request.
//
//   review   as review_token; not called without a token
//   collect  the document
net::ServerAnswer answer_metrics(const net::ServerRequest& request, const std::function<Result<int>(const Secret& token)>& review,
                                 const std::function<std::string()>& collect);

// The flags of serve_metrics:
//
//   --metrics-port               HTTPS, on all addresses
//   --metrics-cert, --metrics-key  PEM files; there is no server while they do not exist. They are read again twice a minute
std::vector<Flag> metrics_flags();

// Serves until a stop. A server that cannot start is logged and tried again: this program has other work. errors: invalid: a flag
Result<> serve_metrics(const Environment& environment, const Flags& flags, kube::Api& api);

}  // namespace slipway::components::machine_config_server
