#include "components/machine_config_server/cluster.h"

#include "base/flags.h"
#include "base/time.h"
#include "base/yaml.h"
#include "components/machine_config_server/metrics.h"
#include "components/program/kube_access.h"
#include "kube/conditions.h"
#include "machineconfig/os_build.h"
#include "machineconfig/os_build_limits.h"
#include "machineconfig/pools.h"
#include "sys/task_group.h"

#include <utility>

namespace slipway::components::machine_config_server {

namespace {

constexpr std::string_view accounts_space = "openshift-machine-config-operator";
constexpr Seconds join_token_life = std::chrono::hours(24);
constexpr Milliseconds answer_limit{10'000};  // Ignition retries when it has to wait longer

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

std::string join_account(std::string_view pool) {
  return machineconfig::is_control_plane_pool(pool) ? "node-bootstrapper-master" : "node-bootstrapper";
}

std::optional<PoolImage> image_of_pool(const Json& os_config) {
  std::string image = text_of(os_config, {"status", "currentImagePullSpec"});
  Result<machineconfig::OsConfig> config = machineconfig::parse_os_config(os_config, kube::name_of(os_config));
  if (!config.ok() || (image.empty() && !config->holds_first_boot)) return std::nullopt;
  const Result<WallTime> created = parse_rfc3339(text_of(os_config, {"metadata", "creationTimestamp"}));
  return PoolImage{std::move(config).value(), std::move(image), created.ok() ? created.value() : WallTime()};
}

std::optional<WallTime> end_of_hold(const PoolImage& image, const Json* build) {
  namespace limits = machineconfig::os_build_limits;
  if (!image.image.empty() || !image.config.holds_first_boot) return std::nullopt;
  if (!build) return image.created + limits::job;
  if (kube::condition_status(*build, "Failed") == "True") return std::nullopt;
  const Result<WallTime> created = parse_rfc3339(text_of(*build, {"metadata", "creationTimestamp"}));
  return (created.ok() ? created.value() : image.created) + limits::first_boot_hold;
}

std::string built_image(const Json& build) {
  if (kube::condition_status(build, "Succeeded") != "True") return "";
  return text_of(build, {"status", "digestedImagePushSpec"});
}

std::optional<PoolImage> ClusterConfigs::State::image_of(const std::string& pool) const {
  const auto found = images.find(pool);
  return found == images.end() ? std::nullopt : std::optional(found->second);
}

ClusterConfigs::ClusterConfigs(const sys::Context& context, kube::Api& api, sys::Files& files, std::string ca_file)
    : context_(context), api_(api), files_(files), ca_file_(std::move(ca_file)) {}

Result<> ClusterConfigs::follow(const sys::Context& context) {
  sys::TaskGroup tasks(context);
  tasks.run("pools", [this](const sys::Context& own) {
    return kube::follow(own, api_, kube::types::machine_config_pools, "", {},
                        [this](const kube::Objects& pools) { return set_pools(pools); });
  });
  tasks.run("MachineOSConfigs", [this](const sys::Context& own) {
    return kube::follow(own, api_, kube::types::machine_os_configs, "", {},
                        [this](const kube::Objects& os_configs) { return set_os_configs(os_configs); });
  });
  tasks.run("controller config", [this](const sys::Context& own) {
    return kube::follow(own, api_, kube::types::controller_configs, "", {.fields = "metadata.name=machine-config-controller"},
                        [this](const kube::Objects& found) { return set_controller(found); });
  });
  return tasks.wait();
}

Result<> ClusterConfigs::set_pools(const kube::Objects& pools) {
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

Result<> ClusterConfigs::set_os_configs(const kube::Objects& os_configs) {
  std::map<std::string, PoolImage> images;
  for (const Json& each : os_configs) {
    if (std::optional<PoolImage> image = image_of_pool(each)) images.emplace(kube::name_of(each), *std::move(image));
  }
  state_.with_lock([&](State& state) {
    std::swap(state.images, images);
    std::erase_if(state.configs, [&](const auto& known) {
      const auto before = images.find(known.first);
      return state.image_of(known.first) != (before == images.end() ? std::nullopt : std::optional(before->second));
    });
  });
  return Ok{};
}

Result<> ClusterConfigs::set_controller(const kube::Objects& controllers) {
  if (controllers.empty()) return Ok{};
  Result<machineconfig::ControllerConfig> parsed =
      machineconfig::parse_controller_config(controllers[0], "ControllerConfig machine-config-controller");
  if (!parsed.ok()) {
    context_.log.error("{}; serving with the previous one", parsed.error().message());
    return Ok{};
  }
  auto controller = std::make_shared<const machineconfig::ControllerConfig>(std::move(parsed).value());
  state_.with_lock([&](State& state) {
    // The watch also reports changes of the status, which are irrelevant here.
    if (state.controller && *state.controller == *controller) return;
    state.controller = std::move(controller);
    state.configs.clear();
  });
  return Ok{};
}

// Failures are unavailable: they may be temporary, and Ignition retries.
Result<Secret> ClusterConfigs::join_token(const std::string& account) {
  const WallTime now = context_.clock.now();
  const auto known = tokens_.with_lock([&](const auto& all) -> std::optional<Secret> {
    const auto found = all.find(account);
    if (found == all.end() || now >= found->second.renew_at) return std::nullopt;
    return found->second.text;
  });
  if (known) return *known;
  const Json question = {{"apiVersion", "authentication.k8s.io/v1"},
                         {"kind", "TokenRequest"},
                         {"spec", {{"expirationSeconds", join_token_life.count()}}}};
  const std::string path = kube::path_of(kube::types::service_accounts, accounts_space, account) + "/token";
  const Result<Json> answer = api_.send(context_, {.method = "POST", .path = path, .body = question, .limit = answer_limit});
  if (!answer.ok()) {
    return error(Code::unavailable, "ServiceAccount {}/{}: no token to join with: {}", accounts_space, account,
                 answer.error().message());
  }
  const std::string where = fmt::format("TokenRequest of ServiceAccount {}/{}", accounts_space, account);
  JoinToken made{.text = Secret(std::string(TRY(require_string(answer.value(), {"status", "token"}).context(where))))};
  const WallTime end =
      TRY(parse_rfc3339(TRY(require_string(answer.value(), {"status", "expirationTimestamp"}).context(where))).context(where));
  made.renew_at = now + (end - now) / 2;
  tokens_.with_lock([&](auto& all) { all[account] = made; });
  return made.text;
}

Result<Secret> ClusterConfigs::kubeconfig(const machineconfig::ControllerConfig& controller, const std::string& account) {
  const std::optional<std::string> ca = TRY(files_.read_if_exists(ca_file_));
  if (!ca) return error(Code::unavailable, "{} does not contain the authority of the API server yet", ca_file_);
  const std::string server = controller.internal_api_url();
  if (server.empty()) return error(Code::unavailable, "the ControllerConfig has no URL of the API yet");
  const Secret token = TRY(join_token(account));
  const kube::Access access = {.server = server, .ca = *ca, .token = token};
  return Secret(emit_yaml(kube::make_kubeconfig(access, "local", "kubelet")));
}

// Empty if there is no build for the config, or it has not succeeded. A build may be for several configs: its name says what is
// in the image.
Result<std::string> ClusterConfigs::image_for(const PoolImage& image, const PoolConfig& config) {
  const Result<machineconfig::OsBuild> wanted = machineconfig::plan_os_build(image.config, config.rendered, config.controller);
  if (!wanted.ok()) return std::string();  // the machine-config-controller reports it
  const std::string path = kube::path_of(kube::types::machine_os_builds, "", wanted->name);
  const Result<Json> build = api_.send(context_, {.path = path, .limit = answer_limit});
  const bool is_missing = !build.ok() && build.error().code() == Code::not_found;
  if (!build.ok() && !is_missing) return error(Code::unavailable, "{}", build.error().message());
  std::string built = is_missing ? std::string() : built_image(build.value());
  if (built.empty()) TRY(hold(image, is_missing ? nullptr : &build.value()));
  return built;
}

Result<> ClusterConfigs::hold(const PoolImage& image, const Json* build) const {
  const std::optional<WallTime> end = end_of_hold(image, build);
  if (end && context_.clock.now() < *end) {
    return error(Code::unavailable, "pool '{}' waits for its first operating system image until {}: {}", image.config.pool,
                 to_rfc3339(*end),
                 build ? fmt::format("MachineOSBuild {} has not succeeded yet", kube::name_of(*build))
                       : std::string("there is no MachineOSBuild for its config yet"));
  }
  if (image.config.holds_first_boot && image.image.empty()) {
    context_.log.warn("pool {}: there is no operating system image, so new machines start with that of the release",
                      image.config.pool);
  }
  return Ok{};
}

Result<std::shared_ptr<const PoolConfig>> ClusterConfigs::find(const std::string& pool) {
  State seen = state_.with_lock([](const State& state) { return state; });
  if (!seen.names || !seen.controller) return error(Code::unavailable, "the pools of the cluster are not known yet");
  const auto name = seen.names->find(pool);
  if (name == seen.names->end()) return error(Code::unavailable, "pool '{}' does not exist yet", pool);
  if (name->second.empty()) return error(Code::unavailable, "no config is rendered for pool '{}' yet", pool);
  Secret credential = TRY(kubeconfig(*seen.controller, join_account(pool)));
  if (const auto known = seen.configs.find(pool); known != seen.configs.end() && known->second->kubeconfig == credential) {
    return known->second;
  }
  const std::string path = kube::path_of(kube::types::machine_configs, "", name->second);
  const Result<Json> object = api_.send(context_, {.path = path, .limit = answer_limit});
  // Unavailable for every failure: it may be temporary, and after status 404 Ignition would give up.
  if (!object.ok()) return error(Code::unavailable, "{}", object.error().message());
  PoolConfig config;
  config.rendered = TRY(machineconfig::parse_machine_config(object.value(), name->second));
  config.controller = *seen.controller;
  config.kubeconfig = std::move(credential);
  const std::optional<PoolImage> image = seen.image_of(pool);
  if (image) config.image = TRY(image_for(*image, config));
  auto made = std::make_shared<const PoolConfig>(std::move(config));
  state_.with_lock([&](State& state) {
    // The pool, its image or the ControllerConfig may have changed meanwhile.
    const bool is_current = state.controller == seen.controller && state.names && state.names->contains(pool) &&
                            state.names->at(pool) == made->rendered.name && state.image_of(pool) == image;
    if (is_current) state.configs[pool] = made;
  });
  return made;
}

Result<> run_start(const Environment& environment, const Arguments& arguments) {
  std::vector<Flag> table = config_server_flags();
  for (Flag& flag : metrics_flags()) table.push_back(std::move(flag));
  table.push_back({.name = "apiserver-url"});
  table.push_back({.name = "kubeconfig"});
  table.push_back({.name = "ca-file", .fallback = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"});
  const Flags flags = TRY(parse_flags("machine-config-server start", table, arguments));
  kube::Access access = TRY(kube_access(environment.files, flags.text("kubeconfig")));
  if (!flags.text("apiserver-url").empty()) access.server = flags.text("apiserver-url");
  kube::Client api(environment.http, std::move(access));
  ClusterConfigs configs(environment.context, api, environment.files, flags.text("ca-file"));
  sys::TaskGroup tasks(environment.context);
  tasks.run("following the cluster", [&](const sys::Context& own) { return configs.follow(own); });
  tasks.run("serving metrics", [&](const sys::Context& own) { return serve_metrics(environment.with(own), flags, api); });
  tasks.run("serving", [&](const sys::Context& own) -> Result<> {
    TRY(serve_configs(environment.with(own), flags, configs));
    tasks.request_stop();
    return Ok{};
  });
  Result<> ended = tasks.wait();
  if (!ended.ok() && ended.error().code() == Code::cancelled) return Ok{};
  return ended;
}

}  // namespace slipway::components::machine_config_server
