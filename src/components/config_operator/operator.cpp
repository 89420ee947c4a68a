#include "components/config_operator/operator.h"

#include "components/config_operator/feature_gates.h"
#include "components/config_operator/operator_render.h"
#include "components/controller/unused_settings.h"
#include "components/render/inputs.h"
#include "components/render/manifest.h"
#include "components/render/manifest_files.h"
#include "release/release.h"

#include <algorithm>
#include <array>

namespace slipway::components::config_operator {

namespace {

// The layer openshift-api of the image (images/components.yaml).
constexpr std::string_view lists_folder = "/usr/share/bootkube/manifests/featuregates";

constexpr std::string_view config_space = "openshift-config";
constexpr std::string_view managed_space = "openshift-config-managed";
constexpr std::string_view servers_bundle = "kube-apiserver-server-ca";
// The operator service-ca creates it.
constexpr std::string_view authority_space = "openshift-service-ca", authority_bundle = "signing-cabundle";
constexpr std::string_view bundle_of_spaces = "openshift-service-ca.crt";

// ---- feature gates

const Json* find_entry(const JsonArray& entries, std::string_view version) {
  const Json* found = std::ranges::find_if(entries, [&](const Json& each) { return find_string(each, {"version"}) == version; });
  return found == entries.end() ? nullptr : found;
}

// The entries of a FeatureGate: the entry of this version, and the entries of earlier versions of the cluster, which components
// that are not updated yet still read.
JsonArray with_entry(const JsonArray& known, const Json& entry, std::string_view version, const Json* cluster_version) {
  JsonArray entries;
  bool has_entry = false;
  for (const Json& each : known) {
    const std::string_view of = find_string(each, {"version"}).value_or("");
    if (of == version) {
      entries.push_back(entry);
      has_entry = true;
    } else if (!cluster_version || find_entry(find_array(*cluster_version, {"status", "history"}), of)) {
      entries.push_back(each);
    }
  }
  if (!has_entry) entries.push_back(entry);
  return entries;
}

Condition upgradeable(std::string_view set) {
  Condition condition{.type = "FeatureGatesUpgradeable", .is_true = !set.ends_with("NoUpgrade")};
  if (condition.is_true) return condition;
  condition.reason = fmt::format("RestrictedFeatureGates_{}", set);
  condition.message = fmt::format("a cluster with feature set {} cannot be updated", set);
  return condition;
}

void plan_gates(const std::vector<Json>& lists, const std::string& version, const Snapshot& seen, DesiredState& desired_state) {
  Condition available{.type = "FeatureGatesAvailable"};
  Condition progressing{.type = "FeatureGatesProgressing"};
  Condition degraded{.type = "FeatureGateControllerDegraded"};
  const Json* gate = seen.find(kube::types::feature_gates, "", "cluster");
  if (gate) {
    const JsonArray& known = find_array(*gate, {"status", "featureGates"});
    available.is_true = find_entry(known, version) != nullptr;
    // Without the status, because with_gates keeps a status that has this version for CustomNoUpgrade, and its lists may have
    // changed since.
    JsonObject without_status = gate->as_object();
    without_status.erase("status");
    const Result<Json> made = with_gates(Json(std::move(without_status)), lists, version, std::string(release::default_profile));
    if (made.ok()) {
      JsonArray wanted = with_entry(known, find_array(made.value(), {"status", "featureGates"}).at(0), version,
                                    seen.find(kube::types::cluster_versions, "", "version"));
      progressing.is_true = wanted != known;
      JsonObject object = gate->as_object();
      JsonObject status = find_object(*gate, {"status"});
      status["featureGates"] = std::move(wanted);
      object["status"] = std::move(status);
      desired_state.plan.desired_objects.push_back({kube::types::feature_gates, std::move(object), DesiredObject::How::status});
    } else {
      degraded.is_true = true;
      degraded.message = made.error().message();
    }
    desired_state.conditions.push_back(upgradeable(find_string(*gate, {"spec", "featureSet"}).value_or("")));
  } else {
    degraded.is_true = true;
    degraded.message = "FeatureGate cluster, which the installer creates, does not exist (create it with an empty spec)";
  }
  if (!available.is_true) {
    available.reason = "NoGates";
    available.message = fmt::format("the status of the FeatureGate has no entry for version {} yet", version);
  }
  if (progressing.is_true) {
    progressing.reason = "GatesChange";
    progressing.message = "the status of the FeatureGate is being written";
  }
  if (degraded.is_true) degraded.reason = "SynchronizationError";
  desired_state.conditions.insert(desired_state.conditions.end(), {available, progressing, degraded});
}

// ---- cloud configuration

void plan_cloud_config(const Snapshot& seen, DesiredState& desired_state) {
  Condition degraded{.type = "KubeCloudConfigControllerDegraded"};
  const Json* infrastructure = seen.find(kube::types::infrastructures, "", "cluster");
  const std::string_view name =
      infrastructure ? find_string(*infrastructure, {"spec", "cloudConfig", "name"}).value_or("") : std::string_view();
  if (!name.empty()) {
    if (const Json* given = seen.find(kube::types::config_maps, config_space, name)) {
      desired_state.plan.desired_objects.push_back({kube::types::config_maps, generated_cloud_config(*infrastructure, *given)});
    } else {
      degraded.is_true = true;
      degraded.reason = "SynchronizationError";
      degraded.message = fmt::format("spec.cloudConfig.name of Infrastructure cluster is {}, but ConfigMap {}/{} does not exist",
                                     name, config_space, name);
    }
  }
  desired_state.conditions.push_back(std::move(degraded));
}

// ---- authorities of services

// Whether a namespace gets the bundle: only namespaces of users, because the platform's pods do not read it.
bool has_bundle(const Json& space) {
  const std::string_view name = kube::name_of(space);
  const bool is_ours = name == "openshift" || name.starts_with("openshift-") || name.starts_with("kube-");
  return !is_ours && find_string(space, {"status", "phase"}) != "Terminating";
}

void plan_service_ca(const Snapshot& seen, DesiredState& desired_state) {
  Condition degraded{.type = "ServiceCADegraded"};
  struct Source {
    std::string_view space, name, creator;
  };
  // The authorities of API servers: for pods of clusters whose earlier release published only those.
  constexpr std::array sources = {Source{authority_space, authority_bundle, "service-ca operator"},
                                  Source{managed_space, servers_bundle, "kube-apiserver operator"}};
  std::string bundle;
  for (const Source& source : sources) {
    const Json* object = seen.find(kube::types::config_maps, source.space, source.name);
    const std::string part(object ? find_string(*object, {"data", "ca-bundle.crt"}).value_or("") : "");
    bundle += part;
    if (!bundle.empty() && !bundle.ends_with('\n')) bundle += '\n';
    if (!part.empty() || degraded.is_true) continue;
    degraded.is_true = true;
    degraded.reason = "SynchronizationError";
    degraded.message =
        fmt::format("ConfigMap {}/{}, which the {} creates, does not exist", source.space, source.name, source.creator);
  }
  // Complete from the first write on: the files on masters and in pods follow each one.
  if (!degraded.is_true) {
    const auto desired = [&](std::string_view space, std::string_view name, std::string_view key) {
      desired_state.plan.desired_objects.push_back(
          {kube::types::config_maps,
           config_map({std::string(space), std::string(name)}, {{std::string(key), bundle}},
                      {{"kubernetes.io/description", "Authorities of certificates that services of this cluster show."}})});
    };
    desired(managed_space, "service-ca", "ca-bundle.crt");
    for (const Json* space : seen.list(kube::types::namespaces)) {
      if (has_bundle(*space)) desired(kube::name_of(*space), bundle_of_spaces, "service-ca.crt");
    }
  }
  desired_state.conditions.push_back(std::move(degraded));
}

// The types of settings include FeatureGate and Infrastructure.
std::vector<Watched> watched_by_config() {
  std::vector<Watched> watched = {
      {kube::types::cluster_versions},
      {kube::types::namespaces},
      {kube::types::config_maps, std::string(config_space)},
      {kube::types::config_maps, std::string(managed_space)},
      {kube::types::config_maps, std::string(authority_space), {.fields = fmt::format("metadata.name={}", authority_bundle)}},
      {kube::types::config_maps, "", {.fields = fmt::format("metadata.name={}", bundle_of_spaces)}}};
  for (const kube::ResourceType& type : cluster_settings()) watched.push_back({type, "", {.fields = "metadata.name=cluster"}});
  return watched;
}

Result<std::vector<Json>> read_lists(sys::Files& files) {
  std::vector<Json> lists;
  const std::string folder(lists_folder);
  for (const std::string& path : TRY(files_below(files, folder))) {
    lists.push_back(TRY(read_yaml(files, fmt::format("{}/{}", folder, path))));
  }
  return lists;
}

}  // namespace

DesiredState plan_config(const std::vector<Json>& lists, const ReleaseVersion& release, const Snapshot& seen) {
  DesiredState desired_state;
  plan_gates(lists, release.version, seen, desired_state);
  plan_cloud_config(seen, desired_state);
  plan_service_ca(seen, desired_state);
  return desired_state;
}

WorkloadOperator make_operator(std::vector<Json> lists, const ReleaseVersion& release) {
  return {.name = "config-operator",
          .space = "openshift-config-operator",
          .watched = watched_by_config(),
          .desired_state = [lists = std::move(lists), release](const Snapshot& seen, WallTime) -> Result<DesiredState> {
            return plan_config(lists, release, seen);
          },
          .settings = kube::types::config_settings,
          .configured_by = cluster_settings()};
}

Result<> run_operator(const Environment& environment, const Arguments& arguments, std::vector<WorkloadOperator> companions) {
  return run_workload_operator(environment, arguments, "cluster-config-operator",
                               [&](const Environment& given, const ReleaseVersion& release) -> Result<WorkloadOperator> {
                                 WorkloadOperator work = make_operator(TRY(read_lists(given.files)), release);
                                 work.companions = std::move(companions);
                                 return work;
                               });
}

}  // namespace slipway::components::config_operator
