#include "base/similar.h"
#include "config/rules/platform_rules.h"
#include "config/platforms.h"

#include <algorithm>
#include <set>

namespace slipway::config {

namespace {

// Every capability with the first baseline that contains it, from ClusterVersionCapabilitySets of openshift/api config/v1.
struct Capability {
  std::string_view name;
  int since;  // minor version of the baseline, "v4.11" is 11
};
constexpr Capability capabilities[] = {{"baremetal", 11},
                                       {"MachineAPI", 11},
                                       {"marketplace", 11},
                                       {"openshift-samples", 11},
                                       {"Console", 12},
                                       {"Insights", 12},
                                       {"Storage", 12},
                                       {"CSISnapshot", 12},
                                       {"NodeTuning", 13},
                                       {"Build", 14},
                                       {"DeploymentConfig", 14},
                                       {"ImageRegistry", 14},
                                       {"OperatorLifecycleManager", 15},
                                       {"CloudCredential", 15},
                                       {"Ingress", 16},
                                       {"CloudControllerManager", 16},
                                       {"OperatorLifecycleManagerV1", 18}};
constexpr int oldest_baseline = 11;
constexpr int newest_baseline = 18;

constexpr std::string_view baseline_name = "baselineCapabilitySet";
constexpr std::string_view additional_name = "additionalEnabledCapabilities";

// The minor version of a baseline; 0 for None; nothing if there is no such baseline.
std::optional<int> baseline_number(std::string_view text) {
  if (text == "None") return 0;
  if (text == "vCurrent") return newest_baseline;
  for (int minor = oldest_baseline; minor <= newest_baseline; ++minor) {
    if (text == fmt::format("v4.{}", minor)) return minor;
  }
  return std::nullopt;
}

std::set<std::string_view> enabled_capabilities(const Document& document) {
  const auto baseline = baseline_number(document.text({"capabilities", baseline_name}));
  std::set<std::string_view> names;
  for (const Capability& capability : capabilities) {
    if (baseline && capability.since <= *baseline) names.insert(capability.name);
  }
  for (const Json& name : find_array(document.value, {"capabilities", additional_name})) {
    if (name.is_string()) names.insert(name.get_string());
  }
  return names;
}

void validate_names(const Section& section) {
  std::vector<std::string_view> known;
  for (const Capability& capability : capabilities) known.push_back(capability.name);
  for (const Section& item : section.items(additional_name)) {
    if (!item.value().is_string() || std::ranges::find(known, item.text()) != known.end()) continue;
    const std::string_view near = similar_word(item.text(), known);
    auto added = item.error("unknown value '{}'", item.text());
    added.hint(near.empty() ? "use " + choice_of(known) : fmt::format("did you mean '{}'?", near));
  }
}

// Why a cluster of this platform needs the capability, as the end of a message; nothing if it does not need it.
std::optional<std::string_view> why_needed(std::string_view name, std::string_view platform, const Document& document) {
  if (name == "Ingress") return "";
  if (name == "OperatorLifecycleManager" && has_capability(document, "marketplace")) return ", marketplace needs it";
  if (name == "baremetal" && platform == "baremetal") return " on platform baremetal";
  const bool has_integration = platform_row(platform).has_integration;
  if (name == "CloudCredential" && has_integration) return " on this platform";
  if (name == "CloudControllerManager" && has_integration) {
    const bool has_none =
        platform == "external" && document.text({"platform", "external", "cloudControllerManager"}) != "External";
    if (!has_none) return platform == "external" ? " for the platform's own manager" : " on this platform";
  }
  return std::nullopt;
}

}  // namespace

bool has_capability(const Document& document, std::string_view name) {
  if (!find(document.value, {"capabilities"})) return true;
  return enabled_capabilities(document).contains(name);
}

void validate_capabilities(Document& document) {
  if (!find(document.value, {"capabilities"})) return;
  const Section section(document, {"capabilities"});
  validate_names(section);
  const std::string_view baseline = section.text(baseline_name);
  if (!baseline_number(baseline)) {
    // Required even with additionalEnabledCapabilities: OpenShift's installer rejects an empty baseline.
    if (section.need(baseline_name, "None, vCurrent, or a version such as v4.16")) {
      section.error_at(baseline_name, "must be None, vCurrent or v4.{} to v4.{}, got '{}'", oldest_baseline, newest_baseline,
                       baseline);
    }
    return;
  }
  const std::string platform = platform_type(document);
  for (const Capability& capability : capabilities) {
    if (has_capability(document, capability.name)) continue;
    if (const auto why = why_needed(capability.name, platform, document)) {
      section.error("{} must be enabled{}", capability.name, *why).hint("add it to additionalEnabledCapabilities");
    }
  }
}

}  // namespace slipway::config
