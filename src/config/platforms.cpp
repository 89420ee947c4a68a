#include "config/platforms.h"

#include "base/check.h"

#include <algorithm>
#include <array>

namespace slipway::config {

namespace {

constexpr std::string_view refused = "A platform of OpenShift that this version does not support.";

// Sources of the limits of user data:
//   aws        EC2 accepts 16384 bytes; OpenShift's installer limits itself to 16000
//   gcp        largest value of a metadata key
//   kubevirt   size of a Secret
//   libvirt    no limit, but reading fw_cfg takes quadratic time: on an emulated machine 0.8 s for 300 KB, 8 s for 1 MB
//   openstack  Nova accepts 65535 characters of base64
//   vsphere    tools.setInfo.sizeLimit of guestinfo
constexpr std::array rows = {
    PlatformRow{.name = "local",
                .about = "Machines on this host, created by slipway.",
                .api_type = "None",
                .holds_virtual_addresses = true,
                .names_nodes = true,
                .machine_network = "10.97.77.0/24",
                .network_type = "Flannel",
                .has_fast_keys = true},
    PlatformRow{.name = "none",
                .about = "Machines that the user creates. The cluster has no integration with the platform.",
                .api_type = "None",
                .families = AddressFamilies::both},
    PlatformRow{.name = "external",
                .about = "Machines that the user creates, on a platform whose integration the user provides.",
                .api_type = "External",
                .has_integration = true,
                .families = AddressFamilies::both},
    PlatformRow{.name = "baremetal",
                .about = "Hosts with management controllers, installed by the cluster.",
                .api_type = "BareMetal",
                .holds_virtual_addresses = true,
                .has_dotless_names = true,
                .families = AddressFamilies::both_any_first},
    PlatformRow{.name = "vsphere",
                .about = "Virtual machines of VMware vSphere.",
                .api_type = "VSphere",
                .has_integration = true,
                .holds_virtual_addresses = true,
                .asks_for_addresses = true,
                .has_dotless_names = true,
                .families = AddressFamilies::both_any_first,
                .user_data = UserDataLimit{UserDataForm::gzip_base64, 1048576}},
    PlatformRow{.name = "openstack",
                .about = "Virtual machines of OpenStack.",
                .api_type = "OpenStack",
                .has_integration = true,
                .holds_virtual_addresses = true,
                .has_metadata_service = true,
                .asks_for_addresses = true,
                .has_dotless_names = true,
                .families = AddressFamilies::both_any_first,
                .user_data = UserDataLimit{UserDataForm::base64, 65535}},
    PlatformRow{.name = "aws",
                .about = "Amazon Web Services.",
                .api_type = "AWS",
                .is_cloud = true,
                .has_integration = true,
                .has_metadata_service = true,
                .architectures_gate = "MultiArchInstallAWS",
                .user_data = UserDataLimit{UserDataForm::plain, 16000}},
    PlatformRow{.name = "gcp",
                .about = "Google Cloud.",
                .api_type = "GCP",
                .is_cloud = true,
                .has_integration = true,
                .has_metadata_service = true,
                .architectures_gate = "MultiArchInstallGCP",
                .user_data = UserDataLimit{UserDataForm::plain, 262144}},
    PlatformRow{.name = "libvirt",
                .about = "Virtual machines of a libvirt host, created by slipway.",
                .api_type = "Libvirt",
                .has_integration = true,
                .holds_virtual_addresses = true,
                .machine_network = "192.168.126.0/24",
                .user_data = UserDataLimit{UserDataForm::plain, 700000}},
    PlatformRow{.name = "ovirt",
                .about = "Virtual machines of oVirt.",
                .api_type = "oVirt",
                .has_integration = true,
                .holds_virtual_addresses = true,
                .families = AddressFamilies::both},
    PlatformRow{.name = "kubevirt",
                .about = "Virtual machines of another Kubernetes cluster with KubeVirt.",
                .api_type = "KubeVirt",
                .has_integration = true,
                .user_data = UserDataLimit{UserDataForm::base64, 1048576}},
    PlatformRow{.name = "alibabacloud", .about = refused},
    PlatformRow{.name = "azure", .about = refused},
    PlatformRow{.name = "ibmcloud", .about = refused},
    // Other releases of OpenShift support nutanix, and machineconfig renders templates for their configs.
    PlatformRow{.name = "nutanix", .about = refused, .holds_virtual_addresses = true},
    PlatformRow{.name = "powervs", .about = refused},
};

}  // namespace

std::span<const PlatformRow> platforms() { return rows; }

const PlatformRow* find_platform_row(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &PlatformRow::name);
  return found == rows.end() ? nullptr : &*found;
}

const PlatformRow& platform_row(std::string_view name) {
  const PlatformRow* row = find_platform_row(name);
  CHECK(row != nullptr);
  return *row;
}

}  // namespace slipway::config
