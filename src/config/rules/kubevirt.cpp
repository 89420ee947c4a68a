#include "config/names.h"
#include "config/rules/platform_rules.h"

namespace slipway::config {

void validate_kubevirt(const Section& platform) {
  const std::string_view space = platform.text("namespace");
  if (!space.empty() && !is_dns_label(space)) {
    platform.error_at("namespace", "'{}' is not a valid namespace name", space).hint("lower-case letters, digits and dashes");
  }
  for (const std::string_view name : {"apiVIP", "ingressVIP"}) {
    const auto address = platform.at(name).address();
    if (!address || is_in_machine_networks(platform.document(), *address)) continue;
    platform.error_at(name, "{} is not in a machine network", platform.text(name))
        .hint("use a free address of networking.machineNetwork");
  }
  const std::string_view api = platform.text("apiVIP");
  if (!api.empty() && api == platform.text("ingressVIP")) {
    platform.error_at("ingressVIP", "is also the address of the API").hint("use a different address");
  }
}

void validate_kubevirt_pool(const Section& pool, const Section&, bool) {
  pool.not_negative("cpu");
  for (const std::string_view name : {"memory", "storageSize"}) {
    const std::string_view amount = pool.text(name);
    if (!amount.empty() && !is_quantity(amount)) {
      pool.error_at(name, "'{}' is not a quantity", amount).hint("for example 16Gi");
    }
  }
}

}  // namespace slipway::config
