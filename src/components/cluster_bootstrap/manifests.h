// The manifests that cluster-bootstrap creates: all files in one folder, from the installer, the render commands and the user.
#pragma once

#include "base/log.h"
#include "kube/ensure.h"
#include "sys/files.h"

#include <string>
#include <vector>

namespace slipway::components::cluster_bootstrap {

// Reads every document of every file below a folder, whatever its suffix, sorted by path. Upstream reads only the first document
// of a file. Here all count, with a warning, because another release would ignore them.
//
//   returns  manifests named by path, with a number if the file has several; an object may occur twice
//   errors   invalid, with all places: syntax, a file without objects, a List, a document without apiVersion, kind or name
Result<std::vector<kube::Manifest>> read_manifests(sys::Files& files, Log& log, const std::string& folder);

}  // namespace slipway::components::cluster_bootstrap
