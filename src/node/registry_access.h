#pragma once
#include "node/program.h"
#include "release/registry_client.h"
namespace slipway::node {
inline Result<release::RegistryOptions> registry_access(const Environment&) { return error(Code::internal, "stub"); }
}
