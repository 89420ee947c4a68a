#include "components/machine_config_operator/outdated_configs.h"

#include "machineconfig/labels.h"
#include "machineconfig/node_annotations.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace slipway::components::machine_config_operator {

namespace {

namespace types = kube::types;

constexpr std::string_view name_prefix = "rendered-";

// A MachineConfig of a user may have the same prefix, but it has a role and lacks the annotation of generated configs.
bool is_rendered(const Json& config) {
  return kube::name_of(config).starts_with(name_prefix) &&
         find(config, {"metadata", "annotations", machineconfig::generated_by}) != nullptr &&
         !find_string(config, {"metadata", "labels", machineconfig::role_label});
}

// "rendered-master" of "rendered-master-HASH". Configs of the bootstrap machine have no owner reference that names their pool.
std::string_view series_of(std::string_view name) { return name.substr(0, name.rfind('-')); }

std::set<std::string, std::less<>> used_names(const Snapshot& seen) {
  std::set<std::string, std::less<>> used;
  const auto add = [&](const Json& object, std::initializer_list<std::string_view> path) {
    if (const auto name = find_string(object, path)) used.emplace(*name);
  };
  for (const Json* pool : seen.list(types::machine_config_pools)) {
    add(*pool, {"spec", "configuration", "name"});
    add(*pool, {"status", "configuration", "name"});
  }
  for (const Json* node : seen.list(types::nodes)) {
    add(*node, {"metadata", "annotations", machineconfig::current_config});
    add(*node, {"metadata", "annotations", machineconfig::desired_config});
  }
  return used;
}

}  // namespace

std::vector<std::string> outdated_configs(const Snapshot& seen) {
  std::map<std::string_view, std::vector<std::pair<std::string_view, std::string_view>>> series;  // creation time, name
  for (const Json* config : seen.list(types::machine_configs)) {
    if (!is_rendered(*config)) continue;
    const std::string_view name = kube::name_of(*config);
    series[series_of(name)].emplace_back(find_string(*config, {"metadata", "creationTimestamp"}).value_or(""), name);
  }
  const std::set<std::string, std::less<>> used = used_names(seen);
  std::vector<std::string> outdated;
  for (auto& [prefix, configs] : series) {
    std::ranges::sort(configs, std::greater());
    for (std::size_t i = rendered_configs_kept; i < configs.size(); ++i) {
      if (!used.contains(configs[i].second)) outdated.emplace_back(configs[i].second);
    }
  }
  std::ranges::sort(outdated);
  return outdated;
}

}  // namespace slipway::components::machine_config_operator
