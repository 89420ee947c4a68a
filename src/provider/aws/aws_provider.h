// Platform aws: the provider for instances of Amazon EC2.
#pragma once

#include "net/environment.h"
#include "provider/provider.h"

#include <memory>

namespace slipway::provider::aws {

// Options of the selection:
//
//   infra-id   of the cluster; empty before it has one
//   directory  the asset directory, in which the journal of the resources is kept
//   platform   JSON: platform.aws of the install-config, or "aws" of metadata.json. Its members region, serviceEndpoints,
//              userTags and hostedZoneRole are used, and clusterDomain, which only metadata.json has
//   place      the region, instead of that of `platform`
//   expires    when the cluster may be removed, for the tags of new resources; may be empty
//   os-image   a raw disk image for machines without amiID; empty: made from the machine OS
//   os-repo, programs  the repository of the machine OS, and the folder of the programs that make disk images
Result<std::unique_ptr<Provider>> open_aws_provider(const net::Environment& environment, ClusterSelection selection);

}  // namespace slipway::provider::aws
