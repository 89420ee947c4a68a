// Virtual machines of OpenStack.
#pragma once

#include "net/environment.h"
#include "provider/provider.h"

#include <memory>

namespace slipway::provider::openstack {

// Options: "directory", "infra-id", "platform" (platform.openstack, or the same member of metadata.json, as JSON), "place" (the
// name of a cloud, which then counts instead), "expires"; for new clusters also "os-image", "os-repo" and "programs".
// errors: invalid: the section is not JSON
Result<std::unique_ptr<Provider>> open_openstack_provider(const net::Environment& environment, ClusterSelection selection);

}  // namespace slipway::provider::openstack
