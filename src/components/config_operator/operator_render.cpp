#include "components/config_operator/operator_render.h"

#include "base/flags.h"
#include "base/yaml.h"
#include "components/render/inputs.h"

namespace slipway::components::config_operator {

namespace {

// The flags that bootkube.sh and users give. Only a few have an effect, since cluster-config-api renders the CRDs.
const std::vector<Flag> table = {
    {.name = "asset-input-dir", .required = true},
    {.name = "asset-output-dir", .required = true},
    {.name = "config-output-file", .required = true},
    {.name = "cluster-infrastructure-input-file"},
    {.name = "cloud-provider-config-input-file"},
    {.name = "cloud-provider-config-output-file"},
    {.name = "cluster-config-file"},
    {.name = "templates-input-dir"},
    {.name = "config-override-files", .repeats = true},
    {.name = "rendered-manifest-files", .repeats = true},
    {.name = "payload-version"},
    {.name = "skip-api-rendering", .is_switch = true},
    {.name = "manifest-namespace"},
    {.name = "manifest-image"},
    {.name = "manifest-operator-image"},
    {.name = "manifest-image-pull-policy"},
    {.name = "manifest-config-host-path"},
    {.name = "manifest-config-file-name"},
    {.name = "manifest-secrets-host-path"},
    {.name = "manifest-cloud-provider-host-path"},
};

}  // namespace

Json generated_cloud_config(const Json& infrastructure, const std::optional<Json>& given) {
  JsonObject map{{"metadata", {{"name", "kube-cloud-config"}, {"namespace", "openshift-config-managed"}}}};
  if (!given) return map;
  map["apiVersion"] = "v1";
  map["kind"] = "ConfigMap";
  const std::string_view main = find_string(infrastructure, {"spec", "cloudConfig", "key"}).value_or("");
  for (const std::string_view field : {"data", "binaryData"}) {
    JsonObject entries;
    for (const auto& [key, value] : find_object(*given, {field})) {
      entries[std::string_view(key) == main ? std::string_view("cloud.conf") : std::string_view(key)] = value;
    }
    if (!entries.empty()) map[field] = std::move(entries);
  }
  return map;
}

Result<> run_operator_render(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags("cluster-config-operator render", table, arguments));
  sys::Files& files = environment.files;
  TRY(files.make_directories(flags.text("asset-output-dir") + "/manifests", 0755));
  const std::string& output = flags.text("cloud-provider-config-output-file");
  if (output.empty()) return Ok{};
  const std::string& infrastructure_file = flags.text("cluster-infrastructure-input-file");
  const std::string& given_file = flags.text("cloud-provider-config-input-file");
  if (infrastructure_file.empty()) {
    return error(Code::invalid, "--cloud-provider-config-output-file needs --cluster-infrastructure-input-file");
  }
  const Json infrastructure = TRY(read_yaml(files, infrastructure_file));
  std::optional<Json> given;
  if (!given_file.empty()) given = TRY(read_yaml(files, given_file));
  return files.write(output, emit_yaml(generated_cloud_config(infrastructure, given)), 0644);
}

}  // namespace slipway::components::config_operator
