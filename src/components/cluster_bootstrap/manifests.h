// The manifests that cluster-bootstrap creates: everything that the installer, the render commands and the user left in one
// folder.
#pragma once

#include "base/log.h"
#include "kube/ensure.h"
#include "sys/files.h"

#include <string>
#include <vector>

namespace slipway::components::cluster_bootstrap {

// Every document of every file below a folder, whatever its suffix, by path. Upstream passes over all but the first document of a
// file; here they count, and are warned of, since with another release they would be missing.
//
//   returns  named by path, with the number behind it in a file of several; an object may be there twice
//   errors   invalid, with all places: syntax, a file without objects, a List, a document without apiVersion, kind or name
Result<std::vector<kube::Manifest>> read_manifests(sys::Files& files, Log& log, const std::string& folder);

}  // namespace slipway::components::cluster_bootstrap
