#include "diagnosis/rules.h"

#include "diagnosis/all_rules.h"

#include <algorithm>
#include <array>

namespace slipway::diagnosis {

std::span<const Rule> rules() {
  static constexpr std::array<Rule, 18> table = {{
      {"disk-full", disk_full},
      {"inotify-exhausted", inotify_exhausted},
      {"assets-expired", assets_expired},
      {"clock-wrong", clock_wrong},
      {"address-in-use", address_in_use},
      {"port-taken", port_taken},
      {"os-image-build-failed", os_image_build_failed},
      {"image-missing", image_missing},
      {"digest-mismatch", digest_mismatch},
      {"registry-unreachable", registry_unreachable},
      {"ignition-refused", ignition_refused},
      {"ignition-config-invalid", ignition_config_invalid},
      {"machine-not-booted", machine_not_booted},
      {"machine-reports", machine_reports},
      {"dns-wrong", dns_wrong},
      {"config-server-unreachable", config_server_unreachable},
      {"manifest-refused", manifest_refused},
      {"operator-crashes", operator_crashes},
  }};
  return table;
}

std::vector<Finding> diagnose(const Bundle& bundle) {
  std::vector<Finding> findings;
  for (const Rule& rule : rules()) {
    Found found = rule.check(bundle);
    if (!found) continue;
    found->name = rule.name;
    findings.push_back(std::move(*found));
  }
  std::ranges::stable_sort(findings, {}, [](const Finding& finding) { return !finding.is_final; });
  return findings;
}

}  // namespace slipway::diagnosis
