// `cloud-credential-operator operator`: reports missing credentials and unsupported modes. This release creates no credentials:
// users create them (mode Manual), or none are needed.
#pragma once

#include "components/render/manifest.h"
#include "components/workload/workload_operator.h"

#include <optional>
#include <vector>

namespace slipway::components::cloud_credential {

// The Secrets that CredentialsRequests name, each once.
std::vector<ObjectName> wanted_secrets(const Snapshot& seen);

// Whether a Secret exists, as an object for the view. No API server has this type, and the object has no content of the Secret.
// exists: nothing when this operator has no permission to read the Secret
Json secret_fact(const ObjectName& name, std::optional<bool> exists);

// The CRD of CredentialsRequests, settings if they do not exist, and conditions. errors: internal
Result<DesiredState> plan_credentials_operator(const Snapshot& seen);

// Checks whether the wanted Secrets exist: when CredentialsRequests change, and every five minutes while there are any. The
// operator
// can read Secrets only in namespaces where an administrator bound the ClusterRole openshift-cloud-credential-operator-secrets.
//
//   time    blocks until a stop is requested
//   errors  cancelled
Result<> observe_secrets(const sys::Context& context, kube::Api& api, View& view);

WorkloadOperator make_operator();

Result<> run_operator(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cloud_credential
