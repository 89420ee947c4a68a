#include "config/rules/platform_rules.h"
#include "config/platforms.h"
#include "config/schema/schema.h"

#include <algorithm>
#include <set>

namespace slipway::config {

namespace {

void validate_architecture(const Section& pool, std::string_view platform) {
  const std::string_view of_control_plane = pool.document().text({"controlPlane", "architecture"});
  const std::vector<std::string_view> known = allowed_values(*find_field_at("controlPlane.architecture"));
  if (pool.text("architecture") == of_control_plane || std::ranges::find(known, of_control_plane) == known.end()) return;
  const PlatformRow* row = find_platform_row(platform);
  const std::string_view gate = row ? row->architectures_gate : "";
  if (!gate.empty() && has_gate(pool.document(), gate)) return;
  auto added = pool.error_at("architecture", "must be the architecture of the control plane, {}", of_control_plane);
  if (!gate.empty()) added.hint(fmt::format("or turn on the feature gate {}", gate));
}

void validate_pool(const Section& pool, const std::string& platform) {
  validate_architecture(pool, platform);
  for (const auto& section : find_object(pool.value(), {"platform"})) {
    if (section.key() == platform || platform.empty()) continue;
    pool.at("platform").error_at(std::string_view(section.key()), "does not match the platform of the cluster, {}", platform);
  }
}

void validate_control_plane(const Section& pool, const std::string& platform) {
  validate_pool(pool, platform);
  const auto count = pool.number("replicas");
  if (pool.at_least_one("replicas") && platform == "local" && count != 1 && count != 3 && count != 5) {
    pool.error_at("replicas", "must be 1, 3 or 5, got {}", *count).hint("etcd requires an odd number of members");
  }
}

}  // namespace

void validate_machines(Document& document) {
  const std::string platform = platform_type(document);
  const Section top(document, {});
  validate_control_plane(top.at("controlPlane"), platform);
  std::set<std::string_view> names;
  for (const Section& pool : top.items("compute")) {
    if (!pool.value().is_object()) continue;
    const std::string_view name = pool.text("name");
    // Pool `edge` has the machines in Local Zones of AWS.
    const bool is_edge = platform == "aws" && name == "edge";
    if (name != "worker" && !is_edge) {
      pool.error_at("name", "must be 'worker'{}, got '{}'", platform == "aws" ? " or 'edge'" : "", name);
    } else if (!names.insert(name).second) {
      pool.error_at("name", "duplicate pool name");
    }
    pool.not_negative("replicas");
    validate_pool(pool, platform);
  }
}

}  // namespace slipway::config
