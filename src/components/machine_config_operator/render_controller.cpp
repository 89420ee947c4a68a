#include "components/machine_config_operator/render_controller.h"

#include "base/digest.h"
#include "components/controller/conditions.h"
#include "components/machine_config_operator/machine_settings.h"
#include "components/machine_config_operator/outdated_configs.h"
#include "machineconfig/labels.h"
#include "machineconfig/pool_settings.h"
#include "machineconfig/registries.h"
#include "machineconfig/render.h"
#include "machineconfig/templates.h"
#include "machineconfig/update_plan.h"

#include <algorithm>
#include <array>

namespace slipway::components::machine_config_operator {

namespace {

namespace types = kube::types;
using machineconfig::MachineConfig;
using machineconfig::Rendered;

const std::array mirror_types = {
    kube::ResourceType{"config.openshift.io", "v1", "imagedigestmirrorsets", "ImageDigestMirrorSet", false},
    kube::ResourceType{"config.openshift.io", "v1", "imagetagmirrorsets", "ImageTagMirrorSet", false},
    kube::ResourceType{"operator.openshift.io", "v1alpha1", "imagecontentsourcepolicies", "ImageContentSourcePolicy", false}};

const std::array setting_types = {types::kubelet_configs, types::runtime_configs};

constexpr std::string_view secret_space = "openshift-config";
constexpr std::string_view secret_name = "pull-secret";
constexpr std::string_view controller_name = "machine-config-controller";

bool is_generated(const Json& config) {
  return find(config, {"metadata", "annotations", machineconfig::generated_by}) != nullptr;
}

// A MachineConfig of a user that a pool may select. Generated MachineConfigs are not read back.
bool is_user_config(const Json& config) {
  return !is_generated(config) && find_string(config, {"metadata", "labels", machineconfig::role_label});
}

// Identifies the state of an object: by its resource version, or by its content if it has no version.
std::string state_of(const Json& object) {
  const auto version = find_string(object, {"metadata", "resourceVersion"});
  return fmt::format("{} {}\n", kube::describe(object), version ? std::string(*version) : emit_json(object, JsonStyle::compact));
}

// Identifies the state of one part of an object, for objects with other parts that change often.
std::string spec_of(const Json& object, std::initializer_list<std::string_view> part) {
  const Json* value = find(object, part);
  return fmt::format("{} {}\n", kube::describe(object), value ? emit_json(*value, JsonStyle::compact) : "");
}

// Everything that rendering depends on.
std::string inputs_of(const Snapshot& seen) {
  std::string inputs;
  if (const Json* controller = seen.find(types::controller_configs, "", controller_name)) {
    inputs += spec_of(*controller, {"metadata", "annotations"}) + spec_of(*controller, {"metadata", "generation"});
    if (!find(*controller, {"metadata", "generation"})) inputs += state_of(*controller);
  }
  if (const Json* secret = seen.find(types::secrets, secret_space, secret_name)) inputs += state_of(*secret);
  for (const kube::ResourceType& type : mirror_types) {
    for (const Json* object : seen.list(type)) inputs += state_of(*object);
  }
  for (const kube::ResourceType& type : setting_types) {
    for (const Json* object : seen.list(type)) inputs += spec_of(*object, {"spec"});
  }
  for (const Json* config : seen.list(types::machine_configs)) {
    if (is_user_config(*config)) inputs += state_of(*config);
  }
  for (const Json* pool : seen.list(types::machine_config_pools)) {
    // The current config of the machines limits the configs that they can apply.
    inputs += spec_of(*pool, {"metadata", "labels"}) + spec_of(*pool, {"spec", "machineConfigSelector"}) +
              spec_of(*pool, {"status", "configuration", "name"});
  }
  return inputs;
}

// The MachineConfig of a user without which the machines could apply the config, for the message; empty: not a single one.
std::string culprit(const machineconfig::Pool& pool, const std::vector<MachineConfig>& configs,
                    const machineconfig::RenderBase& base, const MachineConfig& current) {
  for (const MachineConfig& suspect : configs) {
    if (suspect.annotations.contains(std::string(machineconfig::generated_by))) continue;
    std::vector<MachineConfig> others;
    std::ranges::copy_if(configs, std::back_inserter(others),
                         [&](const MachineConfig& each) { return each.name != suspect.name; });
    const Result<Rendered> without = machineconfig::render(pool, others, base);
    if (without.ok() && machineconfig::check_reconcilable(current, without->config).ok()) return suspect.name;
  }
  return "";
}

// Whether machines that have the pool's current config can apply the new one without a reinstallation.
Result<> check_applicable(const Snapshot& seen, const machineconfig::Pool& pool, const Rendered& rendered,
                          const std::vector<MachineConfig>& configs, const machineconfig::RenderBase& base) {
  const std::string_view name = find_string(pool.object, {"status", "configuration", "name"}).value_or("");
  const Json* object = seen.find(types::machine_configs, "", name);
  if (!object || name == rendered.config.name) return Ok{};
  const MachineConfig current = TRY(machineconfig::parse_machine_config(*object, name));
  const Result<> applicable = machineconfig::check_reconcilable(current, rendered.config);
  if (applicable.ok()) return applicable;
  const std::string suspect = culprit(pool, configs, base, current);
  if (suspect.empty()) return applicable.error();
  return error(applicable.error().code(), "MachineConfig {}: {}", suspect, applicable.error().message());
}

// Adds the MachineConfigs of users. Returns the problems of invalid ones by role, because they stop only the pools that select
// that
// role.
std::map<std::string, std::string> add_user_configs(const Snapshot& seen, std::vector<MachineConfig>& configs) {
  std::map<std::string, std::string> invalid;
  for (const Json* object : seen.list(types::machine_configs)) {
    if (!is_user_config(*object)) continue;
    auto config = machineconfig::parse_machine_config(*object, fmt::format("MachineConfig {}", kube::name_of(*object)));
    if (config.ok()) {
      configs.push_back(std::move(config).value());
    } else {
      invalid[text_of(*object, {"metadata", "labels", machineconfig::role_label})] = config.error().message();
    }
  }
  return invalid;
}

// errors: invalid: the pool, one of its MachineConfigs, or the rendered config, also when its machines cannot apply that config
Result<Rendered> render_pool(const Snapshot& seen, const Json& object, const std::vector<MachineConfig>& configs,
                             const std::map<std::string, std::string>& invalid, const machineconfig::RenderBase& base) {
  const machineconfig::Pool pool =
      TRY(machineconfig::parse_pool(object, fmt::format("MachineConfigPool {}", kube::name_of(object))));
  std::string problem;
  for (const std::string& role : pool.roles) {
    if (const auto found = invalid.find(role); found != invalid.end()) problem = found->second;
  }
  if (!problem.empty()) return error(Code::invalid, "{}", problem);
  Rendered rendered = TRY(machineconfig::render(pool, configs, base));
  TRY(check_applicable(seen, pool, rendered, configs, base));
  return rendered;
}

// Sets no blockOwnerDeletion: for that the API server has to know the owner's type, and it may discover a new type half a minute
// late.
Json rendered_object(const MachineConfig& config, const Json& pool) {
  Json object = machineconfig::to_json(config);
  if (const auto uid = find_string(pool, {"metadata", "uid"})) {
    object.as_object()["metadata"].as_object()["ownerReferences"] =
        JsonArray{JsonObject{{"apiVersion", machineconfig::api_version},
                             {"kind", "MachineConfigPool"},
                             {"name", kube::name_of(pool)},
                             {"uid", *uid},
                             {"controller", true}}};
  }
  return object;
}

Json pool_object(std::string_view name, const std::string& config, const std::vector<std::string>& sources) {
  JsonArray references;
  for (const std::string& source : sources) {
    references.push_back({{"apiVersion", machineconfig::api_version}, {"kind", "MachineConfig"}, {"name", source}});
  }
  return {{"apiVersion", machineconfig::api_version},
          {"kind", "MachineConfigPool"},
          {"metadata", {{"name", name}}},
          {"spec", {{"configuration", {{"name", config}, {"source", std::move(references)}}}}}};
}

// Plans the generated MachineConfigs. A MachineConfig of a user with the same name takes precedence. MachineConfigs that are no
// longer generated are deleted.
void plan_generated(const std::vector<MachineConfig>& generated, const Snapshot& seen, Plan& plan) {
  std::vector<std::string> names;
  for (const MachineConfig& config : generated) {
    names.push_back(config.name);
    const Json* there = seen.find(types::machine_configs, "", config.name);
    if (there && !is_generated(*there)) continue;
    plan.desired_objects.push_back({types::machine_configs, machineconfig::to_json(config)});
  }
  for (const Json* config : seen.list(types::machine_configs)) {
    const std::string_view name = kube::name_of(*config);
    const bool is_ours = is_generated(*config) && find_string(*config, {"metadata", "labels", machineconfig::role_label});
    if (is_ours && std::ranges::find(names, name) == names.end()) {
      plan.desired_objects.push_back({types::machine_configs, *config, DesiredObject::How::remove});
    }
  }
}

// Plans condition Accepted of KubeletConfigs and ContainerRuntimeConfigs.
void plan_acceptance(const Snapshot& seen, WallTime now, Plan& plan) {
  const std::vector<const Json*> pools = seen.list(types::machine_config_pools);
  for (const kube::ResourceType& type : setting_types) {
    for (const Json* object : seen.list(type)) {
      Condition accepted{.type = "Accepted", .is_true = false, .reason = "Refused", .message = reason_to_refuse(*object)};
      if (accepted.message.empty()) {
        accepted.is_true =
            std::ranges::any_of(pools, [&](const Json* pool) { return machineconfig::selects_pool(*object, *pool); });
        accepted.reason = accepted.is_true ? "Success" : "NoPool";
        if (!accepted.is_true)
          accepted.message = "spec.machineConfigPoolSelector: selects no pool (use labels of MachineConfigPools)";
      }
      Json status = with_conditions(*object, {accepted}, now);
      if (const Json* generation = find(*object, {"metadata", "generation"}))
        status.as_object()["status"].as_object()["observedGeneration"] = *generation;
      if (find_object(status, {"status"}) == find_object(*object, {"status"})) continue;
      plan.desired_objects.push_back({type, std::move(status), DesiredObject::How::status});
    }
  }
}

}  // namespace

Result<Secret> docker_config(const Json& secret) {
  if (const auto plain = find_string(secret, {"stringData", ".dockerconfigjson"})) return Secret(std::string(*plain));
  const auto encoded = find_string(secret, {"data", ".dockerconfigjson"});
  if (!encoded) return error(Code::invalid, "pull secret: .dockerconfigjson missing");
  return Secret(TRY(base64_decode(*encoded).context("the pull secret")));
}

Result<std::vector<MachineConfig>> generated_configs(const GeneratedFrom& from) {
  const std::string& version = from.controller.version;
  std::vector<MachineConfig> all;
  for (std::string_view role : machineconfig::template_roles) {
    std::ranges::move(TRY(machineconfig::template_configs(role, from.controller, from.pull_secret)), std::back_inserter(all));
    std::ranges::move(TRY(machineconfig::registry_configs(role, from.mirror_sets, version)), std::back_inserter(all));
  }
  std::ranges::move(TRY(settings_configs(from.pools, from.settings, all, version)), std::back_inserter(all));
  return all;
}

std::vector<Watched> RenderController::watched() {
  std::vector<Watched> all = {
      {types::controller_configs},
      {types::machine_configs},
      {types::machine_config_pools},
      {types::nodes},
      {types::secrets, std::string(secret_space), {.fields = fmt::format("metadata.name={}", secret_name)}}};
  for (const kube::ResourceType& type : mirror_types) all.push_back({type});
  for (const kube::ResourceType& type : setting_types) all.push_back({type});
  return all;
}

RenderController::Outcome RenderController::render_all(const Snapshot& seen) const {
  Outcome outcome;
  const auto fail = [&](std::string problem) {
    outcome.problem = std::move(problem);
    return outcome;
  };
  const Json* object = seen.find(types::controller_configs, "", controller_name);
  if (!object) return fail("ControllerConfig does not exist yet");
  const Json* secret = seen.find(types::secrets, secret_space, secret_name);
  if (!secret) return fail(fmt::format("Secret {}/{} does not exist", secret_space, secret_name));
  const auto controller = machineconfig::parse_controller_config(*object, "ControllerConfig");
  if (!controller.ok()) return fail(controller.error().message());
  if (controller->version != version_) {
    return fail(fmt::format("the ControllerConfig has version {}, but this program has {}", controller->version, version_));
  }
  const Result<Secret> pull_secret = docker_config(*secret);
  if (!pull_secret.ok()) return fail(pull_secret.error().message());
  GeneratedFrom from{.controller = controller.value(), .pull_secret = pull_secret.value()};
  const auto copy = [&](const kube::ResourceType& type, std::vector<Json>& into) {
    for (const Json* each : seen.list(type)) into.push_back(*each);
  };
  for (const kube::ResourceType& type : mirror_types) copy(type, from.mirror_sets);
  copy(types::machine_config_pools, from.pools);
  for (const kube::ResourceType& type : setting_types) copy(type, from.settings);
  auto generated = generated_configs(from);
  if (!generated.ok()) return fail(generated.error().message());
  outcome.generated = std::move(generated).value();

  std::vector<MachineConfig> configs = outcome.generated;
  const std::map<std::string, std::string> invalid = add_user_configs(seen, configs);
  const machineconfig::RenderBase base{controller->os_image, controller->extensions_image, version_, version_};
  for (const Json* object_of_pool : seen.list(types::machine_config_pools)) {
    Outcome::Pool& pool = outcome.pools[std::string(kube::name_of(*object_of_pool))];
    Result<Rendered> rendered = render_pool(seen, *object_of_pool, configs, invalid, base);
    if (rendered.ok()) {
      pool.config = std::move(rendered->config);
      pool.sources = std::move(rendered->sources);
    } else {
      pool.problem = rendered.error().message();
    }
  }
  return outcome;
}

RenderPlan RenderController::plan(const Snapshot& seen, WallTime now) {
  if (std::string inputs = inputs_of(seen); inputs != inputs_ || inputs_.empty()) {
    inputs_ = std::move(inputs);
    changed_ = now;
    outcome_ = render_all(seen);
  }
  RenderPlan made;
  plan_acceptance(seen, now, made.plan);
  for (const Json* pool : seen.list(types::machine_config_pools)) {
    if (!outcome_.problem.empty()) made.pools[std::string(kube::name_of(*pool))].problem = outcome_.problem;
  }
  if (!outcome_.problem.empty()) return made;
  plan_generated(outcome_.generated, seen, made.plan);
  for (const auto& [name, outcome] : outcome_.pools) {
    const Json* pool = seen.find(types::machine_config_pools, "", name);
    if (!pool) continue;
    PoolRender& status = made.pools[name];
    status.problem = outcome.problem;
    if (!outcome.config) continue;
    const std::string& config = outcome.config->name;
    const std::string_view before = find_string(*pool, {"spec", "configuration", "name"}).value_or("");
    if (!before.empty() && before != config && changed_ + render_settle > now) {
      status.is_settling = true;
      made.plan.replan_at = changed_ + render_settle;
      continue;
    }
    const bool is_there = seen.find(types::machine_configs, "", config) != nullptr;
    made.plan.desired_objects.push_back(
        {types::machine_configs, rendered_object(*outcome.config, *pool), DesiredObject::How::create});
    // A pool gets a config only when the config exists.
    if (is_there) made.plan.desired_objects.push_back({types::machine_config_pools, pool_object(name, config, outcome.sources)});
    if (is_there && before != config) {
      made.plan.notices.push_back(
          {*pool, "RenderedConfigGenerated",
           fmt::format("pool {} gets {} instead of {}", name, config, before.empty() ? "nothing" : before)});
    }
  }
  for (const std::string& name : outdated_configs(seen)) {
    made.plan.desired_objects.push_back(
        {types::machine_configs, *seen.find(types::machine_configs, "", name), DesiredObject::How::remove});
  }
  return made;
}

}  // namespace slipway::components::machine_config_operator
