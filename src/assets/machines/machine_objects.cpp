#include "assets/machines/machine_objects.h"

#include "assets/manifest_file.h"

namespace slipway::assets {

namespace {

constexpr std::string_view cluster_key = "machine.openshift.io/cluster-api-cluster";
constexpr std::string_view role_key = "machine.openshift.io/cluster-api-machine-role";
constexpr std::string_view type_key = "machine.openshift.io/cluster-api-machine-type";
constexpr std::string_view set_key = "machine.openshift.io/cluster-api-machineset";

}  // namespace

JsonObject cluster_label(const ClusterId& id) { return {{cluster_key, id.infra_id}}; }

JsonObject role_labels(const ClusterId& id, std::string_view role) {
  return {{cluster_key, id.infra_id}, {role_key, role}, {type_key, role}};
}

JsonObject machine_spec(Json provider) {
  return {{"lifecycleHooks", JsonObject()}, {"metadata", JsonObject()}, {"providerSpec", {{"value", std::move(provider)}}}};
}

std::string machine_name(const ClusterId& id, std::string_view role, std::size_t i) {
  return fmt::format("{}-{}-{}", id.infra_id, role, i);
}

JsonObject machine(const ClusterId& id, std::string_view role, const std::string& name, Json provider) {
  JsonObject object = object_of(machine_api, "Machine", machine_namespace, name);
  object["metadata"].get_object()["labels"] = role_labels(id, role);
  object["spec"] = machine_spec(std::move(provider));
  return object;
}

JsonObject machine_set(const ClusterId& id, std::string_view role, const std::string& name, JsonObject labels, int replicas,
                       Json provider) {
  JsonObject object = object_of(machine_api, "MachineSet", machine_namespace, name);
  object["metadata"].get_object()["labels"] = std::move(labels);
  JsonObject labels_of_machines = role_labels(id, role);
  labels_of_machines[set_key] = name;
  object["spec"] = {
      {"replicas", replicas},
      {"selector", {{"matchLabels", {{cluster_key, id.infra_id}, {set_key, name}}}}},
      {"template", {{"metadata", {{"labels", std::move(labels_of_machines)}}}, {"spec", machine_spec(std::move(provider))}}}};
  object["status"] = {{"replicas", 0}};
  return object;
}

AssetFile control_plane_machine_set(const ClusterId& id, int replicas, JsonObject failure_domains, Json provider) {
  constexpr std::string_view machine_type = "machines_v1beta1_machine_openshift_io";
  JsonObject object = object_of("machine.openshift.io/v1", "ControlPlaneMachineSet", machine_namespace, "cluster");
  object["metadata"].get_object()["labels"] = cluster_label(id);
  JsonObject machines;
  if (!failure_domains.empty()) machines["failureDomains"] = std::move(failure_domains);
  machines["metadata"] = {{"labels", role_labels(id, "master")}};
  machines["spec"] = machine_spec(std::move(provider));
  object["spec"] = {{"replicas", replicas},
                    {"selector", {{"matchLabels", role_labels(id, "master")}}},
                    {"state", "Active"},
                    {"strategy", JsonObject()},
                    {"template", {{"machineType", machine_type}, {machine_type, std::move(machines)}}}};
  return manifest_file("openshift/99_openshift-machine-api_master-control-plane-machine-set.yaml", object);
}

void put_numbered(AssetFiles& files, std::string_view what, const JsonArray& objects) {
  for (std::size_t i = 0; i < objects.size(); ++i) {
    files.push_back(manifest_file(
        fmt::format("openshift/99_openshift-cluster-api_{}-{}.yaml", what, file_number(i, objects.size())), objects[i]));
  }
}

}  // namespace slipway::assets
