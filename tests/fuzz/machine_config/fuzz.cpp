// Objects of the machine configuration from users and API servers, JSON or YAML. The first byte selects: m a MachineConfig, which
// is rendered and served in every version of Ignition; c a ControllerConfig; p a pool; r a set of registry mirrors; a the actions
// of a node after an update; s a KubeletConfig or ContainerRuntimeConfig; d a node disruption policy; k an Accept header.
#include "base/check.h"
#include "base/yaml.h"
#include "ignition/parse.h"
#include "ignition/validate.h"
#include "machineconfig/pool_settings.h"
#include "machineconfig/registries.h"
#include "machineconfig/render.h"
#include "machineconfig/served_config.h"
#include "machineconfig/update_plan.h"

#include <cstdint>

namespace {

using namespace slipway;
using namespace slipway::machineconfig;

void serve(const MachineConfig& config) {
  for (int minor = 0; minor <= 5; ++minor) {
    const auto version = accepted_version(fmt::format("application/vnd.coreos.ignition+json;version=3.{}.0", minor));
    CHECK(version.ok());
    const auto served = served_config(config, {.version = "1"}, {.kubeconfig = Secret("kind: Config\n")}, version.value());
    if (!served.ok()) continue;
    const auto read = ignition::parse_text(emit_json(ignition::to_json(served.value()), JsonStyle::compact), "served");
    CHECK(read.ok());
    CHECK(read->findings.empty());
    CHECK(read->config == served.value());
    CHECK(!ignition::validate(read->config).has_errors());
  }
}

void machine_config(const Json& object) {
  const auto config = parse_machine_config(object, "fuzz");
  if (!config.ok()) return;
  const auto again = parse_machine_config(to_json(config.value()), "again");
  CHECK(again.ok());
  CHECK(again.value() == config.value());
  CHECK(differences(config.value(), config.value()) == Differences{});
  CHECK(check_reconcilable(config.value(), config.value()).ok());
  (void)actions_for(differences({.name = "before"}, config.value()), default_disruption_policy());
  (void)core_access(config.value());
  serve(config.value());
  const Pool pool{.name = "worker", .roles = {"worker"}, .object = {}};
  MachineConfig own = config.value();
  own.labels["machineconfiguration.openshift.io/role"] = "worker";
  const auto rendered = render(pool, {own}, {.os_image = "", .extensions_image = "", .controller_version = "1"});
  if (rendered.ok()) serve(rendered->config);
}

void registries(const Json& object) {
  const auto configs = registry_configs("worker", {object}, "1");
  if (!configs.ok()) return;
  for (const MachineConfig& config : configs.value()) CHECK(!ignition::validate(config.config).has_errors());
}

void disruption_policy(const Json& policy) {
  const PolicyInForce found = policy_in_force({{"spec", {{"nodeDisruptionPolicy", policy}}}});
  if (found.findings.has_errors()) return;
  // As the last valid policy it stays the same.
  const Json status = {{"nodeDisruptionPolicyStatus", {{"clusterPolicies", to_json(found.policy)}}}};
  CHECK(policy_in_force({{"spec", {{"nodeDisruptionPolicy", 1}}}, {"status", status}}).policy == found.policy);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] == 'k') {
    (void)accepted_version(text).ok();
    return 0;
  }
  const auto document = parse_yaml(text, "fuzz");
  if (!document.ok()) return 0;
  const Json& object = document->value;
  switch (data[0]) {
    case 'm': machine_config(object); break;
    case 'c': {
      const auto config = parse_controller_config(object, "fuzz");
      if (!config.ok()) break;
      (void)config->internal_api_url();
      const auto again = parse_controller_config(to_json(config.value()), "again");
      CHECK(again.ok());
      CHECK(again.value() == config.value());
      break;
    }
    case 'p': (void)parse_pool(object, "fuzz").ok(); break;
    case 'r': registries(object); break;
    case 's': {
      Findings findings;
      check_pool_settings(document.value(), findings);
      break;
    }
    case 'd': disruption_policy(object); break;
    case 'a': {
      const auto actions = parse_actions(object, "fuzz");
      if (actions.ok()) CHECK(parse_actions(to_json(actions.value()), "again").value() == actions.value());
      break;
    }
    default: break;
  }
  return 0;
}
