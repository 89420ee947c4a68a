#include "components/metrics_server/operator.h"

#include "components/controller/object_parts.h"
#include "components/render/document.h"
#include "components/workload/workload.h"
#include "kube/conditions.h"

#include <algorithm>
#include <array>

namespace slipway::components::metrics_server {

namespace {

constexpr std::string_view managed_space = "openshift-config-managed";
constexpr std::string_view service_name = "v1beta1.metrics.k8s.io";

const Workload server = {kube::types::deployments, "openshift-metrics-server", "metrics-server"};

// The kube-apiserver operator creates them in managed_space; pods can mount only objects of their own namespace.
struct Copied {
  kube::ResourceType type;
  std::string name;
};
const std::array copied = {Copied{kube::types::config_maps, "kubelet-serving-ca"},
                           Copied{kube::types::secrets, "metrics-server-client-cert-key"}};

std::vector<Watched> watched() {
  std::vector<Watched> all = {{kube::types::cluster_versions},
                              {kube::types::deployments, server.space},
                              {kube::types::api_services, "", {.fields = fmt::format("metadata.name={}", service_name)}}};
  for (const Copied& each : copied) {
    for (const std::string& space : {std::string(managed_space), server.space})
      all.push_back({each.type, space, {.fields = fmt::format("metadata.name={}", each.name)}});
  }
  return all;
}

bool is_installed(const Snapshot& seen) {
  const Json* version = seen.find(kube::types::cluster_versions, "", "version");
  return version && std::ranges::any_of(find_array(*version, {"status", "history"}), [](const Json& each) {
           return find_string(each, {"state"}) == "Completed";
         });
}

// Why there are no metrics, and since when.
struct Outage {
  std::string reason;
  std::string message;
  std::optional<WallTime> since{};  // empty: this moment
  bool has_pod = false;
};

// When Available became false; without that condition, when the object was created. Empty if Available is true.
std::optional<WallTime> unavailable_since(const Json& object) {
  if (kube::condition_status(object, "Available") == "True") return std::nullopt;
  const Json* condition = kube::find_condition(object, "Available");
  return condition ? time_of(*condition, {"lastTransitionTime"}) : time_of(object, {"metadata", "creationTimestamp"});
}

// Empty: there are metrics.
std::optional<Outage> find_outage(const Snapshot& seen) {
  const Json* deployment = seen.find(server.type, server.space, server.name);
  if (!deployment) return Outage{"NoDeployment", fmt::format("{} is being created", to_text(server))};
  if (const std::optional<std::string> problem = not_available(*deployment))
    return Outage{"NoPodAvailable", fmt::format("{}: {}", to_text(server), *problem), unavailable_since(*deployment)};
  const Json* service = seen.find(kube::types::api_services, "", service_name);
  if (!service)
    return Outage{"NotRegistered", fmt::format("APIService {} is being created", service_name), std::nullopt, true};
  if (kube::condition_status(*service, "Available") == "True") return std::nullopt;
  const std::string_view message = kube::condition_text(*service, "Available", "message");
  return Outage{"NotServed",
                fmt::format("APIService {}: {}", service_name, message.empty() ? "the API server has not asked it yet" : message),
                unavailable_since(*service), true};
}

// The first start, for which the installation does not wait.
bool is_starting(const Snapshot& seen, WallTime now) {
  const Json* deployment = seen.find(server.type, server.space, server.name);
  if (!deployment) return true;
  const std::optional<WallTime> created = time_of(*deployment, {"metadata", "creationTimestamp"});
  return created && now < *created + outage_limit;
}

std::vector<Condition> conditions_of_start(std::string reason, std::string message) {
  return {{"MetricsServerAvailable", true, std::move(reason), std::move(message)},
          {.type = "MetricsServerProgressing"},
          {.type = "MetricsServerDegraded"}};
}

std::vector<Condition> conditions_of(const std::optional<Outage>& outage, bool is_long, const Snapshot& seen) {
  std::vector<Condition> conditions = workload_conditions("MetricsServer", {server}, seen);
  for (Condition& each : conditions) {
    if (each.type.ends_with("Available")) {
      each = {each.type, !is_long};
      if (is_long) each = {each.type, false, outage->reason, outage->message};
    } else if (each.type.ends_with("Progressing") && outage && !each.is_true) {
      each = {each.type, true, outage->reason, outage->message};
    }
  }
  return conditions;
}

Result<std::vector<DesiredObject>> desired_objects(const std::string& image, const Snapshot& seen) {
  std::vector<DesiredObject> objects = TRY(desired_objects_of_folder("metrics_server/manifests", {{"IMAGE", quoted(image)}}));
  for (const Copied& each : copied) {
    const Json* original = seen.find(each.type, managed_space, each.name);
    if (!original) {
      return error(Code::not_found, "{} {}/{}, which the kube-apiserver operator creates, does not exist", each.type.kind,
                   managed_space, each.name);
    }
    objects.push_back({each.type, copy_of(*original, server.space, each.name)});
  }
  return objects;
}

Result<DesiredState> desired_state(const std::string& image, const Snapshot& seen, WallTime now) {
  DesiredState state;
  if (!is_installed(seen)) {
    state.conditions = conditions_of_start("AfterInstallation", "metrics-server starts when the installation is complete");
    return state;
  }
  std::vector<DesiredObject>& objects = state.plan.desired_objects;
  objects = TRY(desired_objects(image, seen));
  const std::optional<Outage> outage = find_outage(seen);
  const WallTime end = outage ? outage->since.value_or(now) + outage_limit : now;
  const bool is_long = outage && now >= end;
  if (outage && !is_long) state.plan.replan_by(end);
  const bool is_registered = seen.find(kube::types::api_services, "", service_name) != nullptr;
  const bool has_pod = !outage || outage->has_pod;
  if (!has_pod && (is_long || !is_registered)) {
    // A later plan creates it again, when a pod is available.
    for (DesiredObject& each : objects) {
      if (each.type == kube::types::api_services) each.how = DesiredObject::How::remove;
    }
  }
  state.conditions = outage && !is_long && is_starting(seen, now) ? conditions_of_start("Starting", outage->message)
                                                                  : conditions_of(outage, is_long, seen);
  return state;
}

}  // namespace

WorkloadOperator make_operator(std::string image, std::string space) {
  return {.name = "metrics-server",
          .space = std::move(space),
          .watched = watched(),
          .operands = {"metrics-server"},
          .desired_state = [image = std::move(image)](const Snapshot& seen, WallTime now) {
            return desired_state(image, seen, now);
          }};
}

}  // namespace slipway::components::metrics_server
