#include "provider/providers.h"

#include "provider/aws/aws_provider.h"
#include "provider/libvirt/libvirt_provider.h"
#include "provider/local/local_provider.h"
#include "provider/openstack/openstack_provider.h"
#include "provider/vsphere/vsphere_provider.h"

#include <algorithm>
#include <array>

namespace slipway::provider {

namespace {

struct Row {
  std::string_view platform;
  Result<std::unique_ptr<Provider>> (*open)(const net::Environment& environment, ClusterSelection selection);
  bool plans_resources = false;
};

constexpr std::array providers = {
    Row{"local", local::open_local_provider},
    Row{"libvirt", libvirt::open_libvirt_provider, true},
    Row{"aws", aws::open_aws_provider, true},
    Row{"vsphere", vsphere::open_vsphere_provider, true},
    Row{"openstack", openstack::open_openstack_provider, true},
};

const Row* find_row(std::string_view platform) {
  const auto found = std::ranges::find(providers, platform, &Row::platform);
  return found == providers.end() ? nullptr : &*found;
}

}  // namespace

bool has_provider(std::string_view platform) { return find_row(platform) != nullptr; }

std::vector<std::string> planned_platforms() {
  std::vector<std::string> names;
  for (const Row& row : providers) {
    if (row.plans_resources) names.emplace_back(row.platform);
  }
  std::ranges::sort(names);
  return names;
}

Result<std::unique_ptr<Provider>> open_provider(const net::Environment& environment, std::string_view platform,
                                                ClusterSelection selection) {
  if (const Row* row = find_row(platform)) return row->open(environment, std::move(selection));
  return error(Code::invalid,
               "platform {}: this version creates machines on platforms local, libvirt, aws, openstack and vsphere only (run "
               "`slipway create ignition-configs` and create the machines yourself)",
               platform);
}

}  // namespace slipway::provider
