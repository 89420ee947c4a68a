// Plans what the cluster-version operator does with each manifest of the release.
#pragma once

#include "components/cluster_version/gates.h"
#include "components/render/inputs.h"
#include "components/render/manifest_filter.h"
#include "kube/ensure.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::cluster_version {

struct ApplyPlan {
  std::vector<kube::Manifest> apply;   // reconciled; ClusterOperators are first, so that all operators can report early
  std::vector<kube::Manifest> create;  // created once; administrators may change them afterwards
  std::vector<kube::Manifest> remove;  // objects of earlier releases
  std::vector<Gate> gates;             // what has to be ready after the manifests are applied
  int overridden = 0;                  // number of manifests that spec.overrides excludes

  std::size_t size() const { return apply.size() + create.size() + remove.size(); }
};

// Pure.
//
//   cluster_version  spec.overrides names objects that the operator must not manage
//   api_host         host of the API server for pods on the host's network; replaces KUBERNETES_SERVICE_HOST of containers;
//                    nothing: the value stays
ApplyPlan plan_apply(const std::vector<Manifest>& manifests, const ManifestFilter& filter, const Json& cluster_version,
                     const std::optional<std::string>& api_host = {});

// Splits the plan into run levels, the lowest first. Pure.
std::vector<ApplyPlan> by_run_level(ApplyPlan plan);

// Splits the plan into two steps for a new cluster. Pure.
//
// Deployments and DaemonSets of run levels after the control plane are in the second step, which begins when the control plane is
// available: the handover does not need them, and they would take resources from it. All other objects are in the first step,
// because the bootstrap machine waits for some of them. The machine-config operator is in the first step, because workers boot
// with the configs that it serves. Removals are last: a new cluster has nothing to remove.
std::vector<ApplyPlan> control_plane_first(ApplyPlan plan);

// The run level in a file name: 12 in "0000_12_etcd-operator_00_namespace.yaml"; 50 for a name without one, the default of the
// release tool.
int run_level(std::string_view file_name);

// The object with this host as KUBERNETES_SERVICE_HOST in all containers that have that variable. Pure.
Json with_api_host(Json object, std::string_view host);

}  // namespace slipway::components::cluster_version
