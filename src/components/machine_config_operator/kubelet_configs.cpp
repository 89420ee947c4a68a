#include "components/machine_config_operator/kubelet_configs.h"

#include "base/text.h"
#include "base/yaml.h"
#include "components/machine_config_operator/selector.h"
#include "components/render/document.h"
#include "ignition/data_url.h"
#include "ignition/make.h"
#include "kube/client.h"
#include "machineconfig/labels.h"

#include <algorithm>
#include <array>

namespace slipway::components::machine_config_operator {

namespace {

using machineconfig::MachineConfig;

constexpr std::string_view kubelet_file = "/etc/kubernetes/kubelet.conf";
// Fields of a KubeletConfig that slipway does not support; they are refused, so that they are not ignored silently.
constexpr std::array unknown_fields = {"autoSizingReserved", "logLevel", "tlsSecurityProfile"};
// Fields that other parts of the machine depend on.
constexpr std::array fixed_fields = {"cgroupDriver",  "cgroupRoot",   "clusterDNS",
                                     "clusterDomain", "apiVersion",   "containerRuntimeEndpoint",
                                     "kind",          "staticPodPath"};

// The kubelet.conf of the templates for a pool: the masters' file for pool master, the workers' file for all others.
Result<Json> kubelet_template(std::string_view pool, const std::vector<MachineConfig>& templates) {
  const std::string name = fmt::format("01-{}-kubelet", pool == "master" ? "master" : "worker");
  for (const MachineConfig& config : templates) {
    if (config.name != name) continue;
    for (const ignition::File& file : config.config.storage.files) {
      if (file.path != kubelet_file || !file.contents.source) continue;
      const std::string text = TRY(ignition::decode_data_url(*file.contents.source));
      return TRY(parse_yaml(text, name)).value;
    }
  }
  return error(Code::invalid, "MachineConfig {} has no {}", name, kubelet_file);
}

}  // namespace

std::string reason_to_refuse(const Json& object) {
  if (find_string(object, {"kind"}) == "ContainerRuntimeConfig") {
    return "machines run containerd, which has no such settings (use a MachineConfig with files in /etc/containerd/conf.d)";
  }
  std::vector<std::string> wrong;
  for (const char* field : unknown_fields) {
    if (find(object, {"spec", field})) wrong.push_back(fmt::format("spec.{} has no effect", field));
  }
  for (const char* field : fixed_fields) {
    if (find(object, {"spec", "kubeletConfig", field}))
      wrong.push_back(fmt::format("spec.kubeletConfig.{} cannot be changed", field));
  }
  return join(wrong, "; ");
}

Result<std::vector<MachineConfig>> kubelet_machine_configs(const std::vector<Json>& pools, std::vector<Json> kubelet_configs,
                                                           const std::vector<MachineConfig>& templates,
                                                           std::string_view controller_version) {
  std::ranges::sort(kubelet_configs, {}, [](const Json& object) { return kube::name_of(object); });
  std::vector<MachineConfig> made;
  for (const Json& pool : pools) {
    const std::string_view name = kube::name_of(pool);
    Json merged;
    for (const Json& object : kubelet_configs) {
      const Json* selector = find(object, {"spec", "machineConfigPoolSelector"});
      // As in OpenShift, an empty selector selects no pool.
      const bool selects_any = selector && selector->is_object() && !selector->get_object().empty();
      if (!selects_any || !selects(selector, find_object(pool, {"metadata", "labels"})) || !reason_to_refuse(object).empty())
        continue;
      if (merged.is_null()) merged = TRY(kubelet_template(name, templates));
      if (const Json* fields = find(object, {"spec", "kubeletConfig"})) merged = merge_layers(std::move(merged), *fields);
    }
    if (merged.is_null()) continue;
    MachineConfig config;
    config.name = fmt::format("99-{}-generated-kubelet", name);
    config.labels = {{std::string(machineconfig::role_label), std::string(name)}};
    config.annotations = {{std::string(machineconfig::generated_by), std::string(controller_version)}};
    config.config.ignition.version = ignition::Version::v3_2;
    const std::string text = emit_yaml(merged);
    ignition::File file = ignition::make_file(std::string(kubelet_file), text, 0644);
    file.contents.source = ignition::encode_data_url(text, ignition::DataEncoding::percent);
    ignition::put(config.config, std::move(file));
    made.push_back(std::move(config));
  }
  return made;
}

}  // namespace slipway::components::machine_config_operator
