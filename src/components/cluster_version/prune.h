// Removes objects that earlier releases had: those whose manifest has the annotation release.openshift.io/delete: "true".
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/mapper.h"
#include "sys/context.h"

#include <optional>
#include <string>

namespace slipway::components::cluster_version {

// Requests the removal of one object, and does not wait for it. An object that does not exist is no error, and neither is one
// whose type does not exist.
//
// Content of users is never removed with its container: a CustomResourceDefinition is kept while it has objects, and a Namespace
// while something other than what every namespace gets is in it.
//
//   returns  why the object is kept; nothing: it is removed or does not exist
//   errors   those of kube::Api
Result<std::optional<std::string>> prune(const sys::Context& context, kube::Api& api, kube::Mapper& mapper, const Json& manifest);

}  // namespace slipway::components::cluster_version
