// The tables of the platforms, a file each. Private to the schema.
#pragma once

#include "config/schema.h"

namespace slipway::config {

Fields no_fields();             // "{}"
Fields load_balancer_fields();  // of the platforms that bring their own balancer

Fields baremetal_fields();
Fields vsphere_fields();
Fields vsphere_pool_fields();
Fields openstack_fields();
Fields openstack_pool_fields();
Fields aws_fields();
Fields aws_pool_fields();
Fields gcp_fields();
Fields gcp_pool_fields();
Fields libvirt_fields();
Fields ovirt_fields();
Fields ovirt_pool_fields();
Fields kubevirt_fields();
Fields kubevirt_pool_fields();

// What `platform` and a pool's `platform` have: a section for each platform.
Fields platform_sections();
Fields pool_sections();

}  // namespace slipway::config
