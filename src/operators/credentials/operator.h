// `cloud-credential-operator operator` of a release that makes no credentials: clusters bring theirs (mode Manual) or need none.
// It says which ones are missing, and that other modes do not work (operators 4.10).
#pragma once

#include "operators/lib/manifest.h"
#include "operators/lib/workload_operator.h"

#include <vector>

namespace slipway::operators {

// The Secrets that CredentialsRequests ask for, each once.
std::vector<ObjectName> wanted_secrets(const Snapshot& seen);

// What the observer found out about one of them, as a fact in the view: no server has such objects, and nothing of the Secret's
// content is in it.
Json secret_fact(const ObjectName& name, bool exists);

// The definition of CredentialsRequests, settings where there are none, and what is to be said. errors: internal
Result<Aim> plan_credentials_operator(const Snapshot& seen);

// Asks for the wanted Secrets whenever requests change, and every five minutes while there are any. Blocks until a stop.
// errors: cancelled; denied
Result<> observe_secrets(const sys::Context& context, kube::Api& api, View& view);

Result<> run_credentials_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators
