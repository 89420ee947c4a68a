#include "kube/types.h"

#include <algorithm>
#include <array>

namespace slipway::kube {

namespace {

constexpr std::array all_types = {
    &types::namespaces,
    &types::nodes,
    &types::pods,
    &types::services,
    &types::endpoints,
    &types::config_maps,
    &types::secrets,
    &types::service_accounts,
    &types::events,
    &types::volumes,
    &types::volume_claims,
    &types::resource_quotas,
    &types::deployments,
    &types::daemon_sets,
    &types::stateful_sets,
    &types::jobs,
    &types::cron_jobs,
    &types::pod_disruption_budgets,
    &types::network_policies,
    &types::ingress_classes,
    &types::ingress_objects,
    &types::priority_classes,
    &types::storage_classes,
    &types::storage_drivers,
    &types::storage_capacities,
    &types::api_services,
    &types::admission_policies,
    &types::admission_policy_bindings,
    &types::mutating_webhooks,
    &types::validating_webhooks,
    &types::endpoint_slices,
    &types::leases,
    &types::certificate_requests,
    &types::roles,
    &types::role_bindings,
    &types::cluster_roles,
    &types::cluster_role_bindings,
    &types::custom_resource_definitions,
    &types::token_reviews,
    &types::subject_access_reviews,
    &types::cluster_versions,
    &types::cluster_operators,
    &types::infrastructures,
    &types::networks,
    &types::etcds,
    &types::etcd_backups,
    &types::kube_apiservers,
    &types::kube_controller_managers,
    &types::kube_schedulers,
    &types::feature_gates,
    &types::schedulers,
    &types::dnses,
    &types::ingresses,
    &types::api_servers,
    &types::authentications,
    &types::images,
    &types::node_settings,
    &types::backups,
    &types::proxies,
    &types::config_settings,
    &types::network_settings,
    &types::dns_settings,
    &types::credential_settings,
    &types::service_cas,
    &types::storages,
    &types::ingress_controllers,
    &types::machine_configurations,
    &types::routes,
    &types::machine_configs,
    &types::machine_config_pools,
    &types::controller_configs,
    &types::machine_config_nodes,
    &types::machine_os_configs,
    &types::machine_os_builds,
    &types::kubelet_configs,
    &types::runtime_configs,
    &types::credentials_requests,
};

}  // namespace

std::string ResourceType::api_version() const { return group.empty() ? version : group + "/" + version; }

const ResourceType* find_type(const Json& object) {
  const auto kind = find_string(object, {"kind"}), api_version = find_string(object, {"apiVersion"});
  const auto found = std::ranges::find_if(
      all_types, [&](const ResourceType* type) { return kind == type->kind && api_version == type->api_version(); });
  return found == all_types.end() ? nullptr : *found;
}

}  // namespace slipway::kube
