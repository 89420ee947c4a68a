// `machine-config-server bootstrap`: gives masters their configs while the cluster is not there yet.
#pragma once

#include "base/guarded.h"
#include "components/machine_config_server/server.h"

#include <array>
#include <map>
#include <memory>
#include <string>

namespace slipway::components::machine_config_server {

// What `machine-config-controller bootstrap` rendered below a folder, also when that comes later. Workers wait for the cluster.
// not_found: pools are there but this one or its config is not.
//
// Lifetime: files outlive it. Threads: any.
class RenderedFolder final : public ConfigSource {
 public:
  RenderedFolder(sys::Files& files, std::string folder, std::string kubeconfig_file);
  Result<std::shared_ptr<const PoolConfig>> find(const std::string& pool) override;

 private:
  // Texts of pool, ControllerConfig and kubeconfig: small, and read for each request, so that nothing has to watch them.
  using Texts = std::array<std::string, 3>;
  struct Known {
    Texts texts;
    std::shared_ptr<const PoolConfig> config;
  };

  Result<Texts> read_texts(const std::string& pool);
  Result<std::shared_ptr<const PoolConfig>> parse(const Texts& texts);

  sys::Files& files_;
  std::string folder_;
  std::string kubeconfig_file_;
  Guarded<std::map<std::string, Known>> known_;
};

// The command. Flags: --server-basedir, --bootstrap-kubeconfig, those of config_server_flags().
Result<> run_bootstrap(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_server
