#include "provider/planned_machines.h"

#include "config/names.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::provider {

namespace {

constexpr int api_port = 6443;
constexpr int http_port = 80;
constexpr int https_port = 443;

}  // namespace

std::vector<Machine> planned_machines(const config::InstallConfig& config) {
  std::vector<Machine> machines = {{.name = "bootstrap", .role = "bootstrap"}};
  const auto add = [&](std::string_view role, int replicas) {
    for (int i = 0; i < replicas; ++i) machines.push_back({.name = fmt::format("{}-{}", role, i), .role = std::string(role)});
  };
  add("master", config.control_plane.replicas);
  add("worker", config.compute_replicas());
  return machines;
}

Result<> check_machine_name(const std::string& name) {
  if (config::is_dns_label(name)) return Ok{};
  return error(Code::invalid, "'{}' is not a valid machine name (use lower-case letters, digits and dashes)", name);
}

const MachineGroup* group_of(const std::vector<MachineGroup>& groups, const std::string& machine) {
  const auto group = std::ranges::find_if(
      groups, [&](const MachineGroup& each) { return std::ranges::find(each.names, machine) != each.names.end(); });
  return group == groups.end() ? nullptr : &*group;
}

std::optional<HostAccess> access_by_virtual_addresses(const config::InstallConfig& config) {
  const std::vector<std::string> api = config::api_vips(config), ingress = config::ingress_vips(config);
  if (api.empty() || ingress.empty()) return std::nullopt;
  return HostAccess{.address = api.front(),
                    .api_port = api_port,
                    .applications = ingress.front(),
                    .http_port = http_port,
                    .https_port = https_port};
}

}  // namespace slipway::provider
