#include "provider/openstack/resources.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace slipway::provider::openstack {

namespace {

// In the order of removal: what uses other things first.
std::vector<Kind> all_kinds() {
  std::vector<Kind> all;
  for (const std::span<const Kind> part : {machine_kinds(), address_kinds(), network_kinds(), config_kinds(), image_kinds()}) {
    std::ranges::copy(part, std::back_inserter(all));
  }
  return all;
}

// The calls that create a resource, for previews.
struct Calls {
  std::string_view kind;
  std::vector<std::string_view> calls;
};
const std::vector<Calls>& calls_by_kind() {
  static const std::vector<Calls> all = {
      {image_kind, {"Glance CreateImage", "Glance UploadImage", "Glance AddTag"}},
      {network_kind, {"Neutron CreateNetwork", "Neutron SetTags"}},
      {subnet_kind, {"Neutron CreateSubnet", "Neutron SetTags"}},
      {router_kind, {"Neutron CreateRouter", "Neutron SetTags"}},  // and one for each subnet
      {security_group_kind, {"Neutron CreateSecurityGroup", "Neutron SetTags"}},
      {security_rules_kind, {"Neutron CreateSecurityGroupRules"}},
      {port_kind, {"Neutron CreatePort", "Neutron SetTags"}},
      {floating_ip_kind, {"Neutron CreateFloatingIP", "Neutron SetTags"}},
      {user_address_kind, {"Neutron UpdateFloatingIP"}},
      {server_group_kind, {"Nova CreateServerGroup"}},
      {container_kind, {"Swift CreateContainer"}},
      {object_kind, {"Swift CreateObject"}},
      {config_image_kind, {"Glance CreateImage", "Glance UploadImage"}},
      {volume_kind, {"Cinder CreateVolume"}},
      {machine_kind, {"Nova CreateServer"}},
  };
  return all;
}

}  // namespace

Resources::Resources(Api& api, ResourceInputs inputs)
    // Answers have what was changed before.
    : KindsPlatform(all_kinds(), Milliseconds(0)),
      project_{.api = api,
               .inventory = inventory(),
               .flavors = flavors_,
               .infra_id = std::move(inputs.infra_id),
               .expires = std::move(inputs.expires),
               .os_image = inputs.os_image,
               .sha512 = std::move(inputs.sha512),
               .new_key = std::move(inputs.new_key),
               .config = std::move(inputs.config)} {}

std::vector<std::string> Resources::calls_of(const plan::Resource& resource) const {
  std::vector<std::string> calls;
  const auto row = std::ranges::find(calls_by_kind(), resource.kind, &Calls::kind);
  if (row == calls_by_kind().end()) return calls;
  calls.assign(row->calls.begin(), row->calls.end());
  if (resource.kind == router_kind) {
    calls.insert(calls.end(), find_array(resource.spec, {"subnets"}).size(), "Neutron AddRouterInterface");
  }
  return calls;
}

plan::Found Resources::found_of(const Item& item, const plan::Resource* planned) const {
  plan::Found found = KindsPlatform::found_of(item, planned);
  if (planned && planned->is_shared) found.is_ours = true;  // only those of slipway are listed
  return found;
}

Result<std::vector<Item>> Resources::machines(const sys::Context& context) {
  inventory().forget(machine_kind);
  std::vector<Item> found = TRY(inventory().all(context, machine_kind));
  std::erase_if(found, [](const Item& item) { return !item.is_ours; });
  return found;
}

}  // namespace slipway::provider::openstack
