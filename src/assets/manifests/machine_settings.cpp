#include "assets/manifests/machine_settings.h"

#include "assets/manifest_file.h"
#include "machineconfig/disruption_policy.h"
#include "machineconfig/pool_settings.h"
#include "machineconfig/pools.h"

#include <algorithm>
#include <vector>

namespace slipway::assets {

namespace {

constexpr std::string_view group = "machineconfiguration.openshift.io";

// The pools that the bootstrap machine renders: those of the manifests, and the built-in ones.
std::vector<Json> pools_of(const ManifestSet& manifests) {
  std::vector<Json> pools;
  for (const ManifestObject& object : manifests.objects) {
    if (object.group == group && object.kind == "MachineConfigPool") pools.push_back(object.value);
  }
  for (const char* role : {"master", "worker"}) {
    const bool is_replaced = std::ranges::any_of(pools, [&](const Json& pool) {
      return find_string(pool, {"metadata", "name"}) == std::string_view(role);
    });
    if (!is_replaced) pools.push_back({{"metadata", {{"name", role}, {"labels", machineconfig::built_in_labels(role)}}}});
  }
  return pools;
}

}  // namespace

Result<> check_machine_settings(const ManifestSet& manifests) {
  Findings findings;
  std::vector<Json> settings;
  for (const ManifestObject& object : manifests.objects) {
    const bool is_settings = object.group == group && (object.kind == "KubeletConfig" || object.kind == "ContainerRuntimeConfig");
    const bool is_policy = object.group == "operator.openshift.io" && object.kind == "MachineConfiguration";
    if (!is_settings && !is_policy) continue;
    const YamlDocument document = TRY(document_of(object, manifests));
    if (is_settings) {
      machineconfig::check_pool_settings(document, findings);
      settings.push_back(object.value);
      continue;
    }
    const machineconfig::PolicyInForce policy = machineconfig::policy_in_force(document.value);
    for (Finding finding : policy.findings.all()) {
      finding.place = document.place_of(finding.field);
      findings.add(std::move(finding));
    }
  }
  machineconfig::check_one_per_pool(pools_of(manifests), settings, findings);
  return findings.to_result().context("manifests");
}

}  // namespace slipway::assets
