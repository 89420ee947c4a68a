// The rules of each platform, and what of the rest of the document they ask for. Private to the folder.
#pragma once

#include "config/section.h"

#include <string_view>

namespace slipway::config {

// Whether this version has rules and assets for a platform.
bool is_supported_platform(std::string_view name);

// What is written below the platform's own name.
void validate_local(const Section& platform);
void validate_baremetal(const Section& platform);
void validate_baremetal_hosts(const Section& platform);
void validate_vsphere(const Section& platform);
void validate_vsphere_hosts(const Section& platform);
void validate_aws(const Section& platform);
void validate_gcp(const Section& platform);
void validate_openstack(const Section& platform);
void validate_ovirt(const Section& platform);
void validate_libvirt(const Section& platform);
void validate_kubevirt(const Section& platform);

// A machine pool of the platform: that of controlPlane or compute[i], or the default of all. is_control_plane also for the
// default, which counts for the control plane too.
void validate_vsphere_pool(const Section& pool, const Section& platform, bool is_control_plane);
void validate_aws_pool(const Section& pool, const Section& platform, bool is_control_plane);
void validate_gcp_pool(const Section& pool, const Section& platform, bool is_control_plane);
void validate_openstack_pool(const Section& pool, const Section& platform, bool is_control_plane);
void validate_ovirt_pool(const Section& pool, const Section& platform, bool is_control_plane);
void validate_kubevirt_pool(const Section& pool, const Section& platform, bool is_control_plane);

// A pool's zones, whose names begin with that of the platform's region.
void validate_zones(const Section& pool, const Section& platform);

// Rules for the lists of virtual addresses of a platform.
struct VirtualAddressRules {
  std::string_view api = "apiVIPs";
  std::string_view ingress = "ingressVIPs";
  bool are_needed = true;
  bool are_of_machine_networks = true;
};
void validate_virtual_addresses(const Section& platform, const VirtualAddressRules& rules);

// Whether an address is in one of networking.machineNetwork; true while one of these is unusable, which was said of it.
bool is_in_machine_networks(const Document& document, const net::IpAddress& address);

void validate_capabilities(Document& document);
void validate_gates(Document& document);

// Whether the cluster has a capability. Without `capabilities` it has all of them.
bool has_capability(const Document& document, std::string_view name);

// Whether a feature gate is on: by featureGates, else by the feature set.
bool has_gate(const Document& document, std::string_view name);

// Reports a field that only counts with a gate; `section` is any part of the document.
void refuse_without_gate(const Section& section, std::string_view field, std::string_view gate);

}  // namespace slipway::config
