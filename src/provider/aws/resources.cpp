#include "provider/aws/resources.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace slipway::provider::aws {

namespace {

// So long a listing of AWS may miss something that was created.
constexpr Milliseconds visible_after(60'000);

// In the order of removal: what uses other things first.
std::vector<Kind> all_kinds() {
  std::vector<Kind> all;
  for (const std::span<const Kind> part :
       {name_kinds(), balancer_kinds(), machine_kinds(), image_kinds(), access_kinds(), network_kinds()}) {
    std::ranges::copy(part, std::back_inserter(all));
  }
  // The zone has the name of the domain, which records are found by, and belongs to the VPC. Machines are removed after the
  // registrations with load balancers, load balancers before the machines' groups.
  return all;
}

}  // namespace

Resources::Resources(Api& api, ResourceInputs inputs)
    : KindsPlatform(all_kinds(), visible_after),
      account_{.api = api,
               .inventory = inventory(),
               .infra_id = std::move(inputs.infra_id),
               .domain = std::move(inputs.domain),
               .tags = std::move(inputs.tags),
               .zone_api = inputs.zone_api,
               .os_image_file = std::move(inputs.os_image_file),
               .forget_os_image_file = std::move(inputs.forget_os_image_file),
               .config = std::move(inputs.config)} {}

plan::Found Resources::found_of(const Item& item, const plan::Resource* planned) const {
  plan::Found found = KindsPlatform::found_of(item, planned);
  if (planned && planned->is_shared) found.is_ours = true;  // only those of slipway are listed
  return found;
}

Result<std::vector<Item>> Resources::machines(const sys::Context& context) {
  inventory().forget(machine_kind);
  return inventory().all(context, machine_kind);
}

}  // namespace slipway::provider::aws
