#include "components/machine_config_operator/operator.h"

#include "base/text.h"
#include "components/controller/bootstrap_complete.h"
#include "components/controller/operand.h"
#include "components/machine_config_operator/inputs.h"
#include "components/machine_config_operator/machine_settings.h"
#include "components/machine_config_operator/pools.h"
#include "components/machine_config_operator/server_certificate.h"
#include "components/render/document.h"
#include "components/render/inputs.h"
#include "components/workload/workload.h"
#include "kube/conditions.h"
#include "machineconfig/disruption_policy.h"
#include "net/url.h"

#include <array>

namespace slipway::components::machine_config_operator {

namespace {

namespace types = kube::types;

constexpr std::string_view own_space = "openshift-machine-config-operator";
constexpr std::string_view config_space = "openshift-config";
constexpr std::string_view managed_space = "openshift-config-managed";
constexpr std::string_view system_space = "kube-system";
constexpr std::string_view images_name = "machine-config-operator-images";
constexpr std::string_view controller_config_name = "machine-config-controller";
constexpr std::string_view daemon_name = "machine-config-daemon";
constexpr std::string_view client_ca_name = "kube-apiserver-client-ca";

std::vector<Watched> watched() {
  const auto named = [](const kube::ResourceType& type, std::string_view space, std::string_view name) {
    return Watched{type, std::string(space), {.fields = fmt::format("metadata.name={}", name)}};
  };
  const std::string own(own_space);
  std::vector<Watched> all = {{types::infrastructures},
                              {types::networks},
                              {types::dnses},
                              {types::proxies},
                              named(types::cluster_versions, "", "version"),
                              {types::config_maps, std::string(system_space)},
                              {types::config_maps, std::string(config_space)},
                              named(types::config_maps, managed_space, client_ca_name),
                              named(types::config_maps, own_space, images_name),
                              {types::controller_configs},
                              {types::machine_config_pools},
                              {types::deployments, own},
                              {types::daemon_sets, own}};
  for (Watched& each : watched_for_server_certificate()) all.push_back(std::move(each));
  return all;
}

// The object without the metadata that changes: versions and times would change the ControllerConfig although no fact changed.
Json without_history(const Json& object) {
  JsonObject kept;
  for (const char* key : {"apiVersion", "kind", "spec", "status"}) {
    if (const Json* value = find(object, {key})) kept[key] = *value;
  }
  kept["metadata"] = {{"name", kube::name_of(object)}};
  return kept;
}

// Reads from objects the facts that the command `bootstrap` reads from files. Findings: what is missing.
class ClusterReader {
 public:
  ClusterReader(const Snapshot& seen, Findings& findings) : seen_(seen), findings_(findings) {}

  MachineConfigInputs read(const std::string& version) {
    MachineConfigInputs inputs;
    inputs.version = version;
    const Json release = fact(types::cluster_versions, "version");
    inputs.release_image = find_string(release, {"status", "desired", "image"}).value_or("");
    inputs.infrastructure = fact(types::infrastructures, "cluster");
    inputs.dns = fact(types::dnses, "cluster");
    inputs.proxy = fact(types::proxies, "cluster");
    take_network(fact(types::networks, "cluster"), "Network cluster", inputs, findings_);
    take_install_config(config_map(system_space, "cluster-config-v1"), "ConfigMap kube-system/cluster-config-v1", inputs,
                        findings_);
    inputs.root_ca = text(config_map(system_space, "root-ca"), "ca.crt");
    inputs.kube_ca = client_ca();
    inputs.trust_bundle = text_if_any(config_space, "user-ca-bundle", "ca-bundle.crt");
    if (const auto name = find_string(inputs.infrastructure, {"spec", "cloudConfig", "name"}); name && !name->empty()) {
      const std::string_view key = find_string(inputs.infrastructure, {"spec", "cloudConfig", "key"}).value_or("cloud.conf");
      inputs.cloud_config = text(config_map(config_space, *name), key);
    }
    read_images(inputs);
    return inputs;
  }

 private:
  const Json* object(const kube::ResourceType& type, std::string_view space, std::string_view name) {
    const Json* found = seen_.find(type, space, name);
    if (!found) {
      const std::string full = space.empty() ? std::string(name) : fmt::format("{}/{}", space, name);
      findings_.error({fmt::format("{} {}", type.kind, full)}, "", "does not exist yet");
    }
    return found;
  }

  Json fact(const kube::ResourceType& type, std::string_view name) {
    const Json* found = object(type, "", name);
    return found ? without_history(*found) : Json();
  }

  Json config_map(std::string_view space, std::string_view name) {
    const Json* found = object(types::config_maps, space, name);
    return found ? *found : Json();
  }

  std::string text(const Json& config_map, std::string_view key) {
    const auto value = find_string(config_map, {"data", key});
    if (!value && !config_map.is_null()) findings_.error({kube::describe(config_map)}, fmt::format("data.{}", key), "missing");
    return std::string(value.value_or(""));
  }

  std::string text_if_any(std::string_view space, std::string_view name, std::string_view key) const {
    const Json* found = seen_.find(types::config_maps, space, name);
    return found ? text_of(*found, {"data", key}) : "";
  }

  // The client authorities of kubelets. Until the bootstrap is complete these are the authorities of the bootstrap machine: with
  // others, rendered configs would have other names than the configs that machines got from the bootstrap machine.
  std::string client_ca() {
    const std::string current = bootstrap_is_complete(seen_) ? text_if_any(managed_space, client_ca_name, "ca-bundle.crt") : "";
    return current.empty() ? text(config_map(config_space, "initial-kube-apiserver-server-ca"), "ca-bundle.crt") : current;
  }

  void read_images(MachineConfigInputs& inputs) {
    const Json map = config_map(own_space, images_name);
    if (map.is_null()) return;
    const std::string name = kube::describe(map);
    const Result<Json> images = parse_json(text(map, "images.json"), name);
    if (!images.ok()) return (void)findings_.error({name}, "data[images.json]", "{}", images.error().message());
    for (const auto& [component, image] : find_object(images.value(), {})) {
      if (image.is_string()) inputs.images[component] = image.get_string();
    }
    complete_images(name, "it is in the manifests of the release", inputs, findings_);
  }

  const Snapshot& seen_;
  Findings& findings_;
};

// A build takes long and may need a person, so the pool does not count as updating meanwhile. Only the masters do: an
// installation or an update is not complete without them.
bool waits_for_image(const Json& pool) { return kube::condition_text(pool, "Updated", "reason") == waits_for_image_reason; }

// The daemon is not needed until the bootstrap is complete, and its pods would take processor time from the handover. In image
// mode it is needed: the bootstrap waits until it has reported which image each master runs.
bool waits_for_handover(const DesiredObject& desired, const Snapshot& seen) {
  if (desired.type != types::daemon_sets || kube::name_of(desired.object) != daemon_name) return false;
  const Json* masters = seen.find(types::machine_config_pools, "", "master");
  const bool is_needed = bootstrap_is_complete(seen) || (masters && waits_for_image(*masters));
  return !is_needed && seen.find(desired.type, own_space, daemon_name) == nullptr;
}

std::vector<Workload> workloads() {
  const std::string own(own_space);
  return {{types::deployments, own, "machine-config-controller"},
          {types::daemon_sets, own, "machine-config-server"},
          {types::daemon_sets, own, std::string(daemon_name)}};
}

// The message of a pool's condition: "worker: Node worker-0 is ...".
std::string describe_condition(const Json& pool, std::string_view type) {
  const bool is_known = kube::find_condition(pool, type) != nullptr;
  return fmt::format("{}: {}", kube::name_of(pool), is_known ? kube::condition_text(pool, type, "message") : "no status yet");
}

Condition condition(std::string_view type, bool good, std::string_view bad_reason, const std::vector<std::string>& bad) {
  Condition made{.type = fmt::format("Pools{}", type), .is_true = bad.empty() == good};
  if (!bad.empty()) made.reason = bad_reason;
  made.message = join(bad, "; ");
  return made;
}

// Plans the status of MachineConfiguration: the policy that the daemons use. While the policy in its spec is not valid, that is
// the last valid one, and the condition says why.
void plan_disruption_policy(const Snapshot& seen, WallTime now, DesiredState& desired_state) {
  const Json* object = seen.find(types::machine_configurations, "", machineconfig::machine_configuration_name);
  if (!object) return;
  const machineconfig::PolicyInForce found = machineconfig::policy_in_force(*object);
  Condition degraded{
      .type = "NodeDisruptionPolicyDegraded", .is_true = found.findings.has_errors(), .message = reasons_of(found.findings)};
  if (degraded.is_true) degraded.reason = "InvalidPolicy";
  Json wanted = with_conditions(*object, {degraded}, now);
  JsonObject& status = wanted.as_object()["status"].as_object();
  if (const Json* generation = find(*object, {"metadata", "generation"})) status["observedGeneration"] = *generation;
  status["nodeDisruptionPolicyStatus"] = JsonObject{{"clusterPolicies", machineconfig::to_json(found.policy)}};
  if (find_object(wanted, {"status"}) != find_object(*object, {"status"}))
    desired_state.plan.desired_objects.push_back({types::machine_configurations, std::move(wanted), DesiredObject::How::status});
  desired_state.conditions.push_back(std::move(degraded));
}

Result<DesiredState> make_desired_state(const std::string& version, const Snapshot& seen, WallTime now) {
  DesiredState desired_state;
  Result<Plan> renewal = plan_server_certificate(seen, now);
  Condition not_renewed{.type = "ServerCertificateDegraded", .is_true = !renewal.ok()};
  if (renewal.ok()) {
    desired_state.plan.add(std::move(renewal).value());
  } else {
    not_renewed.reason = "NotRenewed";
    not_renewed.message = renewal.error().message();
  }
  Findings findings;
  const MachineConfigInputs inputs = ClusterReader(seen, findings).read(version);
  Condition unreadable{.type = "ControllerConfigDegraded", .is_true = findings.has_errors()};
  if (unreadable.is_true) {
    unreadable.reason = "InputsMissing";
    unreadable.message = std::string(trim(findings.to_text()));
  }
  Condition known{.type = "ControllerConfigAvailable",
                  .is_true = seen.find(types::controller_configs, "", controller_config_name) != nullptr};
  if (!known.is_true) known.reason = "NotMade";
  for (std::string_view role : {"master", "worker"})
    desired_state.plan.desired_objects.push_back(TRY(to_desired_object(built_in_pool(role))));
  if (!unreadable.is_true) {
    const machineconfig::ControllerConfig config = controller_config(inputs);
    const std::string server = config.internal_api_url();
    const net::Url url = TRY(net::parse_url(server).context("Infrastructure cluster: status.apiServerInternalURI"));
    desired_state.plan.desired_objects.push_back(TRY(to_desired_object(machineconfig::to_json(config))));
    desired_state.plan.add(
        {.desired_objects = TRY(desired_objects_of_folder("machine_config_operator/manifests",
                                                          {{"IMAGE", quoted(inputs.images.at("machine-config-operator"))},
                                                           {"VERSION", quoted(version)},
                                                           {"API_SERVER", server},
                                                           {"API_HOST", quoted(url.host)},
                                                           {"API_PORT", quoted(std::to_string(url.port))}}))});
  }
  std::erase_if(desired_state.plan.desired_objects,
                [&](const DesiredObject& desired) { return waits_for_handover(desired, seen); });
  desired_state.conditions = workload_conditions("Workloads", workloads(), seen);
  desired_state.conditions.push_back(std::move(not_renewed));
  desired_state.conditions.push_back(std::move(unreadable));
  desired_state.conditions.push_back(std::move(known));
  plan_disruption_policy(seen, now, desired_state);
  for (Condition& each : pool_conditions(seen)) desired_state.conditions.push_back(std::move(each));
  return desired_state;
}

}  // namespace

std::vector<Condition> pool_conditions(const Snapshot& seen) {
  std::vector<std::string> missing, moving, degraded, behind;
  for (std::string_view role : {"master", "worker"}) {
    const Json* pool = seen.find(types::machine_config_pools, "", role);
    // A pool without machines counts as updated at once, but every cluster has masters.
    const bool has_reached = pool && (find_string(*pool, {"status", "configuration", "name"}) || waits_for_image(*pool)) &&
                             (role != "master" || integer_of(*pool, {"status", "machineCount"}) > 0);
    if (!has_reached)
      (role == "master" ? missing : moving).push_back(fmt::format("{}: no machine has reached a config yet", role));
  }
  for (const Json* pool : seen.list(types::machine_config_pools)) {
    const int all = integer_of(*pool, {"status", "machineCount"}), updated = integer_of(*pool, {"status", "updatedMachineCount"});
    const Json* paused = find(*pool, {"spec", "paused"});
    const bool is_counted = !waits_for_image(*pool) || kube::name_of(*pool) == "master";
    if (updated < all && !(paused && *paused == Json(true)) && is_counted) {
      moving.push_back(fmt::format("{}: {} of {} machines are updated", kube::name_of(*pool), updated, all));
    }
    if (kube::condition_status(*pool, "Degraded") == "True") degraded.push_back(describe_condition(*pool, "Degraded"));
    if (kube::condition_status(*pool, "Updated") != "True") behind.push_back(describe_condition(*pool, "Updating"));
  }
  return {condition("Available", true, "NotReached", missing), condition("Progressing", false, "Updating", moving),
          condition("Degraded", false, "PoolDegraded", degraded), condition("Upgradeable", true, "PoolUpdating", behind)};
}

WorkloadOperator make_operator(const std::string& version) {
  return {.name = "machine-config",
          .space = std::string(own_space),
          .watched = watched(),
          .desired_state = [version](const Snapshot& seen, WallTime now) { return make_desired_state(version, seen, now); },
          .settings = types::machine_configurations};
}

Result<> run_operator(const Environment& environment, const Arguments& arguments) {
  return run_workload_operator(environment, arguments, "machine-config-operator",
                               [](const Environment&, const ReleaseVersion& release) -> Result<WorkloadOperator> {
                                 return make_operator(release.version);
                               });
}

}  // namespace slipway::components::machine_config_operator
