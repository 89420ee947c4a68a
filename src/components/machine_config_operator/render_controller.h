// Rendering in the cluster: MachineConfigs from templates, and from all that a pool selects the one of its machines. The same
// functions render on the bootstrap machine, so that the names are the same.
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

// The text with the credentials of registries in a Secret. errors: invalid: it has none
Result<Secret> docker_config(const Json& secret);

// What MachineConfigs are made of besides those that users write.
struct GeneratedFrom {
  const machineconfig::ControllerConfig& controller;
  const Secret& pull_secret;
  std::vector<Json> pools{};        // MachineConfigPools
  std::vector<Json> mirror_sets{};  // of registries
  std::vector<Json> kubelet_configs{};
};

// From the templates and the mirrors of registries for every role, and from KubeletConfigs for their pools. Pure.
// errors: as template_configs, registry_configs and kubelet_machine_configs
Result<std::vector<machineconfig::MachineConfig>> generated_configs(const GeneratedFrom& from);

// What rendering says of a pool.
struct PoolRender {
  std::string problem{};     // why the pool keeps the config that it has; empty: all is well
  bool is_settling = false;  // a new config is known, and waits for more changes to come with it
};

struct RenderPlan {
  Plan plan{};
  std::map<std::string, PoolRender, std::less<>> pools{};  // by name
};

// How long inputs have to stay as they are before a pool that has a config gets another one: several objects that people apply
// together are one change of machines.
inline constexpr Milliseconds render_settle{2'000};

// Remembers what it rendered as long as nothing changes, for every heartbeat of a node asks for a plan and rendering takes tens
// of milliseconds; the plan is that of a pure function otherwise. Threads: one.
class RenderController {
 public:
  explicit RenderController(std::string version) : version_(std::move(version)) {}

  static std::vector<Watched> watched();

  // Wishes the generated MachineConfigs, the rendered ones, and when these are there, spec.configuration of their pools. A pool
  // whose config cannot be rendered, or could not be reached by its machines, keeps the one that it has. Outdated rendered
  // configs go (outdated_configs.h).
  RenderPlan plan(const Snapshot& seen, WallTime now);

 private:
  struct Outcome {
    std::string problem{};  // of all pools: nothing can be rendered
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
  std::string inputs_;  // what was rendered, object by object
  WallTime changed_{};  // since when it is that
  Outcome outcome_;
};

}  // namespace slipway::components::machine_config_operator
