#include "components/machine_config_operator/machine_settings.h"

#include "base/template.h"
#include "base/text.h"
#include "base/yaml.h"
#include "components/render/document.h"
#include "data/data.h"
#include "ignition/data_url.h"
#include "ignition/make.h"
#include "kube/client.h"
#include "machineconfig/labels.h"
#include "machineconfig/pool_settings.h"

#include <algorithm>
#include <optional>

namespace slipway::components::machine_config_operator {

namespace {

using machineconfig::KubeletSettings;
using machineconfig::MachineConfig;
using machineconfig::RuntimeSettings;

constexpr std::string_view kubelet_file = "/etc/kubernetes/kubelet.conf";
constexpr std::string_view sizing_file = "/etc/node-sizing-enabled.env";
constexpr std::string_view kubelet_drop_in = "/etc/openshift/kubelet.conf.d/20-container-runtime-config.conf";
constexpr std::string_view containerd_drop_in = "/etc/containerd/conf.d/20-container-runtime-config.toml";

// What the objects of users set for one pool.
struct PoolSettings {
  std::optional<KubeletSettings> kubelet{};
  RuntimeSettings runtime{};
};

YamlDocument document_of(const Json& object) { return {.name = "", .value = object, .places = {}}; }

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

// autoSizingReserved and systemReserved of several objects replace each other.
void add_kubelet(std::optional<KubeletSettings>& all, const KubeletSettings& more) {
  if (!all) all.emplace();
  JsonObject& fields = all->fields.as_object();
  if (more.reserves_by_size.value_or(false)) fields.erase("systemReserved");
  if (find(more.fields, {"systemReserved"})) all->reserves_by_size.reset();
  if (more.reserves_by_size) all->reserves_by_size = more.reserves_by_size;
  all->fields = merge_layers(std::move(all->fields), more.fields);
}

void add_runtime(RuntimeSettings& all, RuntimeSettings more) {
  if (more.pids_limit) all.pids_limit = more.pids_limit;
  if (more.log_size_max) all.log_size_max = more.log_size_max;
  if (!more.log_level.empty()) all.log_level = std::move(more.log_level);
}

// objects: sorted by name
PoolSettings settings_of(const Json& pool, const std::vector<Json>& objects) {
  PoolSettings settings;
  for (const Json& object : objects) {
    if (!machineconfig::selects_pool(object, pool)) continue;
    Findings findings;
    const YamlDocument document = document_of(object);
    if (find_string(object, {"kind"}) == "ContainerRuntimeConfig") {
      RuntimeSettings runtime = machineconfig::read_runtime_config(document, findings);
      if (!findings.has_errors()) add_runtime(settings.runtime, std::move(runtime));
    } else {
      const KubeletSettings kubelet = machineconfig::read_kubelet_config(document, findings);
      if (!findings.has_errors()) add_kubelet(settings.kubelet, kubelet);
    }
  }
  return settings;
}

MachineConfig empty_config(std::string name, std::string_view pool, std::string_view controller_version) {
  MachineConfig config;
  config.name = std::move(name);
  config.labels = {{std::string(machineconfig::role_label), std::string(pool)}};
  config.annotations = {{std::string(machineconfig::generated_by), std::string(controller_version)}};
  config.config.ignition.version = ignition::Version::v3_2;
  return config;
}

void put_file(MachineConfig& config, std::string_view path, const std::string& text, int mode) {
  ignition::File file = ignition::make_file(std::string(path), text, mode);
  file.contents.source = ignition::encode_data_url(text, ignition::DataEncoding::percent);
  ignition::put(config.config, std::move(file));
}

// A limit of a ContainerRuntimeConfig and, below zero or missing: none, the same limit of a KubeletConfig.
std::int64_t lower_limit(std::int64_t limit, const KubeletSettings* kubelet, std::string_view field) {
  const Json* other = kubelet ? find(kubelet->fields, {field}) : nullptr;
  const std::int64_t value = other ? machineconfig::quantity_value(*other).value_or(0) : 0;
  return value > 0 ? std::min(value, limit) : limit;
}

Result<std::string> containerd_text(const std::string& log_level) {
  constexpr std::string_view source = "container-runtime/log-level.toml";
  return fill_template(data::content(data::machine_config(), source), source, {{"LEVEL", log_level}});
}

Result<MachineConfig> runtime_config(std::string_view pool, const PoolSettings& settings, std::string_view controller_version) {
  MachineConfig config = empty_config(fmt::format("99-{}-generated-containerruntime", pool), pool, controller_version);
  const RuntimeSettings& runtime = settings.runtime;
  const KubeletSettings* kubelet = settings.kubelet ? &*settings.kubelet : nullptr;
  if (!runtime.log_level.empty()) {
    const std::string text = TRY(containerd_text(runtime.log_level));
    put_file(config, containerd_drop_in, text, 0600);
  }
  JsonObject fields = {{"apiVersion", "kubelet.config.k8s.io/v1beta1"}, {"kind", "KubeletConfiguration"}};
  const std::size_t without_limits = fields.size();
  if (runtime.log_size_max)
    fields["containerLogMaxSize"] = std::to_string(lower_limit(*runtime.log_size_max, kubelet, "containerLogMaxSize"));
  if (runtime.pids_limit) fields["podPidsLimit"] = lower_limit(*runtime.pids_limit, kubelet, "podPidsLimit");
  if (fields.size() > without_limits) put_file(config, kubelet_drop_in, emit_yaml(std::move(fields)), 0600);
  return config;
}

}  // namespace

std::string reasons_of(const Findings& findings) {
  std::vector<std::string> reasons;
  for (const Finding& finding : findings.all()) {
    const std::string hint = finding.hint.empty() ? "" : fmt::format(" ({})", finding.hint);
    reasons.push_back(fmt::format("{}: {}{}", finding.field, finding.message, hint));
  }
  return join(reasons, "; ");
}

std::string reason_to_refuse(const Json& object) {
  Findings findings;
  machineconfig::check_pool_settings(document_of(object), findings);
  return reasons_of(findings);
}

Result<std::vector<MachineConfig>> settings_configs(const std::vector<Json>& pools, std::vector<Json> objects,
                                                    const std::vector<MachineConfig>& templates,
                                                    std::string_view controller_version) {
  std::ranges::sort(objects, {}, [](const Json& object) { return kube::name_of(object); });
  std::vector<MachineConfig> made;
  for (const Json& pool : pools) {
    const std::string_view name = kube::name_of(pool);
    const PoolSettings settings = settings_of(pool, objects);
    if (settings.kubelet) {
      MachineConfig config = empty_config(fmt::format("99-{}-generated-kubelet", name), name, controller_version);
      const Json merged = merge_layers(TRY(kubelet_template(name, templates)), settings.kubelet->fields);
      put_file(config, kubelet_file, emit_yaml(merged), 0644);
      if (settings.kubelet->reserves_by_size)
        put_file(config, sizing_file, fmt::format("NODE_SIZING_ENABLED={}\n", *settings.kubelet->reserves_by_size), 0644);
      made.push_back(std::move(config));
    }
    MachineConfig runtime = TRY(runtime_config(name, settings, controller_version));
    if (!runtime.config.storage.files.empty()) made.push_back(std::move(runtime));
  }
  return made;
}

}  // namespace slipway::components::machine_config_operator
