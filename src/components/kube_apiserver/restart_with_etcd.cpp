#include "components/kube_apiserver/restart_with_etcd.h"

#include "components/controller/conditions.h"
#include "components/controller/object_parts.h"
#include "components/controller/operand.h"
#include "components/kube_apiserver/certificates.h"
#include "components/static_pod/node_state.h"
#include "kube/conditions.h"

#include <algorithm>

namespace slipway::components::kube_apiserver {

namespace {

constexpr Milliseconds limit = std::chrono::minutes(10);

bool is_ready(const Snapshot& seen, const std::string& node) {
  const Json* pod = seen.find(kube::types::pods, target_space, "kube-apiserver-" + node);
  return pod != nullptr && kube::condition_status(*pod, "Ready") == "True";
}

// When API servers no longer wait for etcd. Empty without a revision.
std::optional<WallTime> end_of_wait(const Snapshot& seen) {
  const Json* settings = seen.find(kube::types::kube_apiservers, "", "cluster");
  const int published = settings == nullptr ? 0 : integer_of(*settings, {"status", "latestAvailableRevision"});
  const Json* marker = seen.find(kube::types::config_maps, target_space, fmt::format("{}{}", revision_prefix, published));
  const std::optional<WallTime> made = marker == nullptr ? std::nullopt : time_of(*marker, {"metadata", "creationTimestamp"});
  return made ? std::optional(*made + limit) : std::nullopt;
}

}  // namespace

std::optional<Objection> wait_for_etcd(const Snapshot& seen, const std::string& node, std::string_view version, WallTime now) {
  const Json* etcd = seen.find(kube::types::etcds, "", "cluster");
  const std::optional<WallTime> end = end_of_wait(seen);
  if (etcd == nullptr || !is_managed(*etcd) || !is_ready(seen, node) || !end || now >= *end) return {};
  const std::vector<NodeStatus> members = parse_node_statuses(*etcd);
  const int latest = integer_of(*etcd, {"status", "latestAvailableRevision"});
  const bool has_failed = std::ranges::any_of(
      members, [&](const NodeStatus& each) { return each.last_failed == latest && each.current != latest; });
  if (has_failed) return {};
  if (text_of(*etcd, {"status", "version"}) != version) {
    return Objection{fmt::format("etcd has no revision of release {} yet", version), end};
  }
  for (const NodeStatus& each : members) {
    if (each.target > 0 && each.node != node) return Objection{fmt::format("etcd changes on {}", each.node), end};
  }
  const auto own = std::ranges::find(members, node, &NodeStatus::node);
  if (own == members.end() || own->target > 0 || own->current == 0 || own->current >= latest) return {};
  return Objection{fmt::format("it changes together with etcd on {}", node), end};
}

}  // namespace slipway::components::kube_apiserver
