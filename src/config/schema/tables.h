// The tables of the platforms, each in its own file. Private to the schema.
#pragma once

#include "config/schema/field.h"

namespace slipway::config {

Fields no_fields();             // an empty object, "{}"
Fields load_balancer_fields();  // the members of load_balancer

// Rows that several platforms use.
inline constexpr Field load_balancer = {.name = "loadBalancer",
                                        .kind = Kind::object,
                                        .about = "The load balancer of API and applications.",
                                        .members = load_balancer_fields};

// members: no_fields if the machines of the platform have no settings
constexpr Field machines_of_all_pools(Fields (*members)()) {
  return {.name = "defaultMachinePlatform",
          .kind = Kind::object,
          .about = members == no_fields ? "Defaults for the machines of all pools. This platform has no settings."
                                        : "Defaults for the machines of all pools.",
          .members = members};
}

// A deprecated field with one address, replaced by a list.
constexpr Field older_address(std::string_view name, std::string_view instead) {
  return {.name = name, .about = "Older form, one address.", .instead = instead};
}

constexpr Field without_effect(std::string_view name) {
  return {.name = name, .about = "Field of older releases, kept without effect.", .instead = nothing_instead};
}

Fields baremetal_fields();
Fields root_device_fields();  // rootDeviceHints of a host
Fields vsphere_fields();
Fields vsphere_pool_fields();
Fields openstack_fields();
Fields openstack_pool_fields();
Fields aws_fields();
Fields aws_pool_fields();
Fields gcp_fields();
Fields gcp_pool_fields();
Fields libvirt_fields();
Fields libvirt_pool_fields();
Fields ovirt_fields();
Fields ovirt_pool_fields();
Fields kubevirt_fields();
Fields kubevirt_pool_fields();

Fields agent_config_fields();  // agent-config.yaml

// The members of `platform`, and of `platform` of a pool: a section for each platform.
Fields platform_sections();
Fields pool_sections();

}  // namespace slipway::config
