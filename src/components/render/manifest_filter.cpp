#include "components/render/manifest_filter.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::components {

std::string_view annotation(const Json& manifest, std::string_view key) {
  return find_string(manifest, {"metadata", "annotations", key}).value_or(std::string_view());
}

std::optional<std::string> wrong_feature_set(const Json& manifest, std::string_view feature_set) {
  const std::string_view sets = annotation(manifest, "release.openshift.io/feature-set");
  const std::string_view wanted = feature_set.empty() ? "Default" : feature_set;
  const auto all = split(sets, ',');
  if (sets.empty() || std::ranges::any_of(all, [&](std::string_view set) { return trim(set) == wanted; })) return {};
  return fmt::format("for feature set {}, not for {}", sets, wanted);
}

std::optional<std::string> wrong_profile(const Json& manifest, std::string_view profile) {
  if (annotation(manifest, fmt::format("include.release.openshift.io/{}", profile)) == "true") return {};
  return fmt::format("not for cluster profile {}", profile);
}

std::optional<std::string> wrong_major(const Json& manifest, int major) {
  const std::string_view majors = annotation(manifest, "release.openshift.io/major-version");
  const auto all = split(majors, ',');
  const std::string ours = std::to_string(major);
  if (majors.empty() || std::ranges::any_of(all, [&](std::string_view each) { return trim(each) == ours; })) return {};
  return fmt::format("for major version {}, not for {}", majors, major);
}

namespace {

std::optional<std::string> wrong_gates(const Json& manifest, const ManifestFilter::Names& enabled) {
  const std::string_view gates = annotation(manifest, "release.openshift.io/feature-gate");
  if (gates.empty()) return {};
  for (std::string_view gate : split(gates, ',')) {
    gate = trim(gate);
    const bool wanted = !gate.starts_with('-');
    if (!wanted) gate.remove_prefix(1);
    if (enabled.contains(gate) != wanted) return fmt::format("feature gate {} is {}", gate, wanted ? "disabled" : "enabled");
  }
  return {};
}

std::optional<std::string> wrong_capabilities(const Json& manifest, const ManifestFilter::Names& enabled) {
  const std::string_view needed = annotation(manifest, "capability.openshift.io/name");
  if (needed.empty()) return {};
  for (const std::string_view capability : split(needed, '+')) {
    if (!enabled.contains(capability)) return fmt::format("capability {} is not enabled", capability);
  }
  return {};
}

}  // namespace

std::optional<std::string> reason_to_leave_out(const Json& manifest, const ManifestFilter& filter) {
  if (find_object(manifest, {"metadata", "annotations"}).empty()) return "has no annotations";
  if (auto reason = wrong_profile(manifest, filter.profile)) return reason;
  if (!filter.exclude_id.empty() &&
      annotation(manifest, fmt::format("exclude.release.openshift.io/{}", filter.exclude_id)) == "true") {
    return fmt::format("excluded from {}", filter.exclude_id);
  }
  if (auto reason = wrong_feature_set(manifest, filter.feature_set)) return reason;
  std::optional<std::string> reason;
  if (filter.gates) reason = wrong_gates(manifest, *filter.gates);
  if (!reason && filter.major) reason = wrong_major(manifest, *filter.major);
  if (!reason && filter.capabilities) reason = wrong_capabilities(manifest, *filter.capabilities);
  return reason;
}

}  // namespace slipway::components
