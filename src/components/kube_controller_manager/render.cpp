#include "components/kube_controller_manager/render.h"

#include "base/sorted_keys.h"
#include "base/text.h"
#include "base/yaml.h"
#include "components/render/document.h"
#include "components/render/flags.h"

#include <algorithm>

namespace slipway::components::kube_controller_manager {

namespace {

constexpr std::string_view release_lease_gate = "ControllerManagerReleaseLeaderElectionLockOnExit";

Json one(std::string value) { return JsonArray{Json(std::move(value))}; }

// "--name=value" for each value of each argument, in the order of names and values.
std::vector<std::string> command_line(const JsonObject& arguments) {
  std::vector<std::string> words;
  for (const auto& [name, values] : arguments) {
    for (const Json& value : values.as_array())
      words.push_back(fmt::format("--{}={}", std::string_view(name), std::string_view(value.as_string())));
  }
  std::ranges::sort(words);
  return words;
}

}  // namespace

JsonObject network_arguments(const Network& network, const std::string& file, Findings& findings) {
  JsonObject arguments;
  arguments["cluster-cidr"] = one(join(network.cluster_cidrs(), ","));
  arguments["service-cluster-ip-range"] = one(join(network.service_cidrs(), ","));
  arguments["allocate-node-cidrs"] = one("true");
  const bool dual = network.cluster.size() > 1;
  for (const ClusterNetwork& entry : network.cluster) {
    const bool v4 = entry.cidr.is_v4();
    const std::string name = !dual ? "node-cidr-mask-size" : v4 ? "node-cidr-mask-size-ipv4" : "node-cidr-mask-size-ipv6";
    if (arguments.contains(name)) {
      findings.error({file}, "spec.clusterNetwork", "network type {} supports one network per family", network.type);
    }
    // OpenShift's defaults for a missing field.
    arguments[name] = one(std::to_string(entry.host_prefix != 0 ? entry.host_prefix : v4 ? 23 : 64));
  }
  return arguments;
}

std::vector<std::string> gate_settings(const FeatureGates& gates) {
  FeatureGates all = gates;
  std::erase(all.disabled, release_lease_gate);
  if (!all.is_enabled(release_lease_gate)) all.enabled.emplace_back(release_lease_gate);
  return all.settings();
}

Result<TemplateValues> places(std::string_view where) {
  TemplateValues values;
  const Json table = TRY(fill_document(fmt::format("kube_controller_manager/places-{}.yaml", where), {}));
  for (const auto& [name, place] : table.as_object()) values[std::string(name)] = std::string_view(place.as_string());
  return values;
}

Result<Json> make_config(const TemplateValues& places, const JsonObject& network_arguments,
                         const std::vector<std::string>& gates) {
  Json config = TRY(fill_document("kube_controller_manager/config.yaml", places));
  JsonObject& arguments = config.at("extendedArguments").as_object();
  for (const auto& [name, values] : network_arguments) arguments[name] = values;
  arguments["feature-gates"] = texts(gates);
  return config;
}

Result<Json> make_policy_config(const TemplateValues& places, const std::vector<std::string>& gates) {
  Json config = TRY(fill_document("kube_controller_manager/cpc-config.yaml", places));
  config.as_object()["featureGates"] = texts(gates);
  return sorted_keys(config);
}

Result<RenderedFile> make_pod(const TemplateValues& values, const Json& config) {
  Json pod = TRY(fill_document("kube_controller_manager/pod.yaml", values));
  JsonArray& words = pod.at("spec").at("containers").at(0).at("args").as_array();
  for (const std::string& word : command_line(find_object(config, {"extendedArguments"}))) words.emplace_back(word);
  return RenderedFile{"bootstrap-manifests/kube-controller-manager-pod.yaml", emit_yaml(pod)};
}

Result<RenderedFiles> make_manifests(const TemplateValues& values, const TlsInput& tls) {
  RenderedFiles files = TRY(fill_folder("kube_controller_manager/manifests", "manifests", values));
  files.push_back(
      manifest_file("manifests/configmap-csr-controller-ca.yaml",
                    config_map({"openshift-config-managed", "csr-controller-ca"}, {{"ca-bundle.crt", tls.kubelet_client_ca}})));
  const Rotation rotation{.component = "kube-controller-manager", .description = "Authority of the signer of kubelets' requests"};
  const Json signer =
      TRY(tls_secret({"openshift-kube-controller-manager-operator", "csr-signer-signer"}, tls.kubelet_signer, rotation));
  files.push_back(manifest_file("manifests/secret-csr-signer-signer.yaml", signer));
  files.push_back(manifest_file("manifests/secret-initial-kube-controller-manager-service-account-private-key.yaml",
                                secret({"openshift-config", "initial-service-account-private-key"}, "Opaque",
                                       {{"service-account.key", tls.service_account_key.reveal()}})));
  return files;
}

Result<> run_render(const Environment& environment, const Arguments& arguments) {
  const std::vector<Flag> table =
      render_flags("kube-controller-manager", {{.name = "cluster-config-file", .required = true},
                                               {.name = "cluster-policy-controller-image", .required = true},
                                               {.name = "cpc-config-output-file", .required = true},
                                               {.name = "rendered-manifest-files", .required = true, .repeats = true},
                                               {.name = "payload-version", .required = true}});
  const Flags flags = TRY(parse_flags("cluster-kube-controller-manager-operator render", table, arguments));
  sys::Files& files = environment.files;
  Findings findings;
  const std::string& network_file = flags.text("cluster-config-file");
  const Network network = parse_network(read_document(files, network_file, findings), network_file, findings);
  const JsonObject of_network = network_arguments(network, network_file, findings);
  const std::vector<Manifest> manifests = load_manifests(files, list_of(flags, "rendered-manifest-files"), findings);
  const std::vector<std::string> gates = gate_settings(feature_gates(manifests, flags.text("payload-version"), findings));
  const std::string& folder = flags.text("asset-input-dir");
  TlsInput tls;
  tls.kubelet_signer = read_pair(files, folder, "kubelet-signer", findings);
  tls.kubelet_client_ca = read_input(files, folder + "/kubelet-client-ca-bundle.crt", findings);
  tls.service_account_key = Secret(read_input(files, folder + "/service-account.key", findings));
  TRY(findings.to_result());

  TemplateValues values = template_values(flags);
  values["POLICY_IMAGE"] = quoted(flags.text("cluster-policy-controller-image"));
  const TemplateValues there = TRY(places("bootstrap"));
  const Json made_config = TRY(make_config(there, of_network, gates));
  const Json config = layered(files, flags, made_config, findings);
  TRY(findings.to_result());
  const Json policy_config = TRY(make_policy_config(there, gates));
  RenderedFiles rendered = TRY(make_manifests(values, tls));
  rendered.push_back(TRY(make_pod(values, config)));
  TRY(write_rendered(files, flags.text("asset-output-dir"), rendered));
  TRY(files.write(flags.text("config-output-file"), emit_yaml(config), 0644));
  return files.write(flags.text("cpc-config-output-file"), emit_yaml(policy_config), 0644);
}

}  // namespace slipway::components::kube_controller_manager
