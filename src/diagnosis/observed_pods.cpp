#include "diagnosis/observed.h"

#include "base/text.h"
#include "kube/client.h"
#include "kube/conditions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::diagnosis {

namespace {

// A container may exit once or twice while its dependencies start.
constexpr int too_many_restarts = 3;

constexpr std::array pull_reasons = {std::string_view("ErrImagePull"), std::string_view("ImagePullBackOff"),
                                     std::string_view("InvalidImageName"), std::string_view("ErrImageNeverPull"),
                                     std::string_view("RegistryUnavailable")};
constexpr std::array creation_reasons = {std::string_view("CreateContainerConfigError"), std::string_view("CreateContainerError"),
                                         std::string_view("RunContainerError"), std::string_view("PostStartHookError")};

template <class List>
bool contains(const List& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

// What the container said, or what Kubernetes says about its end.
std::string words_of(const Snapshot& snapshot, const std::string& pod, const Json& status, const Json& ended) {
  const auto said = snapshot.words.find(fmt::format("{}/{}", pod, text_of(status, {"name"})));
  if (said != snapshot.words.end()) return said->second;
  return text_of(ended, {"message"});
}

// Since when the pod is not Ready; without such a condition since it was created.
std::optional<WallTime> unready_since(const Json& pod) {
  const auto time = condition_since(pod, "Ready");
  return time ? time : time_in(pod, {"metadata", "creationTimestamp"});
}

// What is broken about one container; the pod is not Ready.
std::optional<Broken> look_at_container(const Snapshot& snapshot, const std::string& pod_name, const Json& pod,
                                        const Json& status, bool is_init) {
  const std::string name = text_of(status, {"name"});
  const std::string what = fmt::format("container {} of pod {}", name, pod_name);
  const std::string subject = fmt::format("--namespace {} {} --container {}", kube::namespace_of(pod), kube::name_of(pod), name);
  const std::string reason = text_of(status, {"state", "waiting", "reason"});
  const std::string message = text_of(status, {"state", "waiting", "message"});
  const Json* ended = find(status, {"state", "terminated"});
  if (!ended) ended = find(status, {"lastState", "terminated"});
  const int restarts = integer_of(status, {"restartCount"});
  const bool is_ready = is_true(status, {"ready"});
  const bool has_succeeded =
      find(status, {"state", "terminated"}) && integer_of(status, {"state", "terminated", "exitCode"}) == 0;
  if (is_ready || has_succeeded) return std::nullopt;
  if (contains(pull_reasons, reason)) {
    const auto event = last_event(snapshot, "Pod", pod_name, {"Failed"});
    const std::string why = reason == "ImagePullBackOff" && event ? event->message : message;
    return Broken{"image-not-pulled",
                  fmt::format("image {} of {} cannot be pulled{}", text_of(status, {"image"}), what, quoted(why)),
                  unready_since(pod)};
  }
  if (contains(creation_reasons, reason)) {
    return Broken{"container-not-created", fmt::format("{} cannot be created{}", what, quoted(message)), unready_since(pod)};
  }
  if (ended && text_of(*ended, {"reason"}) == "OOMKilled") {
    return Broken{"container-out-of-memory",
                  fmt::format("{} used more memory than its limit and was killed ({} restarts)", what, restarts),
                  time_in(*ended, {"finishedAt"})};
  }
  if (ended && restarts >= too_many_restarts) {
    return Broken{"container-crashing",
                  fmt::format("{} ended with status {} ({} restarts){}", what, integer_of(*ended, {"exitCode"}), restarts,
                              quoted(words_of(snapshot, pod_name, status, *ended))),
                  time_in(*ended, {"finishedAt"}), subject};
  }
  const Json* running = find(status, {"state", "running"});
  if (!running) return std::nullopt;
  if (is_init) {
    return Broken{"init-container-waits", fmt::format("init {} does not end", what), time_in(*running, {"startedAt"}), subject};
  }
  const auto event = last_event(snapshot, "Pod", pod_name, {"Unhealthy"});
  // Since the later one of the two: a container may have been Ready for days.
  const auto started = time_in(*running, {"startedAt"}), unready = unready_since(pod);
  return Broken{"container-unhealthy", fmt::format("{} runs and is not Ready{}", what, quoted(event ? event->message : "")),
                started && unready ? std::max(started, unready) : unready, subject};
}

// Machines that are still to become nodes.
bool awaits_nodes(const Snapshot& snapshot) {
  if (snapshot.all("nodes").empty()) return true;
  return std::ranges::any_of(snapshot.machines, [&](const Machine& machine) {
    const bool is_coming = machine.state == "created" || is_on(machine);
    return is_coming && machine.name != "bootstrap" && !snapshot.find("nodes", machine.name);
  });
}

std::optional<Broken> look_at_scheduling(const Snapshot& snapshot, const std::string& name, const Json& pod) {
  const Json* scheduled = kube::find_condition(pod, "PodScheduled");
  if (!scheduled || find_string(*scheduled, {"status"}) != "False") return std::nullopt;
  // During an installation, pods of workers wait until these boot.
  if (awaits_nodes(snapshot)) return std::nullopt;
  auto since = condition_since(pod, "PodScheduled");
  for (const auto& [node, object] : snapshot.all("nodes")) {
    const auto changed = condition_since(object, "Ready");
    if (since && changed) since = std::max(*since, *changed);
  }
  return Broken{"pod-unschedulable",
                fmt::format("no node takes pod {}{}", name, quoted(find_string(*scheduled, {"message"}).value_or(""))),
                since};
}

// A pod on a node whose containers are not there yet.
Broken look_at_creation(const Snapshot& snapshot, const std::string& name, const Json& pod) {
  // A pod may be older than the node that has taken it.
  auto begun = condition_since(pod, "PodScheduled");
  if (!begun) begun = time_in(pod, {"metadata", "creationTimestamp"});
  if (const auto event = last_event(snapshot, "Pod", name, {"FailedMount", "FailedAttachVolume", "FailedMapVolume"})) {
    return Broken{"volume-not-mounted", fmt::format("a volume of pod {} cannot be mounted{}", name, quoted(event->message)),
                  begun};
  }
  if (const auto event = last_event(snapshot, "Pod", name, {"FailedCreatePodSandBox", "NetworkNotReady"})) {
    return Broken{"pod-network-missing", fmt::format("pod {} gets no network{}", name, quoted(event->message)), begun};
  }
  return Broken{"pod-not-started", fmt::format("the containers of pod {} are not created", name), begun};
}

std::string service_of(const Json& route) {
  return fmt::format("{}/{}", kube::namespace_of(route), text_of(route, {"spec", "to", "name"}));
}

std::vector<std::string> pods_behind(const Json& endpoints, std::string_view list) {
  std::vector<std::string> pods;
  for (const Json& subset : find_array(endpoints, {"subsets"})) {
    for (const Json& address : find_array(subset, {list})) {
      pods.push_back(
          fmt::format("{}/{}", text_of(address, {"targetRef", "namespace"}), text_of(address, {"targetRef", "name"})));
    }
  }
  return pods;
}

void look_at_service(const Snapshot& snapshot, const Json& route, AllBroken& found) {
  const std::string service = service_of(route);
  // The look has not got them if the API was too slow.
  if (snapshot.all("endpoints").empty()) return;
  const Json* endpoints = snapshot.find("endpoints", service);
  if (!endpoints) {
    found.push_back({"service-missing", fmt::format("Service {} of the Route does not exist", service),
                     time_in(route, {"metadata", "creationTimestamp"}), service});
    return;
  }
  for (const Json& subset : find_array(*endpoints, {"subsets"})) {
    if (!find_array(subset, {"addresses"}).empty()) return;
  }
  auto since = time_in(*endpoints, {"metadata", "annotations", "endpoints.kubernetes.io/last-change-trigger-time"});
  if (!since) since = time_in(*endpoints, {"metadata", "creationTimestamp"});
  found.push_back({"service-empty", fmt::format("Service {} of the Route has no ready pod", service), since, service});
}

}  // namespace

AllBroken look_at_pod(const Snapshot& snapshot, const std::string& key) {
  AllBroken found;
  const Json* pod = snapshot.find("pods", key);
  if (!pod || is_finished(*pod)) return found;
  if (const auto deleted = time_in(*pod, {"metadata", "deletionTimestamp"})) {
    // The time of deletion includes the grace period.
    found.push_back({"pod-not-deleted", fmt::format("pod {} was deleted and does not go", key), *deleted});
    return found;
  }
  if (kube::condition_status(*pod, "Ready") == "True") return found;
  if (auto broken = look_at_scheduling(snapshot, key, *pod)) {
    found.push_back(*std::move(broken));
    return found;
  }
  if (text_of(*pod, {"spec", "nodeName"}).empty()) return found;
  bool has_begun = false;
  for (const std::string_view list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Json& status : find_array(*pod, {"status", list})) {
      has_begun = has_begun || find(status, {"state", "running"}) || find(status, {"state", "terminated"}) ||
                  find(status, {"lastState", "terminated"});
      auto broken = look_at_container(snapshot, key, *pod, status, list == "initContainerStatuses");
      if (!broken) continue;
      found.push_back(*std::move(broken));
      return found;
    }
  }
  if (!has_begun) found.push_back(look_at_creation(snapshot, key, *pod));
  return found;
}

AllBroken look_at_claim(const Snapshot& snapshot, const std::string& key) {
  AllBroken found;
  const Json* claim = snapshot.find("persistentvolumeclaims", key);
  if (!claim) return found;
  const std::string phase = text_of(*claim, {"status", "phase"});
  const auto created = time_in(*claim, {"metadata", "creationTimestamp"});
  if (phase == "Lost") found.push_back({"claim-lost", fmt::format("claim {} has lost its volume", key), created});
  if (phase != "Pending") return found;
  const auto event =
      last_event(snapshot, "PersistentVolumeClaim", key, {"ProvisioningFailed", "FailedBinding", "WaitForFirstConsumer"});
  // A claim that waits for its first pod is in order.
  const bool is_used = std::ranges::any_of(snapshot.all("pods"), [&](const auto& row) {
    const std::vector<std::string> claims = claims_of_pod(row.second);
    return !is_finished(row.second) && std::ranges::find(claims, key) != claims.end();
  });
  const bool waits = !event || event->reason == "WaitForFirstConsumer";
  if (waits && !is_used) return found;
  const std::string storage_class = text_of(*claim, {"spec", "storageClassName"});
  found.push_back({"claim-pending",
                   fmt::format("claim {} has no volume{}{}", key,
                               storage_class.empty() ? "" : fmt::format(" of class {}", storage_class),
                               quoted(waits ? "" : event->message)),
                   created});
  return found;
}

AllBroken look_at_route(const Snapshot& snapshot, const std::string& key) {
  AllBroken found;
  const Json* route = snapshot.find("routes", key);
  if (!route) return found;
  const JsonArray& ingresses = find_array(*route, {"status", "ingress"});
  if (ingresses.empty()) {
    found.push_back({"route-unclaimed", fmt::format("no router serves Route {}", key),
                     time_in(*route, {"metadata", "creationTimestamp"})});
  }
  for (const Json& ingress : ingresses) {
    for (const Json& condition : find_array(ingress, {"conditions"})) {
      if (find_string(condition, {"type"}) != "Admitted" || find_string(condition, {"status"}) != "False") continue;
      found.push_back({"route-not-admitted",
                       fmt::format("router {} refuses Route {}{}", text_of(ingress, {"routerName"}), key,
                                   quoted(text_of(condition, {"message"}))),
                       time_in(condition, {"lastTransitionTime"})});
    }
  }
  if (find_string(*route, {"spec", "to", "kind"}).value_or("Service") == "Service") look_at_service(snapshot, *route, found);
  return found;
}

std::vector<std::string> pods_of_route(const Snapshot& snapshot, const std::string& key) {
  std::vector<std::string> pods;
  const Json* route = snapshot.find("routes", key);
  if (!route) return pods;
  for (const auto& [name, pod] : snapshot.all("pods")) {
    if (kube::namespace_of(pod) == "openshift-ingress") pods.push_back(name);
  }
  if (const Json* endpoints = snapshot.find("endpoints", service_of(*route))) {
    for (std::string& name : pods_behind(*endpoints, "notReadyAddresses")) pods.push_back(std::move(name));
  }
  return pods;
}

std::vector<std::string> claims_of_pod(const Json& pod) {
  std::vector<std::string> claims;
  for (const Json& volume : find_array(pod, {"spec", "volumes"})) {
    const std::string name = text_of(volume, {"persistentVolumeClaim", "claimName"});
    if (!name.empty()) claims.push_back(fmt::format("{}/{}", kube::namespace_of(pod), name));
  }
  return claims;
}

std::optional<EventSeen> last_event(const Snapshot& snapshot, std::string_view kind, const std::string& key,
                                    std::initializer_list<std::string_view> reasons) {
  std::optional<EventSeen> latest;
  for (const std::string_view file : {"events", "claimevents"}) {
    for (const auto& [name, event] : snapshot.all(file)) {
      if (find_string(event, {"involvedObject", "kind"}) != kind) continue;
      const std::string about =
          fmt::format("{}/{}", text_of(event, {"involvedObject", "namespace"}), text_of(event, {"involvedObject", "name"}));
      if (about != key || !contains(reasons, text_of(event, {"reason"}))) continue;
      auto time = time_in(event, {"lastTimestamp"});
      if (!time) time = time_in(event, {"eventTime"});
      if (latest && time < latest->last) continue;
      latest = EventSeen{text_of(event, {"reason"}), text_of(event, {"message"}), time};
    }
  }
  return latest;
}

bool is_finished(const Json& pod) {
  const std::string phase = text_of(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

std::string quoted(std::string_view text) { return text.empty() ? "" : ": " + shortened(text); }

}  // namespace slipway::diagnosis
