#include "base/text.h"
#include "config/rules/platform_rules.h"
#include "config/schema/schema.h"

#include <algorithm>
#include <vector>

namespace slipway::config {

namespace {

// Rules of a platform beyond its table (schema.h). validate_pool is null if there are no rules for machines.
struct Rules {
  std::string_view platform;
  void (*validate)(const Section& platform);
  void (*validate_pool)(const Section& pool, const Section& platform, bool is_control_plane);
};
constexpr Rules all_rules[] = {
    {"aws", validate_aws, validate_aws_pool},
    {"baremetal", validate_baremetal, nullptr},
    {"gcp", validate_gcp, validate_gcp_pool},
    {"kubevirt", validate_kubevirt, validate_kubevirt_pool},
    {"libvirt", validate_libvirt, validate_libvirt_pool},
    {"local", validate_local, nullptr},
    {"openstack", validate_openstack, validate_openstack_pool},
    {"ovirt", validate_ovirt, validate_ovirt_pool},
    {"vsphere", validate_vsphere, validate_vsphere_pool},
};

const Rules* rules_of(std::string_view platform) {
  const auto found = std::ranges::find(all_rules, platform, &Rules::platform);
  return found == std::end(all_rules) ? nullptr : found;
}

std::string platform_names() {
  std::vector<std::string_view> names;
  for (const PlatformTable& table : platform_tables()) {
    if (table.section) names.push_back(table.name);
  }
  return choice_of(names);
}

void validate_pools(const Rules& rules, const Section& platform) {
  const auto validate = [&](const Section& pool, bool is_control_plane) {
    if (pool.value().is_object()) rules.validate_pool(pool, platform, is_control_plane);
  };
  const Section top(platform.document(), {});
  validate(platform.at("defaultMachinePlatform"), true);
  validate(top.at("controlPlane").at("platform").at(rules.platform), true);
  for (const Section& pool : top.items("compute")) validate(pool.at("platform").at(rules.platform), false);
}

void refuse_none(Document& document) {
  // A platform without a value is already reported at its own field.
  for (const PlatformTable& table : platform_tables()) {
    if (document.was_given(fmt::format("platform.{}", table.name))) return;
  }
  document.error("platform", "must name a platform").hint("'platform: {local: {}}' for machines on this host");
}

}  // namespace

std::string platform_type(const Document& document) {
  const JsonObject& platform = find_object(document.value, {"platform"});
  if (platform.size() == 2 && platform.contains("none") && platform.contains("external")) return "none";
  return platform.size() == 1 ? std::string(platform.begin()->key()) : "";
}

void validate_zones(const Section& pool, const Section& platform) {
  const std::string_view region = platform.text("region");
  for (const Section& zone : pool.items("zones")) {
    if (zone.value().is_string() && !zone.text().starts_with(region)) {
      zone.error("'{}' is not a zone of region {}", zone.text(), region);
    }
  }
}

bool is_supported_platform(std::string_view name) {
  const PlatformTable* table = find_platform(name);
  return table && table->section;
}

void validate_platform(Document& document) {
  const JsonObject& sections = find_object(document.value, {"platform"});
  if (sections.empty()) return refuse_none(document);
  const std::string type = platform_type(document);
  if (type.empty()) {
    std::vector<std::string> names;
    for (const auto& section : sections) names.emplace_back(section.key());
    document.error("platform", "must name one platform, has {}", join(names, " and "));
    return;
  }
  const Section platform(document, {"platform", type});
  if (!is_supported_platform(type)) {
    platform.error("unsupported platform").hint("supported: " + platform_names());
    return;
  }
  const Rules* rules = rules_of(type);
  if (!rules) return;
  rules->validate(platform);
  if (rules->validate_pool) validate_pools(*rules, platform);
}

}  // namespace slipway::config
