#include "operators/version/apply_plan.h"

#include <algorithm>

namespace slipway::operators {

namespace {

std::string_view group_of(const Json& object) {
  const std::string_view api_version = find_string(object, {"apiVersion"}).value_or("");
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

bool is_overridden(const Json& object, const JsonArray& overrides) {
  return std::ranges::any_of(overrides, [&](const Json& each) {
    const auto text = [&](std::string_view key) { return find_string(each, {key}).value_or(""); };
    const Json* unmanaged = find(each, {"unmanaged"});
    return unmanaged && *unmanaged == Json(true) && text("kind") == find_string(object, {"kind"}).value_or("") &&
           text("group") == group_of(object) && text("name") == kube::name_of(object) &&
           text("namespace") == kube::namespace_of(object);
  });
}

}  // namespace

ApplyPlan plan_apply(const std::vector<Manifest>& manifests, const ManifestFilter& filter, const Json& cluster_version) {
  const JsonArray& overrides = find_array(cluster_version, {"spec", "overrides"});
  ApplyPlan plan;
  for (const Manifest& manifest : manifests) {
    const Json& object = manifest.object;
    if (reason_to_leave_out(object, filter)) continue;
    if (is_overridden(object, overrides)) {
      ++plan.overridden;
    } else if (annotation(object, "release.openshift.io/delete") == "true") {
      plan.remove.push_back(object);
    } else if (annotation(object, "release.openshift.io/create-only") == "true") {
      plan.create.push_back({manifest.path, object});
    } else {
      plan.apply.push_back({manifest.path, object});
    }
  }
  return plan;
}

}  // namespace slipway::operators
