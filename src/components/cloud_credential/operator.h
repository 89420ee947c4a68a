// `cloud-credential-operator operator` of a release that creates no credentials: users create them (mode Manual) or none are
// needed. It reports missing credentials, and modes that do not work.
#pragma once

#include "components/render/manifest.h"
#include "components/workload/workload_operator.h"

#include <optional>
#include <vector>

namespace slipway::components::cloud_credential {

// The Secrets that CredentialsRequests ask for, each once.
std::vector<ObjectName> wanted_secrets(const Snapshot& seen);

// What the observer found out about one of them, as a fact in the view: no server has such objects, and nothing of the Secret's
// content is in it. exists: nothing when this operator may not look
Json secret_fact(const ObjectName& name, std::optional<bool> exists);

// The definition of CredentialsRequests, settings where there are none, and what is to be said. errors: internal
Result<DesiredState> plan_credentials_operator(const Snapshot& seen);

// Asks for the wanted Secrets whenever requests change, and every five minutes while there are any. It may read those only in
// namespaces where an administrator bound the ClusterRole openshift-cloud-credential-operator-secrets. Blocks until a stop.
// errors: cancelled
Result<> observe_secrets(const sys::Context& context, kube::Api& api, View& view);

WorkloadOperator make_operator();

Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cloud_credential
