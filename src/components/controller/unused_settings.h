// Settings of a cluster that have no effect in this release. One table lists the fields that have an effect, so that a field that
// the table does not know is reported too. Pure.
#pragma once

#include "base/json.h"
#include "components/controller/view.h"
#include "kube/types.h"

#include <string>
#include <vector>

namespace slipway::components {

// Types of the config.openshift.io/v1 objects `cluster` that the config operator reports on. ImageMirrorSets and ClusterVersions
// are not included: machine-config and the cluster-version operator report on them in their own status.
std::vector<kube::ResourceType> cluster_settings();

// Whether a value is set to something. API servers and clients add empty objects, lists and texts.
bool asks_for_something(const Json* value);

// Paths of set fields of spec without effect: "spec.audit.profile". Empty for a type without a row in the table.
std::vector<std::string> unused_settings(const kube::ResourceType& type, const Json& object);

// One line for each object that has such fields: "APIServer cluster: spec.audit.profile, spec.encryption.type".
std::vector<std::string> unused_settings(const std::vector<kube::ResourceType>& types, const Snapshot& seen);

}  // namespace slipway::components
