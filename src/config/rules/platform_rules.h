// The rules of each platform, and functions that they share. Private to the folder.
#pragma once

#include "config/rules/section.h"

#include <string_view>

namespace slipway::config {

// Whether this version has rules and assets for a platform.
bool is_supported_platform(std::string_view name);

// Each validates the section of its platform, platform.NAME.
void validate_local(const Section& platform);
void validate_baremetal(const Section& platform);
void validate_baremetal_hosts(const Section& platform);
void validate_root_device(const Section& hints);  // rootDeviceHints of a host
void validate_vsphere(const Section& platform);
void validate_vsphere_hosts(const Section& platform);
void validate_aws(const Section& platform);
void validate_gcp(const Section& platform);
void validate_openstack(const Section& platform);
void validate_ovirt(const Section& platform);
void validate_libvirt(const Section& platform);
void validate_kubevirt(const Section& platform);

// Each validates the section of a pool: of controlPlane, of compute[i], or defaultMachinePlatform. is_control_plane is also true
// for defaultMachinePlatform, which applies to the control plane too.
void validate_vsphere_pool(const Section& pool, const Section& platform, bool is_control_plane);
void validate_aws_pool(const Section& pool, const Section& platform, bool is_control_plane);
void validate_gcp_pool(const Section& pool, const Section& platform, bool is_control_plane);
void validate_openstack_pool(const Section& pool, const Section& platform, bool is_control_plane);
void validate_ovirt_pool(const Section& pool, const Section& platform, bool is_control_plane);
void validate_libvirt_pool(const Section& pool, const Section& platform, bool is_control_plane);
void validate_kubevirt_pool(const Section& pool, const Section& platform, bool is_control_plane);

// Reports zones of a pool whose names do not begin with the region of the platform.
void validate_zones(const Section& pool, const Section& platform);

// Rules for the lists of virtual addresses of a platform.
struct VirtualAddressRules {
  std::string_view api = "apiVIPs";
  std::string_view ingress = "ingressVIPs";
  bool are_needed = true;
  bool are_of_machine_networks = true;
};
void validate_virtual_addresses(const Section& platform, const VirtualAddressRules& rules);

// Whether an address is in one of networking.machineNetwork. Also true if one of the networks is unusable: that is already
// reported.
bool is_in_machine_networks(const Document& document, const net::IpAddress& address);

void validate_capabilities(Document& document);
void validate_gates(Document& document);

// Whether the cluster has a capability. Without `capabilities` it has all capabilities.
bool has_capability(const Document& document, std::string_view name);

// Whether featureGates or the feature set turns a feature gate on.
bool has_gate(const Document& document, std::string_view name);

// Reports a field that requires a feature gate, unless the gate is on. section: the part of the document that has the field
void refuse_without_gate(const Section& section, std::string_view field, std::string_view gate);

}  // namespace slipway::config
