#include "components/service_ca/operator.h"

#include "components/service_ca/authority.h"
#include "components/service_ca/keeper.h"

namespace slipway::components::service_ca {

namespace {

const std::vector<Watched> watched = {
    {kube::types::secrets, std::string(authority_space), {.fields = fmt::format("metadata.name={}", key_name)}},
    {kube::types::config_maps, std::string(authority_space), {.fields = fmt::format("metadata.name={}", bundle_name)}},
};

std::vector<Condition> conditions_of(const Snapshot& seen, WallTime now) {
  Condition available{.type = "ServiceCAAvailable", .is_true = true}, progressing{.type = "ServiceCAProgressing"};
  if (!find_authority(seen, now)) {
    available = {available.type, false, "NoAuthority", fmt::format("Secret {}/{} is being created", authority_space, key_name)};
  } else if (find_bundle(seen).empty()) {
    available = {available.type, false, "NoBundle",
                 fmt::format("ConfigMap {}/{} is being created", authority_space, bundle_name)};
  }
  if (!available.is_true) progressing = {progressing.type, true, available.reason, available.message};
  // What an operator cannot write makes it Degraded: condition SyncDegraded of the kit.
  return {available, progressing, {.type = "ServiceCADegraded"}};
}

}  // namespace

WorkloadOperator make_operator(std::string space) {
  return {.name = "service-ca",
          .space = std::move(space),
          .watched = watched,
          .desired_state = [](const Snapshot& seen, WallTime now) -> Result<DesiredState> {
            const Json* settings = seen.find(kube::types::service_cas, "", "cluster");
            const std::string forced =
                settings ? text_of(*settings, {"spec", "unsupportedConfigOverrides", "forceRotation", "reason"}) : "";
            DesiredState state;
            state.plan = TRY(plan_authority(forced, seen, now));
            state.conditions = conditions_of(seen, now);
            return state;
          },
          .observer = [](const sys::Context& context, kube::Api& api, View&) { return keep(context, api); },
          .settings = kube::types::service_cas};
}

}  // namespace slipway::components::service_ca
