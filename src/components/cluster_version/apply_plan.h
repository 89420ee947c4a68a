// What the cluster-version operator does about each manifest of the release.
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
  std::vector<kube::Manifest> apply;   // kept as the manifest has them; ClusterOperators stand first, so that all can tell soon
  std::vector<kube::Manifest> create;  // made once, administrators change them afterwards
  std::vector<kube::Manifest> remove;  // left over from earlier releases
  std::vector<Gate> gates;             // what is waited for when all that is done
  int overridden = 0;                  // left alone because spec.overrides says so

  std::size_t size() const { return apply.size() + create.size() + remove.size(); }
};

// Pure.
//
//   cluster_version  its spec.overrides names objects that somebody else looks after
//   api_host         where pods on the host's network find the API server: replaces what containers have as
//                    KUBERNETES_SERVICE_HOST; nothing: stays
ApplyPlan plan_apply(const std::vector<Manifest>& manifests, const ManifestFilter& filter, const Json& cluster_version,
                     const std::optional<std::string>& api_host = {});

// The same work cut into run levels, the lowest first. Pure.
std::vector<ApplyPlan> by_run_level(ApplyPlan plan);

// The same work in two steps: workloads of run levels behind the control plane's begin when the control plane is well. All else
// that they need is there by then, and the bootstrap machine waits for some of it. What they cost would be taken from the
// hand-over, which waits for none of them. Only the operator of machines begins with the control plane, since workers boot with
// what it serves. A new cluster has nothing to remove, so that comes last. Pure.
std::vector<ApplyPlan> control_plane_first(ApplyPlan plan);

// 12 of "0000_12_etcd-operator_00_namespace.yaml"; a name without one is of level 50, where the release tool would put it.
int run_level(std::string_view file_name);

// The object with this host in every container's KUBERNETES_SERVICE_HOST, if it has pods with such a variable. Pure.
Json with_api_host(Json object, std::string_view host);

}  // namespace slipway::components::cluster_version
