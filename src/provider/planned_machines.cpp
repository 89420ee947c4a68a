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

const Json& pool_of(const config::InstallConfig& config, std::string_view role) {
  const bool is_worker = role == "worker" && !config.compute.empty();
  return is_worker ? config.compute.front().platform : config.control_plane.platform;
}

std::size_t number_of(std::string_view name) {
  std::size_t number = 0;
  for (const char c : name.substr(name.rfind('-') + 1)) {
    if (c < '0' || c > '9') return 0;
    number = number * 10 + static_cast<std::size_t>(c - '0');
  }
  return number;
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
