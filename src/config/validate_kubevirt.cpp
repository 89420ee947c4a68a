#include "config/names.h"
#include "config/platform_rules.h"

namespace slipway::config {

void validate_kubevirt(const Section& platform) {
  const std::string_view space = platform.text("namespace");
  if (!space.empty() && !is_dns_label(space)) {
    platform.error_at("namespace", "'{}' is no name of a namespace", space).hint("lower-case letters, digits and dashes");
  }
  for (const std::string_view name : {"apiVIP", "ingressVIP"}) {
    const auto address = platform.at(name).address();
    if (!address || is_in_machine_networks(platform.document(), *address)) continue;
    platform.error_at(name, "{} is in none of the machine networks", platform.text(name))
        .hint("a free address of networking.machineNetwork");
  }
  const std::string_view api = platform.text("apiVIP");
  if (!api.empty() && api == platform.text("ingressVIP")) {
    platform.error_at("ingressVIP", "is the address of the API too").hint("they have to differ");
  }
}

void validate_kubevirt_pool(const Section& pool, const Section&, bool) {
  pool.not_negative("cpu");
  for (const std::string_view name : {"memory", "storageSize"}) {
    const std::string_view amount = pool.text(name);
    if (!amount.empty() && !is_quantity(amount)) {
      pool.error_at(name, "'{}' is no amount", amount).hint("as in 16Gi");
    }
  }
}

}  // namespace slipway::config
