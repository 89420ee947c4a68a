// Virtual machines of VMware vSphere.
#pragma once

#include "net/environment.h"
#include "provider/provider.h"
#include "provider/vsphere/client.h"

#include <memory>

namespace slipway::provider::vsphere {

// The login of the first vCenter: of platform.vsphere of an install-config (vcenters), or of the same member of metadata.json
// (VCenters). GOVC_USERNAME and GOVC_PASSWORD are used for what is missing there.
//
//   variables  the value of an environment variable, or empty
//   errors     denied: no vCenter, user or password
Result<Login> read_login(const Json& section, const std::function<std::string(const std::string& name)>& variables);

// Options: "directory", "infra-id", "platform" (the section as JSON), "place" (a vCenter, which then counts instead); for new
// clusters also "os-repo" and "programs". errors: invalid: the section is not JSON
Result<std::unique_ptr<Provider>> open_vsphere_provider(const net::Environment& environment, ClusterSelection selection);

}  // namespace slipway::provider::vsphere
