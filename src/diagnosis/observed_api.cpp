#include "diagnosis/observed.h"

#include "base/text.h"
#include "kube/client.h"
#include "kube/conditions.h"
#include "kube/roles.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::diagnosis {

namespace {

// An operator of static pods: one pod, "POD-NODE", on each master.
struct StaticPods {
  std::string_view cluster_operator;
  std::string_view file;  // of its settings
  std::string_view space;
  std::string_view pod;
};
constexpr std::array static_pods = {
    StaticPods{"etcd", "etcds", "openshift-etcd", "etcd"},
    StaticPods{"kube-apiserver", "kubeapiserver", "openshift-kube-apiserver", "kube-apiserver"},
    StaticPods{"kube-controller-manager", "kubecontrollermanager", "openshift-kube-controller-manager",
               "kube-controller-manager"},
    StaticPods{"kube-scheduler", "kubescheduler", "openshift-kube-scheduler", "openshift-kube-scheduler"},
};

// Adds a link if the condition has the status.
void add_condition(AllBroken& found, const Json& object, std::string_view type, std::string_view status, std::string_view link,
                   std::string_view what) {
  if (kube::condition_status(object, type) != status) return;
  found.push_back({link, fmt::format("{}{}", what, quoted(kube::condition_text(object, type, "message"))),
                   condition_since(object, type)});
}

AllBroken failed_revisions(const StaticPods& operand, const Json& settings) {
  AllBroken found;
  for (const Json& status : find_array(settings, {"status", "nodeStatuses"})) {
    const int failed = integer_of(status, {"lastFailedRevision"});
    if (failed <= integer_of(status, {"currentRevision"})) continue;
    const std::string errors = join(texts_of(status, {"lastFailedRevisionErrors"}), "; ");
    found.push_back({"revision-failed",
                     fmt::format("{} revision {} failed on {}{}", operand.cluster_operator, failed, text_of(status, {"nodeName"}),
                                 quoted(errors.empty() ? text_of(status, {"lastFailedReason"}) : errors)),
                     time_in(status, {"lastFailedTime"})});
  }
  return found;
}

AllBroken missing_pods(const Snapshot& snapshot, const StaticPods& operand, const Json& settings) {
  AllBroken found;
  // The look has not got the pods if the API was too slow.
  if (snapshot.all("pods").empty() || integer_of(settings, {"status", "latestAvailableRevision"}) == 0) return found;
  for (const Json& status : find_array(settings, {"status", "nodeStatuses"})) {
    const std::string node = text_of(status, {"nodeName"});
    const Json* registered = snapshot.find("nodes", node);
    if (!registered || snapshot.find("pods", fmt::format("{}/{}-{}", operand.space, operand.pod, node))) continue;
    found.push_back({"static-pod-missing", fmt::format("{} has no pod {}-{}", node, operand.pod, node),
                     time_in(*registered, {"metadata", "creationTimestamp"})});
  }
  return found;
}

const StaticPods* find_static_pods(std::string_view cluster_operator) {
  const auto* found = std::ranges::find(static_pods, cluster_operator, &StaticPods::cluster_operator);
  return found == static_pods.end() ? nullptr : found;
}

// Masters without power, if they are so many that etcd has no majority.
std::vector<std::string> lost_majority(const Snapshot& snapshot) {
  std::size_t masters = 0;
  std::vector<std::string> off;
  for (const Machine& machine : snapshot.machines) {
    if (role_of(snapshot, machine) != "master" || machine.state == "created") continue;
    ++masters;
    if (!is_on(machine)) off.push_back(machine.name);
  }
  return off.size() * 2 >= masters ? off : std::vector<std::string>();
}

}  // namespace

std::optional<WallTime> condition_since(const Json& object, std::string_view type) {
  const Json* condition = kube::find_condition(object, type);
  return condition ? time_in(*condition, {"lastTransitionTime"}) : std::nullopt;
}

AllBroken look_at_api(const Snapshot& snapshot, const std::string&) {
  AllBroken found;
  if (snapshot.notes.api != LookNotes::Api::silent) return found;
  found.push_back({"api-silent", fmt::format("the API does not answer{}", quoted(snapshot.notes.api_failure))});
  // Before the end of the bootstrap, the bootstrap machine has a member, too.
  if (const auto off = lost_majority(snapshot); !off.empty() && !snapshot.machine("bootstrap")) {
    found.push_back({"etcd-no-quorum", fmt::format("{} {} off, so etcd has no majority", join(off, ", "),
                                                   off.size() == 1 ? "is" : "are")});
  }
  return found;
}

AllBroken look_at_release(const Snapshot& snapshot, const std::string& key) {
  AllBroken found;
  if (const Json* version = snapshot.find("clusterversion", key)) {
    add_condition(found, *version, "Failing", "True", "release-failing", "ClusterVersion is Failing");
  }
  return found;
}

AllBroken look_at_operator(const Snapshot& snapshot, const std::string& key) {
  AllBroken found;
  const Json* object = snapshot.find("clusteroperators", key);
  if (!object) return found;
  add_condition(found, *object, "Available", "False", "operator-unavailable", fmt::format("operator {} is not Available", key));
  if (found.empty()) {
    add_condition(found, *object, "Degraded", "True", "operator-degraded", fmt::format("operator {} is Degraded", key));
  }
  if (found.empty()) {
    add_condition(found, *object, "Progressing", "True", "operator-stuck", fmt::format("operator {} is still Progressing", key));
  }
  const StaticPods* operand = find_static_pods(key);
  const Json* settings = operand ? snapshot.find(operand->file, "cluster") : nullptr;
  if (!settings) return found;
  std::ranges::move(failed_revisions(*operand, *settings), std::back_inserter(found));
  std::ranges::move(missing_pods(snapshot, *operand, *settings), std::back_inserter(found));
  return found;
}

AllBroken look_at_pool(const Snapshot& snapshot, const std::string& key) {
  AllBroken found;
  const Json* pool = snapshot.find("machineconfigpools", key);
  if (!pool) return found;
  for (const std::string_view type : {"RenderDegraded", "NodeDegraded", "Degraded"}) {
    if (!found.empty()) break;
    add_condition(found, *pool, type, "True", "pool-degraded", fmt::format("pool {} is Degraded", key));
  }
  if (found.empty() && !is_true(*pool, {"spec", "paused"})) {
    add_condition(found, *pool, "Updating", "True", "pool-stuck",
                  fmt::format("pool {} is still Updating: {} of {} machines are updated", key,
                              integer_of(*pool, {"status", "updatedMachineCount"}),
                              integer_of(*pool, {"status", "machineCount"})));
  }
  return found;
}

AllBroken look_at_request(const Snapshot& snapshot, const std::string& key) {
  AllBroken found;
  const Json* request = snapshot.find("csr", key);
  if (!request || !find_array(*request, {"status", "conditions"}).empty()) return found;
  // Not those that users make for other signers.
  const std::string signer = text_of(*request, {"spec", "signerName"});
  if (!signer.empty() && signer.find("kubelet") == std::string::npos) return found;
  const std::string by = text_of(*request, {"spec", "username"});
  found.push_back({"certificate-pending", fmt::format("certificate request {} of {} is not approved", key, by),
                   time_in(*request, {"metadata", "creationTimestamp"})});
  return found;
}

std::vector<std::string> pods_of_operator(const Snapshot& snapshot, const std::string& key) {
  std::vector<std::string> spaces;
  if (const Json* object = snapshot.find("clusteroperators", key)) {
    for (const Json& related : find_array(*object, {"status", "relatedObjects"})) {
      if (find_string(related, {"resource"}) == "namespaces") spaces.push_back(text_of(related, {"name"}));
    }
  }
  if (const StaticPods* operand = find_static_pods(key)) spaces.emplace_back(operand->space);
  std::vector<std::string> pods;
  for (const auto& [name, pod] : snapshot.all("pods")) {
    if (std::ranges::find(spaces, kube::namespace_of(pod)) != spaces.end()) pods.push_back(name);
  }
  return pods;
}

std::vector<std::string> nodes_of_pool(const Snapshot& snapshot, const std::string& key) {
  std::vector<std::string> nodes;
  for (const auto& [name, node] : snapshot.all("nodes")) {
    if (kube::has_role(node, kube::role_label(key))) nodes.push_back(name);
  }
  return nodes;
}

}  // namespace slipway::diagnosis
