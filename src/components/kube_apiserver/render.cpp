#include "components/kube_apiserver/render.h"

#include "base/text.h"
#include "base/yaml.h"
#include "components/render/document.h"
#include "components/render/flags.h"
#include "data/data.h"

#include <algorithm>
#include <array>

namespace slipway::components::kube_apiserver {

namespace {

constexpr std::string_view operator_space = "openshift-kube-apiserver-operator";
constexpr std::string_view config_space = "openshift-config";
constexpr std::string_view managed_space = "openshift-config-managed";
constexpr std::string_view bound_key_name = "bound-service-account-signing-key";

// Authorities that the operator in the cluster takes over and rotates.
struct Signer {
  std::string_view input;  // base name in the TLS folder
  std::string_view file;   // NAME of secret-NAME.yaml
  std::string_view name;   // name of the Secret
  std::string_view description;
};
constexpr std::array signers = {
    Signer{"aggregator-signer", "aggregator-client-signer", "aggregator-client-signer",
           "Authority of the aggregation layer's client"},
    Signer{"kube-control-plane-signer", "control-plane-client-signer", "kube-control-plane-signer",
           "Authority of the clients of the control plane"},
    Signer{"kube-apiserver-to-kubelet-signer", "kube-apiserver-to-kubelet-signer", "kube-apiserver-to-kubelet-signer",
           "Authority of the API server as a client of kubelets"},
    Signer{"kube-apiserver-lb-signer", "loadbalancer-serving-signer", "loadbalancer-serving-signer",
           "Authority of the API server behind the load balancers"},
    Signer{"kube-apiserver-localhost-signer", "localhost-serving-signer", "localhost-serving-signer",
           "Authority of the API server on localhost"},
    Signer{"kube-apiserver-service-network-signer", "service-network-serving-signer", "service-network-serving-signer",
           "Authority of the API server in the service network"},
};

bool is_version(std::string_view text) {
  text = text.substr(0, text.find_first_of("+-"));
  const std::vector<std::string_view> parts = split(text, '.');
  return parts.size() == 3 && std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos &&
                  (part == "0" || part[0] != '0');
         });
}

TlsInput read_tls(sys::Files& files, const std::string& folder, Findings& findings) {
  TlsInput tls;
  for (const Signer& signer : signers) tls.signers[std::string(signer.input)] = read_pair(files, folder, signer.input, findings);
  tls.admin_ca = read_input(files, folder + "/admin-kubeconfig-ca-bundle.crt", findings);
  tls.kubelet_bootstrap_ca = read_input(files, folder + "/kubelet-bootstrap-kubeconfig-ca-bundle.crt", findings);
  tls.service_account_public = read_input(files, folder + "/service-account.pub", findings);
  return tls;
}

// Reads the key pair, or generates it if neither file exists.
Result<> read_or_make_bound_key(sys::Files& files, const std::string& folder, TlsInput& tls) {
  const std::string stem = fmt::format("{}/{}", folder, bound_key_name);
  const std::optional<std::string> key = TRY(files.read_if_exists(stem + ".key"));
  const std::optional<std::string> pem = TRY(files.read_if_exists(stem + ".pub"));
  if (key.has_value() != pem.has_value()) {
    return error(Code::invalid, "{0}.{1} exists, but {0}.{2} does not (add it, or remove both to generate a new pair)", stem,
                 key ? "key" : "pub", key ? "pub" : "key");
  }
  if (key) {
    tls.bound_key = Secret(*key);
    tls.bound_public = *pem;
    return Ok{};
  }
  tls.bound_key = TRY(net::make_key());
  tls.bound_public = TRY(net::public_key(tls.bound_key));
  TRY(files.write(stem + ".key", tls.bound_key.reveal(), 0600));
  const Result<> written = files.write(stem + ".pub", tls.bound_public, 0644);
  // Only half of the pair would be an error in every later run.
  if (!written.ok()) TRY(files.remove(stem + ".key"));
  return written;
}

// The issuer in the file, which may be missing, or in the rendered manifests.
std::string issuer_of(sys::Files& files, const std::string& file, const std::vector<Manifest>& manifests, Findings& findings) {
  std::vector<Json> objects;
  const Result<std::optional<sys::FileInfo>> info = file.empty() ? std::optional<sys::FileInfo>() : files.info(file);
  if (!info.ok()) findings.error({file}, "", "{}", info.error().message());
  if (info.ok() && info.value()) objects.push_back(read_document(files, file, findings));
  for (const Manifest* manifest : of_kind(manifests, "config.openshift.io", "Authentication"))
    objects.push_back(manifest->object);
  for (const Json& object : objects) {
    const auto issuer = find_string(object, {"spec", "serviceAccountIssuer"});
    if (issuer && !issuer->empty()) return std::string(*issuer);
  }
  return "https://kubernetes.default.svc";
}

}  // namespace

Result<Json> make_config(const RenderInput& input) {
  const std::vector<ClusterNetwork>& cluster = input.network.cluster;
  const bool dual = cluster.size() > 1;
  const bool v6 = cluster.size() == 1 && !cluster.front().cidr.is_v4();
  const ApiServerPace pace = TRY(api_server_pace(input.infrastructure, input.is_temporary));
  TemplateValues values = input.values;
  values["ISSUER"] = quoted(input.issuer);
  values["ETCD_CA"] = quoted("/etc/kubernetes/secrets/" + input.etcd_ca);
  values["SERVICES"] = quoted(join(input.network.service_cidrs(), ","));
  values["BIND_ADDRESS"] = quoted(dual || v6 ? "[::]:6443" : "0.0.0.0:6443");
  values["BIND_NETWORK"] = dual ? "tcp" : v6 ? "tcp6" : "tcp4";
  values["SHUTDOWN_DELAY"] = fmt::format("{}s", pace.delay);
  Json config = TRY(fill_document("kube_apiserver/config.yaml", values));
  JsonObject& arguments = config.at("apiServerArguments").as_object();
  arguments["etcd-servers"] = texts(input.etcd_urls);
  arguments["feature-gates"] = texts(input.gates.settings());
  return config;
}

Result<RenderedFile> make_pod(const RenderInput& input) {
  const ApiServerPace pace = TRY(api_server_pace(input.infrastructure, input.is_temporary));
  TemplateValues values = input.values;
  values["GRACE_SECONDS"] = std::to_string(pace.grace);
  const std::string path = "bootstrap-manifests/kube-apiserver-pod.yaml";
  std::string text = TRY(fill_text("kube_apiserver/pod.yaml", values));
  return RenderedFile{path, std::move(text)};
}

Result<RenderedFiles> make_manifests(const TemplateValues& values, const TlsInput& tls) {
  RenderedFiles files = TRY(fill_folder("kube_apiserver/manifests", "manifests", values));
  const auto add = [&](std::string_view name, const Json& object) {
    files.push_back(manifest_file(fmt::format("manifests/{}.yaml", name), object));
  };
  add("configmap-admin-kubeconfig-client-ca",
      config_map(object_name(config_space, "admin-kubeconfig-client-ca"), {{"ca-bundle.crt", tls.admin_ca}}));
  add("configmap-kubelet-bootstrap-kubeconfig-ca",
      config_map(object_name(managed_space, "kubelet-bootstrap-kubeconfig"), {{"ca-bundle.crt", tls.kubelet_bootstrap_ca}}));
  add("configmap-sa-token-signing-certs", config_map(object_name(managed_space, "sa-token-signing-certs"),
                                                     {{"service-account-001.pub", tls.service_account_public}}));
  add("secret-bound-sa-token-signing-key",
      secret(object_name(operator_space, "next-bound-service-account-signing-key"), "",
             {{"service-account.key", tls.bound_key.reveal()}, {"service-account.pub", tls.bound_public}}));
  for (const Signer& signer : signers) {
    const Rotation rotation{.component = "kube-apiserver", .description = std::string(signer.description)};
    const Json object =
        TRY(tls_secret(object_name(operator_space, signer.name), tls.signers.at(std::string(signer.input)), rotation));
    add(fmt::format("secret-{}", signer.file), object);
  }
  return files;
}

Result<> run_render(const Environment& environment, const Arguments& arguments) {
  const std::vector<Flag> table = render_flags(
      "kube-apiserver", {{.name = "manifest-operator-image", .required = true},
                         {.name = "manifest-lock-host-path"},  // ignored: obsolete
                         {.name = "manifest-etcd-server-urls", .fallback = "https://127.0.0.1:2379", .repeats = true},
                         {.name = "manifest-etcd-serving-ca", .fallback = "root-ca.crt"},
                         {.name = "cluster-config-file", .required = true},
                         {.name = "cluster-auth-file"},
                         {.name = "infra-config-file", .required = true},
                         {.name = "rendered-manifest-files", .required = true, .repeats = true},
                         {.name = "payload-version", .required = true},
                         {.name = "operand-kubernetes-version", .required = true}});
  const Flags flags = TRY(parse_flags("cluster-kube-apiserver-operator render", table, arguments));
  sys::Files& files = environment.files;
  Findings findings;
  const std::string& version = flags.text("operand-kubernetes-version");
  if (!is_version(version))
    findings.error({}, "--operand-kubernetes-version", "'{}' is not a version, for example 1.36.3", version);
  const auto document = [&](std::string_view flag) { return read_document(files, flags.text(flag), findings); };

  RenderInput input;
  input.is_temporary = true;
  input.values = template_values(flags);
  input.network = parse_network(document("cluster-config-file"), flags.text("cluster-config-file"), findings);
  input.infrastructure = parse_infrastructure(document("infra-config-file"), flags.text("infra-config-file"), findings);
  const std::vector<Manifest> manifests = load_manifests(files, list_of(flags, "rendered-manifest-files"), findings);
  input.gates = feature_gates(manifests, flags.text("payload-version"), findings);
  input.issuer = issuer_of(files, flags.text("cluster-auth-file"), manifests, findings);
  input.etcd_urls = list_of(flags, "manifest-etcd-server-urls");
  input.etcd_ca = flags.text("manifest-etcd-serving-ca");
  const std::string& folder = flags.text("asset-input-dir");
  TlsInput tls = read_tls(files, folder, findings);
  TRY(findings.to_result());
  TRY(read_or_make_bound_key(files, folder, tls));

  const Json made_config = TRY(make_config(input));
  const Json config = layered(files, flags, made_config, findings);
  TRY(findings.to_result());
  RenderedFiles rendered = TRY(make_manifests(input.values, tls));
  rendered.push_back(TRY(make_pod(input)));
  TRY(write_rendered(files, flags.text("asset-output-dir"), rendered));
  return files.write(flags.text("config-output-file"), emit_yaml(config), 0644);
}

}  // namespace slipway::components::kube_apiserver
