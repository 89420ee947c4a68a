#include "operators/machineconfig/server_cluster.h"

#include "base/flags.h"
#include "base/text.h"
#include "base/yaml.h"
#include "operators/lib/kube_access.h"
#include "sys/task_group.h"

#include <utility>

namespace slipway::operators {

namespace {

constexpr Milliseconds answer_limit{10'000};  // a machine that waits longer asks again

bool has_updated_machine(const Json& pool) {
  const Json* count = slipway::find(pool, {"status", "updatedMachineCount"});
  const std::int64_t* number = count ? count->if_int64() : nullptr;
  return number && *number > 0;
}

}  // namespace

std::string config_to_serve(const Json& pool) {
  const std::string_view wanted = find_string(pool, {"spec", "configuration", "name"}).value_or("");
  const std::string_view reached = find_string(pool, {"status", "configuration", "name"}).value_or("");
  if (!wanted.empty() && (reached.empty() || has_updated_machine(pool))) return std::string(wanted);
  return std::string(reached);
}

ClusterConfigs::ClusterConfigs(const sys::Context& context, kube::Api& api, sys::Files& files, Options options)
    : context_(context), api_(api), files_(files), options_(std::move(options)) {}

Result<> ClusterConfigs::follow(const sys::Context& context) {
  sys::TaskGroup tasks(context);
  tasks.run("pools", [this](const sys::Context& own) {
    return kube::follow(own, api_, kube::types::machine_config_pools, "", {},
                        [this](const kube::Objects& pools) { return take_pools(pools); });
  });
  tasks.run("controller config", [this](const sys::Context& own) {
    return kube::follow(own, api_, kube::types::controller_configs, "", {.fields = "metadata.name=machine-config-controller"},
                        [this](const kube::Objects& found) { return take_controller(found); });
  });
  return tasks.wait();
}

Result<> ClusterConfigs::take_pools(const kube::Objects& pools) {
  std::map<std::string, std::string> names;
  for (const Json& pool : pools) names.emplace(kube::name_of(pool), config_to_serve(pool));
  state_.with_lock([&](State& state) {
    std::erase_if(state.configs, [&](const auto& known) {
      const auto name = names.find(known.first);
      return name == names.end() || name->second != known.second->rendered.name;
    });
    state.names = std::move(names);
  });
  return Ok{};
}

Result<> ClusterConfigs::take_controller(const kube::Objects& controllers) {
  if (controllers.empty()) return Ok{};
  Result<machineconfig::ControllerConfig> parsed =
      machineconfig::parse_controller_config(controllers[0], "ControllerConfig machine-config-controller");
  if (!parsed.ok()) {
    context_.log.error("{}; serving with the one before", parsed.error().message());
    return Ok{};
  }
  auto controller = std::make_shared<const machineconfig::ControllerConfig>(std::move(parsed).value());
  state_.with_lock([&](State& state) {
    // Its status changes, too.
    if (state.controller && *state.controller == *controller) return;
    state.controller = std::move(controller);
    state.configs.clear();
  });
  return Ok{};
}

Result<Secret> ClusterConfigs::kubeconfig(const machineconfig::ControllerConfig& controller) {
  const std::optional<std::string> token = TRY(files_.read_if_exists(options_.token_folder + "/token"));
  const std::optional<std::string> ca = TRY(files_.read_if_exists(options_.token_folder + "/ca.crt"));
  if (!token || !ca) {
    return error(Code::unavailable, "the credential that machines join with is not in {} yet", options_.token_folder);
  }
  const std::string server = controller.internal_api_url();
  if (server.empty()) return error(Code::unavailable, "the ControllerConfig does not say yet where the API is");
  const kube::Access access = {.server = server, .ca = *ca, .token = Secret(std::string(trim(*token)))};
  return Secret(emit_yaml(kube::make_kubeconfig(access, "local", "kubelet")));
}

Result<std::shared_ptr<const PoolConfig>> ClusterConfigs::find(const std::string& pool) {
  State seen = state_.with_lock([](const State& state) { return state; });
  if (!seen.names || !seen.controller) return error(Code::unavailable, "the cluster's pools are not known yet");
  const auto name = seen.names->find(pool);
  if (name == seen.names->end()) return error(Code::unavailable, "there is no pool '{}' yet", pool);
  if (name->second.empty()) return error(Code::unavailable, "nothing is rendered for pool '{}' yet", pool);
  Secret credential = TRY(kubeconfig(*seen.controller));
  if (const auto known = seen.configs.find(pool); known != seen.configs.end() && known->second->kubeconfig == credential) {
    return known->second;
  }
  const std::string path = kube::path_of(kube::types::machine_configs, "", name->second);
  const Result<Json> object = api_.send(context_, {.path = path, .limit = answer_limit});
  // Whatever it is, it may pass, while an answer of 404 would be the end of the machine.
  if (!object.ok()) return error(Code::unavailable, "{}", object.error().message());
  PoolConfig config;
  config.rendered = TRY(machineconfig::parse_machine_config(object.value(), name->second));
  config.controller = *seen.controller;
  config.kubeconfig = std::move(credential);
  auto made = std::make_shared<const PoolConfig>(std::move(config));
  state_.with_lock([&](State& state) {
    // Something else may be served by now.
    const bool is_current = state.controller == seen.controller && state.names && state.names->contains(pool) &&
                            state.names->at(pool) == made->rendered.name;
    if (is_current) state.configs[pool] = made;
  });
  return made;
}

Result<> run_machine_config_server_start(const Environment& environment, const Arguments& arguments) {
  std::vector<Flag> table = config_server_flags();
  table.push_back({.name = "apiserver-url"});
  table.push_back({.name = "kubeconfig"});
  table.push_back({.name = "bootstrap-token-dir", .fallback = "/etc/mcs/bootstrap-token"});
  const Flags flags = TRY(parse_flags("machine-config-server start", table, arguments));
  kube::Access access = TRY(kube_access(environment.files, flags.text("kubeconfig")));
  if (!flags.text("apiserver-url").empty()) access.server = flags.text("apiserver-url");
  kube::Client api(environment.http, std::move(access));
  ClusterConfigs configs(environment.context, api, environment.files, {.token_folder = flags.text("bootstrap-token-dir")});
  sys::TaskGroup tasks(environment.context);
  tasks.run("following the cluster", [&](const sys::Context& own) { return configs.follow(own); });
  tasks.run("serving", [&](const sys::Context& own) -> Result<> {
    TRY(serve_configs({own, environment.files, environment.runner, environment.random, environment.http}, flags, configs));
    tasks.request_stop();
    return Ok{};
  });
  Result<> ended = tasks.wait();
  if (!ended.ok() && ended.error().code() == Code::cancelled) return Ok{};
  return ended;
}

}  // namespace slipway::operators
