#include "components/config_operator/feature_gates.h"

#include "base/number.h"
#include "components/render/manifest_filter.h"

#include <fmt/core.h>

#include <set>

namespace slipway::components::config_operator {

namespace {

constexpr std::string_view include_prefix = "include.release.openshift.io/";
constexpr std::string_view custom_set = "CustomNoUpgrade";

struct Gates {
  std::set<std::string> enabled;
  std::set<std::string> disabled;

  void set(const std::string& name, bool on) {
    (on ? disabled : enabled).erase(name);
    (on ? enabled : disabled).insert(name);
  }
};

// Names in a list of {name: X}, or of X as in spec.customNoUpgrade.
std::vector<std::string> names_in(const JsonArray& list) {
  std::vector<std::string> names;
  for (const Json& item : list) {
    const auto name = find_string(item, {"name"});
    if (name) names.emplace_back(*name);
    if (item.is_string()) names.emplace_back(item.as_string());
  }
  return names;
}

JsonArray named(const std::set<std::string>& names) {
  JsonArray list;
  for (const std::string& name : names) list.emplace_back(JsonObject{{"name", name}});
  return list;
}

const Json* choose_list(const std::vector<Json>& lists, std::string_view set, int major, std::string_view profile) {
  const Json* other_major = nullptr;
  for (const Json& list : lists) {
    // The value is "false-except-for-the-config-operator": these lists are inputs of renders, not manifests to apply.
    if (annotation(list, fmt::format("{}{}", include_prefix, profile)).empty()) continue;
    if (annotation(list, "release.openshift.io/feature-set").empty() || wrong_feature_set(list, set)) continue;
    if (!wrong_major(list, major)) return &list;
    if (!other_major) other_major = &list;
  }
  return other_major;
}

}  // namespace

Result<int> major_version(std::string_view version) {
  const std::string_view digits = version.substr(version.starts_with('v') ? 1 : 0);
  const std::optional<int> major = parse_number<int>(digits.substr(0, digits.find('.')));
  if (!major || *major < 0) return error(Code::invalid, "'{}' is not a version, for example 4.18.3", version);
  return *major;
}

Result<Json> with_gates(const Json& gate, const std::vector<Json>& lists, std::string_view version, std::string_view profile) {
  const int major = TRY(major_version(version));
  const std::string set(find_string(gate, {"spec", "featureSet"}).value_or(""));
  const bool custom = set == custom_set;
  const std::string include = fmt::format("{}{}", include_prefix, profile);
  bool for_others = false;
  for (const auto& [key, value] : find_object(gate, {"metadata", "annotations"})) {
    for_others = for_others || key.starts_with(include_prefix);
  }
  if (for_others && annotation(gate, include).empty()) {
    return error(Code::invalid, "the FeatureGate is annotated for other cluster profiles than {} (add annotation {}: \"true\")",
                 profile, include);
  }

  JsonObject result = gate.is_object() ? gate.as_object() : JsonObject();
  JsonObject metadata = find_object(gate, {"metadata"});
  metadata.erase("creationTimestamp");
  if (!custom) {
    JsonObject annotations = find_object(gate, {"metadata", "annotations"});
    annotations[include] = "true";
    metadata["annotations"] = std::move(annotations);
  }
  result["metadata"] = std::move(metadata);
  if (custom) {
    for (const Json& known : find_array(gate, {"status", "featureGates"})) {
      if (find_string(known, {"version"}) == version) return Json(std::move(result));
    }
  }

  const Json* list = choose_list(lists, custom ? "" : set, major, profile);
  if (!list) {
    return error(Code::invalid, "spec.featureSet: this release has no feature set '{}' for cluster profile {}", set, profile);
  }
  Gates gates;
  for (const Json& payload : find_array(*list, {"status", "featureGates"})) {
    for (const std::string& name : names_in(find_array(payload, {"enabled"}))) gates.set(name, true);
    for (const std::string& name : names_in(find_array(payload, {"disabled"}))) gates.set(name, false);
  }
  if (custom) {
    for (const std::string& name : names_in(find_array(gate, {"spec", "customNoUpgrade", "enabled"}))) gates.set(name, true);
    for (const std::string& name : names_in(find_array(gate, {"spec", "customNoUpgrade", "disabled"}))) gates.set(name, false);
  }
  JsonObject entry;
  entry["version"] = version;
  entry["enabled"] = named(gates.enabled);
  entry["disabled"] = named(gates.disabled);
  JsonArray entries;
  entries.push_back(std::move(entry));
  JsonObject status;
  status["featureGates"] = std::move(entries);
  result["status"] = std::move(status);
  return Json(std::move(result));
}

}  // namespace slipway::components::config_operator
