#include "components/static_pod/target_inputs.h"

#include "components/render/document.h"

#include <algorithm>

namespace slipway::components {

namespace {

// Adds each line once: several functions may need the same object.
void add_line(Target& target, std::string line) {
  if (std::ranges::find(target.missing, line) == target.missing.end()) target.missing.push_back(std::move(line));
}

}  // namespace

void copy_object(Part::Kind kind, const ObjectName& from, const ObjectName& to, std::string_view maker, const Snapshot& seen,
                 Target& target) {
  const Part part{kind, to.name};
  const Json* original = seen.find(part.type(), from.space, from.name);
  if (original == nullptr) {
    if (!maker.empty()) {
      add_line(target, fmt::format("{} {}/{}, which {} creates", part.type().kind, from.space, from.name, maker));
    }
    return;
  }
  target.plan.desired_objects.push_back({part.type(), copy_of(*original, to.space, to.name)});
}

void put_text(std::string_view space, std::string_view name, std::string_view key, std::string text, Target& target) {
  target.plan.desired_objects.push_back(
      {kube::types::config_maps, config_map({std::string(space), std::string(name)}, {{std::string(key), std::move(text)}})});
}

const Json* find_cluster_object(const kube::ResourceType& type, const Snapshot& seen, Target& target) {
  const Json* object = seen.find(type, "", "cluster");
  if (object == nullptr) add_line(target, fmt::format("{} cluster, which the installer creates", type.kind));
  return object;
}

std::string infrastructure_text(std::string_view field, const Snapshot& seen, Target& target) {
  const Json* object = find_cluster_object(kube::types::infrastructures, seen, target);
  if (object == nullptr) return {};
  const std::string text(find_string(*object, {"status", field}).value_or(""));
  if (text.empty()) add_line(target, fmt::format("Infrastructure cluster: status.{}", field));
  return text;
}

std::optional<FeatureGates> find_gates(const std::string& version, const Snapshot& seen, Target& target) {
  const Json* object = find_cluster_object(kube::types::feature_gates, seen, target);
  if (object == nullptr) return {};
  Findings findings;
  FeatureGates gates = feature_gates({{"FeatureGate cluster", *object}}, version, findings);
  add_missing(findings, target);
  return findings.has_errors() ? std::nullopt : std::optional(std::move(gates));
}

void add_missing(const Findings& findings, Target& target) {
  for (const Finding& finding : findings.all()) {
    if (finding.severity == Severity::error) add_line(target, to_string(finding));
  }
}

Json with_overrides(Json config, const Json& settings) {
  config = merge_layers(std::move(config), find_object(settings, {"spec", "observedConfig"}));
  return merge_layers(std::move(config), find_object(settings, {"spec", "unsupportedConfigOverrides"}));
}

}  // namespace slipway::components
