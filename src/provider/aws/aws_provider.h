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
//   platform   JSON: platform.aws of the install-config, or "aws" of metadata.json. Its members region, serviceEndpoints and
//              userTags are used, and clusterDomain, which only metadata.json has
Result<std::unique_ptr<Provider>> open_aws_provider(const net::Environment& environment, ClusterSelection selection);

}  // namespace slipway::provider::aws
