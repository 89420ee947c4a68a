// Machines and MachineSets of the Machine API, as openshift/installer pkg/asset/machines writes them. The caller provides the
// providerSpec.
#pragma once

#include "assets/assets.h"

#include <string>
#include <string_view>

namespace slipway::assets {

inline constexpr std::string_view machine_namespace = "openshift-machine-api";
inline constexpr std::string_view machine_api = "machine.openshift.io/v1beta1";

// The label of the cluster, and the labels of the cluster and a role.
JsonObject cluster_label(const ClusterId& id);
JsonObject role_labels(const ClusterId& id, std::string_view role);

// {lifecycleHooks, metadata, providerSpec}, the spec of a Machine and of a MachineSet's template.
JsonObject machine_spec(Json provider);

// "demo-x7k2p-worker-0"
std::string machine_name(const ClusterId& id, std::string_view role, std::size_t i);

JsonObject machine(const ClusterId& id, std::string_view role, const std::string& name, Json provider);

// labels: of the MachineSet. Its machines always have role_labels().
JsonObject machine_set(const ClusterId& id, std::string_view role, const std::string& name, JsonObject labels, int replicas,
                       Json provider);

// The file with the ControlPlaneMachineSet, whose machines are in `failure_domains`.
//
//   failure_domains  with the platform's list of them and its name: {"aws": [...], "platform": "AWS"}; empty: left out
//   provider         without the fields that a failure domain fills in
AssetFile control_plane_machine_set(const ClusterId& id, int replicas, JsonObject failure_domains, Json provider);

// Adds a file for each object: "openshift/99_openshift-cluster-api_WHAT-0.yaml" and so on.
void put_numbered(AssetFiles& files, std::string_view what, const JsonArray& objects);

}  // namespace slipway::assets
