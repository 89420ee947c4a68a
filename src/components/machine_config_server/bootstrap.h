// `machine-config-server bootstrap`: serves configs to masters on the bootstrap machine, before the cluster exists.
#pragma once

#include "base/guarded.h"
#include "components/machine_config_server/server.h"

#include <array>
#include <map>
#include <memory>
#include <string>

namespace slipway::components::machine_config_server {

// Serves the files that `machine-config-controller bootstrap` renders into a folder. They may be written after the start. Only
// pools of the control plane are served; workers have to wait for the server of the cluster.
//
//   errors    of find(): not_found: pools exist, but this pool or its config does not; unavailable: nothing is rendered yet
//   lifetime  files must outlive it
//   threads   any
class RenderedFolder final : public ConfigSource {
 public:
  RenderedFolder(sys::Files& files, std::string folder, std::string kubeconfig_file);
  Result<std::shared_ptr<const PoolConfig>> find(const std::string& pool) override;

 private:
  // Texts of pool, ControllerConfig and kubeconfig. They are small, so they are read for each request instead of watched.
  using Texts = std::array<std::string, 3>;
  struct CachedConfig {
    Texts texts;
    std::shared_ptr<const PoolConfig> config;
  };

  Result<Texts> read_texts(const std::string& pool);
  Result<std::shared_ptr<const PoolConfig>> parse(const Texts& texts);

  sys::Files& files_;
  std::string folder_;
  std::string kubeconfig_file_;
  Guarded<std::map<std::string, CachedConfig>> cache_;
};

// The command. Flags: --server-basedir, --bootstrap-kubeconfig, and those of config_server_flags().
Result<> run_bootstrap(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_server
