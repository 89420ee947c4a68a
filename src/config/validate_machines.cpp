#include "config/document.h"

#include <algorithm>
#include <array>
#include <set>

namespace slipway::config {

namespace {

constexpr std::array<std::string_view, 4> architectures = {"amd64", "arm64", "ppc64le", "s390x"};

void validate_pool(Document& document, const Json& pool, const std::string& path, const std::string& platform) {
  const std::string_view hyperthreading = find_string(pool, {"hyperthreading"}).value_or("");
  if (!hyperthreading.empty() && hyperthreading != "Enabled" && hyperthreading != "Disabled") {
    document.error(path + ".hyperthreading", "must be Enabled or Disabled, not '{}'", hyperthreading);
  }
  const std::string_view architecture = find_string(pool, {"architecture"}).value_or("");
  if (!architecture.empty() && std::ranges::find(architectures, architecture) == architectures.end()) {
    document.error(path + ".architecture", "must be amd64, arm64, ppc64le or s390x, not '{}'", architecture);
  } else if (!architecture.empty() && architecture != document.text({"controlPlane", "architecture"})) {
    document.error(path + ".architecture", "must be that of the control plane, {}",
                   document.text({"controlPlane", "architecture"}));
  }
  for (const auto& section : find_object(pool, {"platform"})) {
    if (section.key() == platform || platform.empty()) continue;
    document.error(fmt::format("{}.platform.{}", path, std::string_view(section.key())),
                   "is not of the cluster's platform, which is {}", platform);
  }
}

void validate_control_plane(Document& document, const std::string& platform) {
  const Json* pool = find(document.value, {"controlPlane"});
  const Json* replicas = pool ? find(*pool, {"replicas"}) : nullptr;
  if (!replicas || !replicas->is_int64()) return;
  const std::int64_t count = replicas->get_int64();
  if (count <= 0) {
    document.error("controlPlane.replicas", "must be at least 1, got {}", count);
  } else if (platform == "local" && count != 1 && count != 3 && count != 5) {
    document.error("controlPlane.replicas", "must be 1, 3 or 5, got {}", count).hint("etcd needs an odd number of members");
  }
  validate_pool(document, *pool, "controlPlane", platform);
}

}  // namespace

void validate_machines(Document& document) {
  const std::string platform = platform_type(document);
  validate_control_plane(document, platform);
  std::set<std::string, std::less<>> names;
  const JsonArray& pools = find_array(document.value, {"compute"});
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (!pools[i].is_object()) continue;
    const std::string path = fmt::format("compute[{}]", i);
    const std::string name(find_string(pools[i], {"name"}).value_or(""));
    if (name != "worker") {
      document.error(path + ".name", "must be 'worker', not '{}'", name);
    } else if (!names.insert(name).second) {
      document.error(path + ".name", "a second pool of this name");
    }
    if (const Json* count = find(pools[i], {"replicas"}); count && count->is_int64() && count->get_int64() < 0) {
      document.error(path + ".replicas", "must not be negative, got {}", count->get_int64());
    }
    validate_pool(document, pools[i], path, platform);
  }
}

}  // namespace slipway::config
