// Rendering in the cluster: generates MachineConfigs from templates, and renders the MachineConfigs that a pool selects into the
// config of its machines. The bootstrap machine uses the same functions, so the names are the same.
#pragma once

#include "base/secret.h"
#include "components/controller/reconcile.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/types.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::machine_config_operator {

// The credentials for registries in a pull secret, as JSON text. errors: invalid: the Secret has none
Result<Secret> docker_config(const Json& secret);

// Inputs of the generated MachineConfigs.
struct GeneratedFrom {
  const machineconfig::ControllerConfig& controller;
  const Secret& pull_secret;
  std::vector<Json> pools{};        // MachineConfigPools
  std::vector<Json> mirror_sets{};  // objects with mirrors of registries
  std::vector<Json> settings{};     // KubeletConfigs and ContainerRuntimeConfigs
};

// Generates MachineConfigs: for every role from the templates and the mirrors of registries, for pools from KubeletConfigs
// and ContainerRuntimeConfigs. Pure. errors: those of template_configs, registry_configs and settings_configs
Result<std::vector<machineconfig::MachineConfig>> generated_configs(const GeneratedFrom& from);

// The result of rendering for a pool.
struct PoolRender {
  std::string problem{};     // why the pool keeps its current config; empty: no problem
  bool is_settling = false;  // a new config exists, but the pool does not get it before render_settle has passed
};

struct RenderPlan {
  Plan plan{};
  std::map<std::string, PoolRender, std::less<>> pools{};  // by name
};

// Inputs must be unchanged for this time before a pool that has a config gets another one. Objects that users apply together then
// cause only one change of the machines.
inline constexpr Milliseconds render_settle{2'000};

// Caches its result while its inputs are the same: every heartbeat of a node requests a plan, and rendering takes tens of
// milliseconds. Apart from the cache it is a pure function. Threads: one.
class RenderController {
 public:
  explicit RenderController(std::string version) : version_(std::move(version)) {}

  static std::vector<Watched> watched();

  // Plans the generated MachineConfigs, the rendered ones, and spec.configuration of pools whose rendered config exists. A pool
  // keeps its config if the new one cannot be rendered, or if its machines could not apply it. Outdated rendered configs are
  // deleted (outdated_configs.h).
  RenderPlan plan(const Snapshot& seen, WallTime now);

 private:
  struct Outcome {
    std::string problem{};  // why nothing can be rendered, for all pools
    std::vector<machineconfig::MachineConfig> generated{};
    struct Pool {
      std::string problem{};
      std::optional<machineconfig::MachineConfig> config{};
      std::vector<std::string> sources{};
    };
    std::map<std::string, Pool, std::less<>> pools{};
  };

  Outcome render_all(const Snapshot& seen) const;

  std::string version_;
  std::string inputs_;  // states of all objects that outcome_ depends on
  WallTime changed_{};  // when inputs_ last changed
  Outcome outcome_;
};

}  // namespace slipway::components::machine_config_operator
