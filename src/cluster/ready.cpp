#include "cluster/ready.h"

#include "base/text.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::cluster {

namespace {

Result<> wait_for_api(const sys::Context& context, kube::Api& api, const std::function<std::string()>& why_not,
                      Milliseconds limit) {
  auto look = [&]() -> Result<sys::Look> {
    const Result<Json> ready = api.send(context, {.path = "/readyz"});
    if (ready.ok()) return sys::Look::done();
    const std::string more = why_not();
    return sys::Look::not_yet("{}{}{}", ready.error().message(), more.empty() ? "" : "; ", more);
  };
  // Nothing tells from outside that a server begins to listen.
  return sys::wait_for(context, "the Kubernetes API", limit, look, nullptr,
                       {.first = Milliseconds(100), .longest = Milliseconds(500)});
}

std::vector<std::string> control_plane_nodes(const config::InstallConfig& config) {
  std::vector<std::string> names;
  for (int i = 0; i < config.control_plane.replicas; ++i) names.push_back(fmt::format("master-{}", i));
  return names;
}

}  // namespace

std::optional<std::string> missing_nodes(const std::vector<Json>& nodes, const std::vector<std::string>& expected) {
  std::vector<std::string> missing;
  for (const std::string& name : expected) {
    const auto node = std::ranges::find_if(nodes, [&](const Json& candidate) { return kube::name_of(candidate) == name; });
    if (node == nodes.end()) {
      missing.push_back(name + " has not registered");
    } else if (kube::condition_status(*node, "Ready") != "True") {
      missing.push_back(name + " is not Ready");
    }
  }
  if (missing.empty()) return std::nullopt;
  return join(missing, ", ");
}

std::vector<Condition> join_conditions(const config::InstallConfig& config) {
  const std::vector<std::string> nodes = control_plane_nodes(config);
  return {
      {"kubernetes-api", "the temporary control plane answers", Seconds(15 * 60), wait_for_api},
      {"control-plane-nodes", "the machines of the control plane have joined", Seconds(15 * 60),
       [nodes](const sys::Context& context, kube::Api& api, const std::function<std::string()>& why_not, Milliseconds limit) {
         return kube::wait_until(context, api, "nodes", limit, kube::types::nodes, "", {},
                                 [&](const kube::Objects& found) -> Result<std::optional<std::string>> {
                                   std::optional<std::string> missing = missing_nodes(found, nodes);
                                   if (!missing) return missing;
                                   const std::string more = why_not();
                                   if (!more.empty()) *missing += "; " + more;
                                   return missing;
                                 });
       }},
  };
}

}  // namespace slipway::cluster
