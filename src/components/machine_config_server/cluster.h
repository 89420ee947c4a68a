// `machine-config-server start`: serves configs to the machines of every pool, from the objects of the cluster.
#pragma once

#include "base/guarded.h"
#include "components/machine_config_server/server.h"
#include "kube/client.h"
#include "machineconfig/os_config.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace slipway::components::machine_config_server {

// The name of the rendered config that a new machine of a MachineConfigPool gets. During an update this is the old config until
// one machine has the new config, and then the new one. Empty when nothing is rendered yet. Pure.
std::string config_to_serve(const Json& pool);

// The ServiceAccount whose token the machines of a pool join with. Control plane and workers have different accounts. Pure.
std::string join_account(std::string_view pool);

// The MachineOSConfig of a pool that has an image, or whose machines wait for the first one.
struct PoolImage {
  machineconfig::OsConfig config;
  std::string image;   // currentImagePullSpec; changes when a build has succeeded; empty: there is none yet
  WallTime created{};  // the MachineOSConfig

  bool operator==(const PoolImage&) const = default;
};

// Nothing if the pool has no image yet and its machines do not wait for it. Pure.
std::optional<PoolImage> image_of_pool(const Json& os_config);

// The image of a MachineOSBuild that succeeded, by digest; otherwise empty. Pure.
std::string built_image(const Json& build);

// How long the machines of a pool without an image wait for it: os_build_limits::first_boot_hold from the creation of its
// MachineOSBuild; os_build_limits::job from the creation of the MachineOSConfig if there is no MachineOSBuild. Nothing if they
// do not wait, because they need not or because the build has failed. Pure.
//
//   build  nullptr: there is none
std::optional<WallTime> end_of_hold(const PoolImage& image, const Json* build);

// Watches pools, MachineOSConfigs and the ControllerConfig. Reads a rendered config when a machine requests it, and caches only
// the configs that pools serve now, because configs are large. An unknown pool and a config that cannot be read give the error
// unavailable: Ignition retries, and they may exist later. Join tokens are valid for a day; a served token is valid for at least
// half a day.
//
// The machines of a pool with a MachineOSConfig get the image of the build for the config that they get, if it exists. Otherwise
// they get the image of the config, and the machine-config-controller updates them after they joined. With the annotation
// first-boot: Hold, the first machines of a pool get the error unavailable until its first image exists, or until end_of_hold().
//
//   lifetime  context, api and files must outlive it
//   threads   any
class ClusterConfigs final : public ConfigSource {
 public:
  // ca_file: authority of the API server, PEM; read for each answer, because it is renewed
  ClusterConfigs(const sys::Context& context, kube::Api& api, sys::Files& files, std::string ca_file);

  // Watches until a stop is requested. errors: denied; invalid
  Result<> follow(const sys::Context& context);

  Result<std::shared_ptr<const PoolConfig>> find(const std::string& pool) override;

 private:
  struct State {
    std::optional<std::map<std::string, std::string>> names{};  // names of the configs to serve, by pool; nothing: not known yet
    std::shared_ptr<const machineconfig::ControllerConfig> controller{};
    std::map<std::string, PoolImage> images{};                           // by pool
    std::map<std::string, std::shared_ptr<const PoolConfig>> configs{};  // by pool

    std::optional<PoolImage> image_of(const std::string& pool) const;
  };

  struct JoinToken {
    Secret text;
    WallTime renew_at{};
  };

  Result<> set_pools(const kube::Objects& pools);
  Result<> set_os_configs(const kube::Objects& os_configs);
  Result<> set_controller(const kube::Objects& controllers);
  Result<std::string> image_for(const PoolImage& image, const PoolConfig& config);
  Result<> hold(const PoolImage& image, const Json* build) const;
  Result<Secret> kubeconfig(const machineconfig::ControllerConfig& controller, const std::string& account);
  Result<Secret> join_token(const std::string& account);

  const sys::Context& context_;
  kube::Api& api_;
  sys::Files& files_;
  std::string ca_file_;
  Guarded<State> state_;
  Guarded<std::map<std::string, JoinToken>> tokens_;  // by ServiceAccount
};

// The command. Flags: --apiserver-url, --kubeconfig (only outside of a pod), --ca-file, and those of config_server_flags() and
// metrics_flags().
Result<> run_start(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_server
