#include "components/machine_config_operator/os_build_objects.h"

#include "components/render/document.h"
#include "kube/client.h"
#include "machineconfig/labels.h"
#include "machineconfig/os_build_job.h"
#include "machineconfig/os_build_limits.h"
#include "net/url.h"

#include <array>
#include <optional>

namespace slipway::components::machine_config_operator {

namespace {

namespace mc = machineconfig;

JsonObject labels_of(const mc::OsBuild& build) {
  return {{mc::os_build_label, build.name}, {mc::os_build_pool_label, build.pool}};
}

JsonArray owned_by(const Json& owner) {
  return {JsonObject{{"apiVersion", mc::api_version},
                     {"kind", "MachineOSBuild"},
                     {"name", kube::name_of(owner)},
                     {"uid", text_of(owner, {"metadata", "uid"})},
                     {"controller", true}}};
}

std::string compact(const Json& value) { return emit_json(value, JsonStyle::compact); }

JsonArray environment_of(const mc::ControllerConfig& controller, const net::Url& api) {
  JsonArray all = {JsonObject{{"name", "KUBERNETES_SERVICE_HOST"}, {"value", api.host}},
                   JsonObject{{"name", "KUBERNETES_SERVICE_PORT"}, {"value", fmt::format("{}", api.port)}},
                   JsonObject{{"name", "POD_NAME"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.name"}}}}}}};
  constexpr std::array proxies = {std::array{"httpProxy", "HTTP_PROXY", "http_proxy"},
                                  std::array{"httpsProxy", "HTTPS_PROXY", "https_proxy"},
                                  std::array{"noProxy", "NO_PROXY", "no_proxy"}};
  for (const auto& [key, upper, lower] : proxies) {
    const std::string value = text_of(controller.proxy, {"status", key});
    if (value.empty()) continue;
    for (const char* name : {upper, lower}) all.push_back(JsonObject{{"name", name}, {"value", value}});
  }
  return all;
}

// A Secret of either type, in a folder of the volume. Its keys are optional, because the Secret has only one of them.
JsonObject source_of(const std::string& secret, std::string_view folder) {
  JsonArray items;
  for (const char* key : {".dockerconfigjson", ".dockercfg"}) {
    items.push_back({{"key", key}, {"path", fmt::format("{}/{}", folder, key)}});
  }
  return {{"secret", {{"name", secret}, {"optional", true}, {"items", std::move(items)}}}};
}

constexpr std::string_view push_secret_annotation = "machineconfiguration.openshift.io/rendered-image-push-secret";
constexpr std::string_view pull_secret_annotation = "machineconfiguration.openshift.io/base-image-pull-secret";

}  // namespace

bool has_same_logins(const Json& build, const mc::OsConfig& config) {
  return text_of(build, {"metadata", "annotations", push_secret_annotation}) == config.push_secret &&
         text_of(build, {"metadata", "annotations", pull_secret_annotation}) == config.base_pull_secret;
}

Json os_build_object(const mc::OsBuild& build, const mc::OsConfig& config) {
  JsonObject labels = labels_of(build);
  labels.erase(mc::os_build_label);
  labels["machineconfiguration.openshift.io/rendered-machine-config"] = build.rendered;
  labels["machineconfiguration.openshift.io/machine-os-config"] = config.pool;
  return {{"apiVersion", mc::api_version},
          {"kind", "MachineOSBuild"},
          {"metadata",
           {{"name", build.name},
            {"labels", std::move(labels)},
            {"annotations", {{push_secret_annotation, config.push_secret}, {pull_secret_annotation, config.base_pull_secret}}}}},
          {"spec",
           {{"machineConfig", {{"name", build.rendered}}},
            {"machineOSConfig", {{"name", config.pool}}},
            {"renderedImagePushSpec", build.push_spec()}}}};
}

Result<std::vector<Json>> os_build_inputs(const mc::OsBuild& build, const mc::MachineConfig& rendered,
                                          const mc::ControllerConfig& controller, const Json& owner) {
  const std::vector<mc::BuildFile> files = TRY(mc::build_files(build, rendered, controller));
  const std::vector<std::string> parts = TRY(mc::pack_inputs(build, files));
  std::vector<Json> objects;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    objects.push_back({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata",
                        {{"name", mc::input_name(build.name, i)},
                         {"namespace", os_build_space},
                         {"labels", labels_of(build)},
                         {"ownerReferences", owned_by(owner)}}},
                       {"data", {{mc::input_key, parts[i]}}}});
  }
  return objects;
}

Result<Json> os_build_job(const mc::OsBuild& build, const mc::OsConfig& config, const mc::ControllerConfig& controller,
                          const Json& owner, std::size_t inputs, bool has_cache) {
  const net::Url api =
      TRY(net::parse_url(controller.internal_api_url()).context("Infrastructure cluster: status.apiServerInternalURI"));
  const auto image = controller.images.find("machineConfigOperator");
  if (image == controller.images.end())
    return error(Code::invalid, "ControllerConfig: spec.images.machineConfigOperator missing");
  std::vector<std::string> command = {"machine-config-daemon",
                                      "os-image-build-job",
                                      "--name=" + build.name,
                                      fmt::format("--namespace={}", os_build_space),
                                      "--push-secret=" + config.push_secret,
                                      "--inputs=/inputs",
                                      "--root-mount=/rootfs"};
  if (!has_cache) command.emplace_back("--no-cache");
  JsonArray sources;
  for (std::size_t i = 0; i < inputs; ++i) {
    JsonArray items = {JsonObject{{"key", mc::input_key}, {"path", fmt::format("{}.{}", mc::input_key, i)}}};
    sources.push_back(JsonObject{{"configMap", {{"name", mc::input_name(build.name, i)}, {"items", std::move(items)}}}});
  }
  sources.push_back(source_of(config.push_secret, "push"));
  if (!config.base_pull_secret.empty()) {
    command.push_back("--pull-secret=" + config.base_pull_secret);
    sources.push_back(source_of(config.base_pull_secret, "pull"));
  }
  constexpr auto deadline = std::chrono::duration_cast<Seconds>(mc::os_build_limits::job);
  return fill_document("machine_config_operator/os_build/job.yaml",
                       {{"NAME", mc::job_name(build.name)},
                        {"LABELS", compact(labels_of(build))},
                        {"OWNERS", compact(owned_by(owner))},
                        {"RETRIES", fmt::format("{}", mc::os_build_limits::retries_of_job)},
                        {"DEADLINE", fmt::format("{}", deadline.count())},
                        {"IMAGE", quoted(image->second)},
                        {"COMMAND", compact(texts(command))},
                        {"ENVIRONMENT", compact(environment_of(controller, api))},
                        {"INPUTS", compact(sources)}});
}

}  // namespace slipway::components::machine_config_operator
