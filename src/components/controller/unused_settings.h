// Settings of a cluster that have no effect in this release. One table names the fields that have one, so a field that nobody
// thought of is reported too. Pure.
#pragma once

#include "base/json.h"
#include "components/controller/view.h"
#include "kube/types.h"

#include <string>
#include <vector>

namespace slipway::components {

// Objects config.openshift.io/v1 `cluster`: settings of the cluster, which the config operator answers for. ImageMirrorSets and
// ClusterVersions are not among them: machine-config and the cluster-version operator report on theirs in their own status.
std::vector<kube::ResourceType> cluster_settings();

// Whether a value asks for anything: API servers and clients fill in empty objects, lists and texts.
bool asks_for_something(const Json* value);

// Paths of fields of spec that ask for something and have no effect: "spec.audit.profile". Empty for a type without a row.
std::vector<std::string> unused_settings(const kube::ResourceType& type, const Json& object);

// A line for each object of these types that has any: "APIServer cluster: spec.audit.profile, spec.encryption.type".
std::vector<std::string> unused_settings(const std::vector<kube::ResourceType>& types, const Snapshot& seen);

}  // namespace slipway::components
