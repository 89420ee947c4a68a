#include "provider/openstack/prices.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::provider::openstack {

namespace {

void add_by_kind(std::vector<plan::Priced>& priced, std::string_view kind) {
  if (kind == floating_ip_kind || kind == router_kind) priced.push_back({.item = std::string(kind)});
}

}  // namespace

std::vector<plan::Priced> priced_plan(const plan::Plan& plan) {
  std::vector<plan::Priced> priced;
  for (const plan::Resource& resource : plan) {
    add_by_kind(priced, resource.kind);
    if (resource.kind == volume_kind) {
      priced.push_back(
          {fmt::format("volume/{}", text(resource, "type")), static_cast<double>(integer_of(resource.spec, {"size"}))});
    }
    if (resource.kind == machine_kind) priced.push_back({.item = fmt::format("machine/{}", text(resource, "flavor"))});
  }
  return priced;
}

std::vector<plan::Priced> priced_items(const std::vector<Item>& machines, const std::vector<plan::Found>& found,
                                       const std::vector<Flavor>& flavors) {
  std::vector<plan::Priced> priced;
  for (const plan::Found& each : found) {
    if (each.is_ours) add_by_kind(priced, each.kind);
  }
  for (const Item& machine : machines) {
    const std::string id = machine.fact("flavor");
    const auto flavor = std::ranges::find(flavors, id, &Flavor::id);
    priced.push_back({.item = fmt::format("machine/{}", flavor == flavors.end() ? id : flavor->name)});
  }
  return priced;
}

}  // namespace slipway::provider::openstack
