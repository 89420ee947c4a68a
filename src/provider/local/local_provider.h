// The provider for platform local: machines on this host.
#pragma once

#include "net/environment.h"
#include "provider/provider.h"

#include <memory>

namespace slipway::provider::local {

// Options:
//
//   state    folder of local clusters, absolute
//   program  absolute path of slipway, which becomes the owner of the cluster
//   os-repo  OSTree repository of the machine OS, absolute; only for a new cluster
//   images   output folder of `make payload`, absolute (find_images in client.h); only for a new cluster
//
// errors: as Files
Result<std::unique_ptr<Provider>> open_local_provider(const net::Environment& environment, ClusterSelection selection);

}  // namespace slipway::provider::local
