#include "components/machine_config_operator/bootstrap.h"

#include "base/template.h"
#include "base/yaml.h"
#include "components/render/inputs.h"
#include "data/data.h"
#include "machineconfig/controller_config.h"

namespace slipway::components::machine_config_operator {

namespace {

constexpr std::string_view program = "machine-config-operator bootstrap";

const std::vector<Flag>& flag_table() {
  static const std::vector<Flag> table = [] {
    std::vector<Flag> all = {
        {.name = "dest-dir", .required = true},
        {.name = "config-file", .required = true},
        {.name = "release-image"},
        {.name = "image-references"},
        {.name = "root-ca", .fallback = "/etc/ssl/kubernetes/ca.crt"},
        {.name = "kube-ca"},
        {.name = "pull-secret", .fallback = "/assets/manifests/pull.json"},
        {.name = "infra-config-file", .fallback = "/assets/manifests/cluster-infrastructure-02-config.yml"},
        {.name = "network-config-file", .fallback = "/assets/manifests/cluster-network-02-config.yml"},
        {.name = "dns-config-file", .fallback = "/assets/manifests/cluster-dns-02-config.yml"},
        {.name = "proxy-config-file", .fallback = "/assets/manifests/cluster-proxy-01-config.yaml"},
        {.name = "additional-trust-bundle-config-file", .fallback = "/assets/manifests/user-ca-bundle-config.yaml"},
        {.name = "cloud-config-file"},
        {.name = "cloud-lb-config-file"},
        {.name = "cloud-provider-ca-file"},
        {.name = "payload-version", .required = true},
    };
    for (const MachineConfigImage& image : machine_config_images()) all.push_back({.name = std::string(image.flag)});
    return all;
  }();
  return table;
}

std::string read_optional(sys::Files& files, const std::string& path, Findings& findings) {
  if (path.empty()) return "";
  const Result<std::optional<std::string>> content = files.read_if_exists(path);
  if (!content.ok()) findings.error({path}, "", "{}", content.error().message());
  return content.ok() ? content.value().value_or("") : "";
}

// A key of a ConfigMap; empty when the file or the key is missing.
std::string read_map_key(sys::Files& files, const std::string& path, std::string_view key, Findings& findings) {
  const std::string text = read_optional(files, path, findings);
  if (text.empty()) return "";
  const Result<YamlDocument> map = parse_yaml(text, path);
  if (!map.ok()) findings.error({path}, "", "{}", map.error().message());
  return map.ok() ? text_of(map->value, {"data", key}) : "";
}

void read_images(sys::Files& files, const Flags& flags, MachineConfigInputs& inputs, Findings& findings) {
  const std::string& references = flags.text("image-references");
  if (!references.empty()) {
    const Json stream = read_document(files, references, findings);
    for (const Json& tag : find_array(stream, {"spec", "tags"})) {
      const std::string_view name = find_string(tag, {"name"}).value_or("");
      inputs.images[std::string(name)] = find_string(tag, {"from", "name"}).value_or("");
    }
  }
  for (const MachineConfigImage& image : machine_config_images()) {
    if (flags.is_given(image.flag)) inputs.images[std::string(image.component)] = flags.text(image.flag);
  }
  complete_images(references, "--image-references is required", inputs, findings);
}

std::string read_pull_secret(sys::Files& files, const std::string& path, Findings& findings) {
  const Json object = read_document(files, path, findings);
  if (object.is_null()) return "";
  if (find_string(object, {"kind"}) != "Secret" || find_string(object, {"type"}) != "kubernetes.io/dockerconfigjson") {
    findings.error({path}, "", "not a Secret of type kubernetes.io/dockerconfigjson");
  }
  return read_optional(files, path, findings);
}

Json serving_ca(const std::string& kube_ca) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", "initial-kube-apiserver-server-ca"}, {"namespace", "openshift-config"}}},
          {"data", {{"ca-bundle.crt", kube_ca}}}};
}

Result<RenderedFile> filled(std::string path, std::string_view file, const TemplateValues& values) {
  std::string text = TRY(fill_template(data::content(data::machine_config(), file), file, values));
  return RenderedFile{.path = std::move(path), .content = std::move(text)};
}

}  // namespace

MachineConfigInputs read_machine_config_inputs(sys::Files& files, const Flags& flags, Findings& findings) {
  MachineConfigInputs inputs;
  inputs.version = flags.text("payload-version");
  inputs.release_image = flags.text("release-image");
  const std::string& config_file = flags.text("config-file");
  take_install_config(read_document(files, config_file, findings), config_file, inputs, findings);
  const std::string& network_file = flags.text("network-config-file");
  take_network(read_document(files, network_file, findings), network_file, inputs, findings);
  inputs.infrastructure = read_document(files, flags.text("infra-config-file"), findings);
  inputs.dns = read_document(files, flags.text("dns-config-file"), findings);
  inputs.proxy = read_document(files, flags.text("proxy-config-file"), findings);
  inputs.root_ca = read_input(files, flags.text("root-ca"), findings);
  inputs.kube_ca = read_optional(files, flags.text("kube-ca"), findings);
  inputs.cloud_ca = read_optional(files, flags.text("cloud-provider-ca-file"), findings);
  inputs.trust_bundle = read_map_key(files, flags.text("additional-trust-bundle-config-file"), "ca-bundle.crt", findings);
  inputs.pull_secret = read_pull_secret(files, flags.text("pull-secret"), findings);
  const std::string_view cloud_key = find_string(inputs.infrastructure, {"spec", "cloudConfig", "key"}).value_or("cloud.conf");
  inputs.cloud_config = read_map_key(files, flags.text("cloud-config-file"), cloud_key, findings);
  if (inputs.cloud_config.empty()) {
    // The config operator renames the key to this one.
    inputs.cloud_config = read_map_key(files, flags.text("cloud-config-file"), "cloud.conf", findings);
  }
  const std::string_view cloud_name = find_string(inputs.infrastructure, {"spec", "cloudConfig", "name"}).value_or("");
  if (!cloud_name.empty() && inputs.cloud_config.empty()) {
    findings.error({flags.text("infra-config-file")}, "spec.cloudConfig", "refers to '{}', which was not given", cloud_name)
        .hint("give --cloud-config-file");
  }
  read_images(files, flags, inputs, findings);
  return inputs;
}

Result<RenderedFiles> render_machine_config_bootstrap(const MachineConfigInputs& inputs) {
  const TemplateValues values = {{"MACHINE_CONFIG_OPERATOR_IMAGE", inputs.images.at("machine-config-operator")},
                                 {"VERSION", inputs.version}};
  RenderedFiles files;
  const std::string manifests = "bootstrap/manifests/";
  files.push_back({manifests + "machineconfigcontroller-controllerconfig.yaml",
                   emit_yaml(machineconfig::to_json(controller_config(inputs)))});
  files.push_back({manifests + "machineconfigcontroller-pull-secret", inputs.pull_secret, 0600});
  for (const std::string role : {"master", "worker"}) {
    files.push_back({manifests + role + ".machineconfigpool.yaml", emit_yaml(built_in_pool(role))});
  }
  files.push_back(TRY(filled("bootstrap/machineconfigoperator-bootstrap-pod.yaml",
                             "bootstrap/machineconfigoperator-bootstrap-pod.yaml", values)));
  files.push_back(TRY(filled("manifests/csr-bootstrap-role-binding.yaml", "bootstrap/csr-bootstrap-role-binding.yaml", {})));
  files.push_back({"manifests/kube-apiserver-serving-ca-configmap.yaml", emit_yaml(serving_ca(inputs.kube_ca))});
  if (inputs.api_vips.empty()) return files;
  if (inputs.api_vips.size() > 1) {
    return error(Code::invalid, "platform {} has {} addresses for the API, must have one", inputs.platform,
                 inputs.api_vips.size());
  }
  std::string domain = TRY(require_string(inputs.dns, {"spec", "baseDomain"}));
  const TemplateValues keepalived = {{"PLATFORM", inputs.platform},
                                     {"API_VIPS", inputs.api_vips.front()},
                                     {"CLUSTER_DOMAIN", std::move(domain)},
                                     {"KEEPALIVED_IMAGE", inputs.images.at("keepalived-ipfailover")}};
  files.push_back(TRY(filled(inputs.platform + "/manifests/keepalived.yaml", "bootstrap/keepalived.yaml", keepalived)));
  for (const char* name : {"keepalived-namespace.yaml", "keepalived-role-binding.yaml", "keepalived-role.yaml"}) {
    files.push_back(TRY(filled(std::string("manifests/") + name, std::string("bootstrap/") + name, keepalived)));
  }
  // Not rendered here: the machine that uses it renders it (runtimecfg.h).
  files.push_back({inputs.platform + "/static-pod-resources/keepalived/keepalived.conf.tmpl",
                   std::string(data::content(data::machine_config(), "bootstrap/keepalived.conf.tmpl"))});
  return files;
}

Result<> run_bootstrap(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags(program, flag_table(), arguments));
  Findings findings;
  const MachineConfigInputs inputs = read_machine_config_inputs(environment.files, flags, findings);
  TRY(findings.to_result());
  const RenderedFiles rendered = TRY(render_machine_config_bootstrap(inputs));
  return write_rendered(environment.files, flags.text("dest-dir"), rendered);
}

}  // namespace slipway::components::machine_config_operator
