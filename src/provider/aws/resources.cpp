#include "provider/aws/resources.h"

#include "base/check.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::provider::aws {

namespace {

// So long a listing of AWS may miss something that was created.
constexpr Milliseconds visible_after(60'000);

using plan::Found;
using plan::Resource;

// All kinds, in the order of removal: what uses other things first.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> made;
    for (const std::span<const Kind> part :
         {name_kinds(), balancer_kinds(), machine_kinds(), image_kinds(), access_kinds(), network_kinds()}) {
      std::ranges::copy(part, std::back_inserter(made));
    }
    // The zone has the name of the domain, which records are found by, and belongs to the VPC. Machines are removed after the
    // registrations with load balancers, load balancers before the machines' groups.
    return made;
  }();
  return all;
}

const Kind& kind_of(std::string_view name) {
  const auto found = std::ranges::find(kinds(), name, &Kind::name);
  CHECK(found != kinds().end());
  return *found;
}

Found found_of(const Item& item) {
  return {.kind = item.kind, .name = item.name, .machine = item.machine, .is_ours = item.is_ours, .is_whole = item.is_whole};
}

std::vector<std::string_view> names_of_kinds() {
  std::vector<std::string_view> names;
  for (const Kind& kind : kinds()) names.push_back(kind.name);
  return names;
}

}  // namespace

Resources::Resources(Api& api, ResourceInputs inputs)
    : inventory_(names_of_kinds(), visible_after,
                 [this](const sys::Context& context, const std::string& kind) { return kind_of(kind).list(work(context)); }),
      account_{.api = api,
               .inventory = inventory_,
               .infra_id = std::move(inputs.infra_id),
               .domain = std::move(inputs.domain),
               .tags = std::move(inputs.tags),
               .zone_api = inputs.zone_api,
               .os_image_file = std::move(inputs.os_image_file),
               .forget_os_image_file = std::move(inputs.forget_os_image_file),
               .config = std::move(inputs.config)} {}

Result<std::optional<Found>> Resources::find(const sys::Context& context, const Resource& resource) {
  const std::optional<Item> item = TRY(inventory_.look_up(context, resource.kind, resource.name));
  if (!item) return std::optional<Found>();
  Found found = found_of(*item);
  found.machine = resource.machine;
  if (resource.is_shared) found.is_ours = true;  // only those of slipway are listed
  const Kind& kind = kind_of(resource.kind);
  if (kind.is_whole) found.is_whole = kind.is_whole(*item, resource);
  return std::optional(std::move(found));
}

Result<> Resources::create(const sys::Context& context, const Resource& resource) {
  return inventory_.created(context, resource.kind, kind_of(resource.kind).create(work(context), resource));
}

Result<> Resources::remove(const sys::Context& context, const Found& found) {
  const std::optional<Item> item = TRY(inventory_.known(context, found.kind, found.name));
  if (!item) return Ok{};
  return inventory_.removed(*item, kind_of(found.kind).remove(work(context), *item));
}

Result<std::vector<Found>> Resources::scan(const sys::Context& context) {
  inventory_.forget_all();
  std::vector<Found> all;
  for (const Kind& kind : kinds()) {
    if (!kind.remove) continue;
    for (const Item& item : TRY(inventory_.all(context, kind.name))) all.push_back(found_of(item));
  }
  return all;
}

Result<std::vector<Item>> Resources::machines(const sys::Context& context) {
  inventory_.forget(machine_kind);
  return inventory_.all(context, machine_kind);
}

}  // namespace slipway::provider::aws
