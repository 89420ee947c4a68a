// `machine-config-server start`: gives the machines of every pool their configs, from what the cluster says now.
#pragma once

#include "base/guarded.h"
#include "components/machine_config_server/server.h"
#include "kube/client.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace slipway::components::machine_config_server {

// The name of the rendered config that a new machine of a MachineConfigPool gets: the one that machines of it are on their way
// to once one of them has arrived there, before that the one that all have. Empty when nothing is rendered yet. Pure.
std::string config_to_serve(const Json& pool);

// The ServiceAccount whose token the machines of a pool join with: the control plane's is another one than the workers'. Pure.
std::string join_account(std::string_view pool);

// Follows pools and the ControllerConfig; a rendered config is read when the first machine asks for it, and only those that
// pools serve are kept, for they are large. A pool that is not known and a config that cannot be read are unavailable: a machine
// that waits in Ignition asks again, so they may come later. The tokens that machines join with last a day; half of that is left
// when they are served.
//
// Lifetime: context, api and files outlive it. Threads: any.
class ClusterConfigs final : public ConfigSource {
 public:
  // ca_file: the authority of the API server, PEM; read for each answer, since it is renewed
  ClusterConfigs(const sys::Context& context, kube::Api& api, sys::Files& files, std::string ca_file);

  // Until a stop. errors: denied; invalid
  Result<> follow(const sys::Context& context);

  Result<std::shared_ptr<const PoolConfig>> find(const std::string& pool) override;

 private:
  struct State {
    std::optional<std::map<std::string, std::string>> names{};  // of what is served, by pool
    std::shared_ptr<const machineconfig::ControllerConfig> controller{};
    std::map<std::string, std::shared_ptr<const PoolConfig>> configs{};  // by pool
  };

  struct JoinToken {
    Secret text;
    WallTime renew_at{};
  };

  Result<> take_pools(const kube::Objects& pools);
  Result<> take_controller(const kube::Objects& controllers);
  Result<Secret> kubeconfig(const machineconfig::ControllerConfig& controller, const std::string& account);
  Result<Secret> join_token(const std::string& account);

  const sys::Context& context_;
  kube::Api& api_;
  sys::Files& files_;
  std::string ca_file_;
  Guarded<State> state_;
  Guarded<std::map<std::string, JoinToken>> tokens_;  // by account
};

// The command. Flags: --apiserver-url, --kubeconfig for a start outside of a pod, --ca-file, those of config_server_flags().
Result<> run_start(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_server
