#include "components/router/endpoints.h"

#include <algorithm>
#include <optional>

namespace slipway::components::router {

namespace {

std::optional<int> port_of(const Json& slice, std::string_view wanted) {
  for (const Json& port : find_array(slice, {"ports"})) {
    const Json* number = find(port, {"port"});
    if (!number || !number->is_int64()) continue;
    if (const auto protocol = find_string(port, {"protocol"}); protocol && *protocol != "TCP") continue;
    const int it = static_cast<int>(number->get_int64());
    if (wanted.empty() || find_string(port, {"name"}) == wanted || std::to_string(it) == wanted) return it;
  }
  return std::nullopt;
}

// A condition of an endpoint; `otherwise` when it is not set.
bool is_true(const Json& endpoint, std::string_view condition, bool otherwise) {
  const Json* value = find(endpoint, {"conditions", condition});
  return value && value->is_bool() ? value->get_bool() : otherwise;
}

}  // namespace

Slices::Slices(const Snapshot& seen) {
  for (const Json* slice : seen.list(kube::types::endpoint_slices)) {
    const auto service = find_string(*slice, {"metadata", "labels", "kubernetes.io/service-name"});
    if (service) slices_[{std::string(kube::namespace_of(*slice)), std::string(*service)}].push_back(slice);
  }
}

std::vector<Endpoint> Slices::of(std::string_view space, std::string_view service, std::string_view port) const {
  std::map<std::string, std::vector<Endpoint>, std::less<>> ready, ending;  // by family
  const auto found = slices_.find({std::string(space), std::string(service)});
  if (found == slices_.end()) return {};
  for (const Json* slice : found->second) {
    const std::string family(find_string(*slice, {"addressType"}).value_or(""));
    const std::optional<int> number = port_of(*slice, port);
    if (!number || (family != "IPv4" && family != "IPv6")) continue;
    for (const Json& endpoint : find_array(*slice, {"endpoints"})) {
      const bool is_ready = is_true(endpoint, "ready", true);
      if (!is_ready && !(is_true(endpoint, "serving", false) && is_true(endpoint, "terminating", false))) continue;
      const JsonArray& addresses = find_array(endpoint, {"addresses"});
      if (addresses.empty() || !addresses[0].is_string()) continue;
      (is_ready ? ready : ending)[family].push_back({std::string(addresses[0].get_string()), *number});
    }
  }
  auto& usable = ready.empty() ? ending : ready;
  if (usable.empty()) return {};
  std::vector<Endpoint> endpoints = std::move(usable.begin()->second);
  std::ranges::sort(endpoints);
  endpoints.erase(std::unique(endpoints.begin(), endpoints.end()), endpoints.end());
  return endpoints;
}

}  // namespace slipway::components::router
