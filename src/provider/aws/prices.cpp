#include "provider/aws/prices.h"

#include "provider/aws/cluster_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::aws {

namespace {

// Kinds with one price each.
constexpr std::array priced_kinds = {nat_gateway_kind, load_balancer_kind, hosted_zone_kind};

void add_by_kind(std::vector<plan::Priced>& priced, std::string_view kind) {
  if (std::ranges::find(priced_kinds, kind) != priced_kinds.end()) priced.push_back({.item = std::string(kind)});
  if (kind == elastic_ip_kind) priced.push_back({.item = "public-ipv4"});
}

}  // namespace

std::vector<plan::Priced> priced_plan(const plan::Plan& plan) {
  std::vector<plan::Priced> priced;
  for (const plan::Resource& resource : plan) {
    add_by_kind(priced, resource.kind);
    if (resource.kind == load_balancer_kind && text_of(resource.spec, {"scheme"}) == "internet-facing") {
      priced.push_back({"public-ipv4", static_cast<double>(find_array(resource.spec, {"subnets"}).size())});
    }
    if (resource.kind != machine_kind) continue;
    priced.push_back({.item = fmt::format("machine/{}", text_of(resource.spec, {"type"}))});
    const int size = integer_of(resource.spec, {"volume", "size"});
    if (size > 0) {
      priced.push_back({fmt::format("volume/{}", text_of(resource.spec, {"volume", "type"})), static_cast<double>(size)});
    }
  }
  return priced;
}

std::vector<plan::Priced> priced_items(const std::vector<Item>& machines, const std::vector<plan::Found>& found) {
  std::vector<plan::Priced> priced;
  for (const plan::Found& each : found) {
    if (each.is_ours) add_by_kind(priced, each.kind);
  }
  for (const Item& machine : machines) priced.push_back({.item = fmt::format("machine/{}", machine.fact("type"))});
  return priced;
}

}  // namespace slipway::provider::aws
