#include "components/etcd/render.h"

#include "base/digest.h"
#include "base/flags.h"
#include "base/text.h"
#include "base/yaml.h"
#include "components/program/host_address.h"
#include "components/render/document.h"

namespace slipway::components::etcd {

namespace {

constexpr std::string_view space = "openshift-etcd";
constexpr std::string_view member_folder = "etc-kubernetes/static-pod-resources/etcd-member/";

bool is_in_place(const InstallConfig& config) { return config.bootstrap_in_place && config.control_plane_replicas == 1; }

// Platforms with slower disks and networks. On these, etcd gets a heartbeat of 500 ms and an election timeout of 2500 ms.
bool is_slow(const Infrastructure& infrastructure) {
  return infrastructure.platform == "Azure" ||
         (infrastructure.platform == "IBMCloud" && infrastructure.ibm_cloud_provider == "VPC");
}

TemplateValues pod_values(const RenderInput& input) {
  const std::string address = to_string(input.address);
  const bool v4 = input.address.is_v4();
  const bool slow = is_slow(input.infrastructure);
  return {{"POD_NAME", is_in_place(input.install_config) ? "etcd-" + input.host : "etcd-bootstrap-member"},
          {"MEMBER_NAME", is_in_place(input.install_config) ? "etcd-" + input.host : "etcd-bootstrap"},
          {"IMAGE", quoted(input.image)},
          {"HOST", input.host},
          {"ADDRESS", v4 ? address : "[" + address + "]"},
          {"LISTEN", v4 ? "0.0.0.0" : "[::]"},
          {"HEARTBEAT_INTERVAL", slow ? "500" : "100"},
          {"ELECTION_TIMEOUT", slow ? "2500" : "1000"},
          {"MAX_LEARNERS", std::to_string(input.install_config.control_plane_replicas + input.install_config.arbiter_replicas)}};
}

// ConfigMap etcd-endpoints. An annotation has the address of the bootstrap machine's member and is removed together with that
// member. A single node in place keeps its first member, so there the address is an entry of the data.
Json endpoints(const RenderInput& input) {
  const std::string address = to_string(input.address);
  if (!is_in_place(input.install_config)) {
    return config_map(object_name(space, "etcd-endpoints"), {}, {{"alpha.installer.openshift.io/etcd-bootstrap", address}});
  }
  std::string key = base64_encode(address);
  key.erase(key.find_last_not_of('=') + 1);
  return config_map(object_name(space, "etcd-endpoints"), {{key, address}});
}

Json bundle(std::string_view name, std::string_view description, const Texts& data, Texts annotations = {}) {
  annotations.emplace_back("openshift.io/description", description);
  annotations.emplace_back("openshift.io/owning-component", "etcd");
  return config_map(object_name(space, name), data, annotations, {{"auth.openshift.io/managed-certificate-type", "ca-bundle"}});
}

RenderedFile object_file(const Json& object) {
  return manifest_file(fmt::format("manifests/openshift-etcd-{}.yaml", *find_string(object, {"metadata", "name"})), object);
}

void add_pair(RenderedFiles& files, const std::string& stem, const net::Certificate& certificate) {
  files.push_back({stem + ".crt", certificate.pem, 0600});
  files.push_back({stem + ".key", certificate.key.reveal(), 0600});
}

Result<Json> namespace_object(bool delayed) {
  Json object = TRY(fill_document("etcd/manifests/00_openshift-etcd-ns.yaml", {}));
  if (delayed) object.at("metadata").at("annotations").as_object()["openshift.io/delayed-bootstrap"] = "";
  return object;
}

Result<std::string> host_name(sys::Files& files) {
  const std::string text = TRY(files.read("/proc/sys/kernel/hostname").context("reading the name of this machine"));
  const std::string name(trim(text));
  if (name.empty()) return error(Code::invalid, "this machine has no host name (set one with hostnamectl)");
  return name;
}

}  // namespace

Result<RenderedFiles> render(const RenderInput& input, const Certificates& certificates) {
  RenderedFiles files;
  std::string pod = TRY(fill_text("etcd/pod.yaml", pod_values(input)));
  files.push_back({"etc-kubernetes/manifests/etcd-member-pod.yaml", std::move(pod)});

  const std::string& ca = certificates.signer.certificate.pem;
  const std::string& metric_ca = certificates.metric_signer.certificate.pem;
  files.push_back({fmt::format("{}ca.crt", member_folder), ca, 0600});
  for (const Material* material : certificates.all()) {
    add_pair(files, fmt::format("{}etcd-all-certs/{}", member_folder, material->name), material->certificate);
  }
  files.push_back({"tls/etcd-ca-bundle.crt", ca, 0600});
  add_pair(files, "tls/etcd-client", certificates.client.certificate);

  const Json etcd_namespace = TRY(namespace_object(input.delayed));
  files.push_back(manifest_file("manifests/00_openshift-etcd-ns.yaml", etcd_namespace));
  files.push_back(manifest_file("manifests/00_etcd-endpoints-cm.yaml", endpoints(input)));
  std::string service = TRY(fill_text("etcd/manifests/openshift-etcd-svc.yaml", {}));
  files.push_back({"manifests/openshift-etcd-svc.yaml", std::move(service)});

  Texts of_node;
  for (const Material* material : certificates.of_node()) {
    of_node.emplace_back(material->name + ".crt", material->certificate.pem);
    of_node.emplace_back(material->name + ".key", material->certificate.key.reveal());
  }
  for (const Material* material : certificates.all()) {
    const Json object = TRY(tls_secret(object_name(space, material->name), material->certificate, material->rotation));
    files.push_back(object_file(object));
  }
  files.push_back(object_file(secret(object_name(space, "etcd-all-certs"), "Opaque", of_node)));
  files.push_back(object_file(bundle("etcd-ca-bundle", "Authorities of members and clients of etcd", {{"ca-bundle.crt", ca}})));
  files.push_back(object_file(
      bundle("etcd-metrics-ca-bundle", "Authorities of clients that read metrics of etcd", {{"ca-bundle.crt", metric_ca}})));
  files.push_back(object_file(bundle("etcd-all-bundles", "Both bundles, for the pods of etcd",
                                     {{"metrics-ca-bundle.crt", metric_ca}, {"server-ca-bundle.crt", ca}},
                                     {{"openshift.io/ceo-bundle-rollout-revision", "0"}})));
  return files;
}

Result<> run_render(const Environment& environment, const Arguments& arguments) {
  const Flags flags =
      TRY(parse_flags("cluster-etcd-operator render",
                      {{.name = "asset-output-dir", .required = true},
                       {.name = "etcd-image", .required = true},
                       {.name = "network-config-file", .required = true},
                       {.name = "cluster-configmap-file", .required = true},
                       {.name = "infra-config-file", .required = true},
                       {.name = "delayed-ha-bootstrap-scaling-marker-file", .fallback = "/assets/assisted-install-bootstrap"}},
                      arguments));
  sys::Files& files = environment.files;
  Findings findings;
  const auto document = [&](std::string_view flag) { return read_document(files, flags.text(flag), findings); };
  const Network network = parse_network(document("network-config-file"), flags.text("network-config-file"), findings);
  RenderInput input;
  input.image = flags.text("etcd-image");
  input.install_config = parse_install_config(document("cluster-configmap-file"), flags.text("cluster-configmap-file"), findings);
  input.infrastructure = parse_infrastructure(document("infra-config-file"), flags.text("infra-config-file"), findings);
  TRY(findings.to_result());

  input.host = TRY(host_name(files));
  const std::vector<HostAddress> addresses = TRY(host_addresses(environment.runner, environment.context));
  input.address = TRY(
      choose_host_address(addresses, network.is_v4(), input.install_config.machine_networks, input.install_config.virtual_ips));
  const std::optional<sys::FileInfo> marker = TRY(files.info(flags.text("delayed-ha-bootstrap-scaling-marker-file")));
  input.delayed = marker.has_value() && !is_in_place(input.install_config);
  const Certificates certificates = TRY(make_certificates(input.host, to_string(input.address), environment.context.clock.now()));
  const RenderedFiles rendered = TRY(render(input, certificates));
  return write_rendered(files, flags.text("asset-output-dir"), rendered);
}

}  // namespace slipway::components::etcd
