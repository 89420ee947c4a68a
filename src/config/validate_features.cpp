#include "base/similar.h"
#include "base/text.h"
#include "config/document.h"

#include <algorithm>
#include <set>

namespace slipway::config {

namespace {

// Every capability and the baseline from which on it is a part of it (installer 2.4).
struct Capability {
  std::string_view name;
  int since;  // minor version of the baseline, "v4.11" is 11
};
constexpr Capability capabilities[] = {{"baremetal", 11},
                                       {"marketplace", 11},
                                       {"openshift-samples", 11},
                                       {"Console", 12},
                                       {"Insights", 12},
                                       {"Storage", 12},
                                       {"CSISnapshot", 12},
                                       {"NodeTuning", 13},
                                       {"MachineAPI", 14},
                                       {"Build", 14},
                                       {"DeploymentConfig", 14},
                                       {"ImageRegistry", 14},
                                       {"OperatorLifecycleManager", 15},
                                       {"CloudCredential", 15},
                                       {"Ingress", 16},
                                       {"CloudControllerManager", 16}};
constexpr int oldest_baseline = 11;
constexpr int newest_baseline = 18;

// The minor version; 0 for None; nothing when there is no such baseline.
std::optional<int> baseline_number(std::string_view text) {
  if (text == "None") return 0;
  if (text == "vCurrent") return newest_baseline;
  for (int minor = oldest_baseline; minor <= newest_baseline; ++minor) {
    if (text == fmt::format("v4.{}", minor)) return minor;
  }
  return std::nullopt;
}

using Names = std::set<std::string_view>;

Names additional_capabilities(Document& document) {
  Names names;
  const JsonArray& additional = find_array(document.value, {"capabilities", "additionalEnabledCapabilities"});
  for (std::size_t i = 0; i < additional.size(); ++i) {
    if (!additional[i].is_string()) continue;
    const std::string_view name = additional[i].get_string();
    if (std::ranges::find(capabilities, name, &Capability::name) != std::end(capabilities)) {
      names.insert(name);
      continue;
    }
    auto added = document.error(fmt::format("capabilities.additionalEnabledCapabilities[{}]", i), "'{}' is not known", name);
    std::vector<std::string_view> known;
    for (const Capability& capability : capabilities) known.push_back(capability.name);
    if (const std::string_view near = similar_word(name, known); !near.empty())
      added.hint(fmt::format("did you mean '{}'?", near));
  }
  return names;
}

void validate_capabilities(Document& document) {
  if (!find(document.value, {"capabilities"})) return;
  const std::string baseline_path = "capabilities.baselineCapabilitySet";
  const std::string_view baseline = document.text({"capabilities", "baselineCapabilitySet"});
  Names enabled = additional_capabilities(document);
  const auto number = baseline_number(baseline);
  if (!number) {
    document.error(baseline_path, "must be None, vCurrent or v4.{} to v4.{}, not '{}'", oldest_baseline, newest_baseline,
                   baseline);
    return;
  }
  for (const Capability& capability : capabilities) {
    if (capability.since <= *number) enabled.insert(capability.name);
  }
  const std::string platform = platform_type(document);
  const auto require = [&](std::string_view name, std::string_view why) {
    if (enabled.contains(name)) return;
    document.error("capabilities", "{} has to be enabled{}", name, why).hint("add it to additionalEnabledCapabilities");
  };
  if (enabled.contains("marketplace")) require("OperatorLifecycleManager", ", marketplace needs it");
  require("Ingress", "");
  if (platform == "external") {
    require("CloudCredential", " on platform external");
    const bool has_manager = document.text({"platform", "external", "cloudControllerManager"}) == "External";
    if (has_manager) require("CloudControllerManager", " for the platform's own manager");
  }
}

void validate_gates(Document& document) {
  static const std::vector<std::string_view> known = {"TechPreviewNoUpgrade", "DevPreviewNoUpgrade", "CustomNoUpgrade"};
  const std::string_view set = document.text({"featureSet"});
  if (!set.empty() && std::ranges::find(known, set) == known.end()) {
    auto added = document.error("featureSet", "'{}' is not known", set);
    if (const std::string_view near = similar_word(set, known); !near.empty())
      added.hint(fmt::format("did you mean '{}'?", near));
  }
  const JsonArray& gates = find_array(document.value, {"featureGates"});
  if (!gates.empty() && set != "CustomNoUpgrade") document.error("featureGates", "needs featureSet: CustomNoUpgrade");
  for (std::size_t i = 0; i < gates.size(); ++i) {
    if (!gates[i].is_string()) continue;
    const std::string_view text = gates[i].get_string();
    const std::size_t equals = text.find('=');
    const std::string value = to_lower(equals == std::string_view::npos ? "" : text.substr(equals + 1));
    if (equals == 0 || (value != "true" && value != "false")) {
      document.error(fmt::format("featureGates[{}]", i), "must be NAME=true or NAME=false, not '{}'", text);
    }
  }
}

void validate_publishing(Document& document) {
  const std::string_view publish = document.text({"publish"});
  const std::string platform = platform_type(document);
  if (publish == "Internal" || publish == "Mixed") {
    document.error("publish", "{} is not possible on platform {}", publish, platform);
  } else if (publish != "External") {
    document.error("publish", "must be External, Internal or Mixed, not '{}'", publish);
  }
  if (find(document.value, {"operatorPublishingStrategy"}) && publish != "Mixed") {
    document.error("operatorPublishingStrategy", "needs publish: Mixed");
  }
}

void validate_credentials(Document& document) {
  const std::string_view mode = document.text({"credentialsMode"});
  if (mode.empty()) return;
  const std::string platform = platform_type(document);
  if (mode != "Mint" && mode != "Passthrough" && mode != "Manual") {
    document.error("credentialsMode", "must be Mint, Passthrough or Manual, not '{}'", mode);
  } else if (platform == "local") {
    if (mode != "Manual") document.error("credentialsMode", "must be Manual on platform local, not {}", mode);
  } else {
    document.error("credentialsMode", "must be left out on platform {}", platform);
  }
}

}  // namespace

void validate_features(Document& document) {
  if (const std::string type = platform_type(document); type == "local" || type == "none" || type == "external") {
    validate_publishing(document);
    validate_credentials(document);
    validate_capabilities(document);
  }
  validate_gates(document);
  const std::string_view partitioning = document.text({"cpuPartitioningMode"});
  if (!partitioning.empty() && partitioning != "None" && partitioning != "AllNodes") {
    document.error("cpuPartitioningMode", "must be None or AllNodes, not '{}'", partitioning);
  }
  if (find(document.value, {"bootstrapInPlace"}) && document.text({"bootstrapInPlace", "installationDisk"}).empty()) {
    document.warning("bootstrapInPlace.installationDisk", "is missing; an installation in place needs it");
  }
}

}  // namespace slipway::config
