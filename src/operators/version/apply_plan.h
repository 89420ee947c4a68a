// What the cluster-version operator does about each manifest of the release (operators 4.7).
#pragma once

#include "kube/ensure.h"
#include "operators/lib/manifest_filter.h"
#include "operators/lib/render_inputs.h"

#include <vector>

namespace slipway::operators {

struct ApplyPlan {
  std::vector<kube::Manifest> apply;   // kept as the manifest has them
  std::vector<kube::Manifest> create;  // made once, administrators change them afterwards
  std::vector<Json> remove;            // left over from earlier releases
  int overridden = 0;                  // left alone because spec.overrides says so

  std::size_t size() const { return apply.size() + create.size() + remove.size(); }
};

// Pure.
//
//   cluster_version  its spec.overrides names objects that somebody else looks after
ApplyPlan plan_apply(const std::vector<Manifest>& manifests, const ManifestFilter& filter, const Json& cluster_version);

}  // namespace slipway::operators
