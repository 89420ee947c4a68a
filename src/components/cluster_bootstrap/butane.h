// Butane configs: Ignition configs in YAML whose contents may be files of a folder. Only the fields of variant fcos 1.1.0 that
// OpenShift's installer uses for a single node in place.
//
//   storage:
//     trees:                      # a whole folder, with its folders
//     - local: etcd-data
//       path: /var/lib/etcd
//     files:
//     - path: /etc/kubernetes/manifests/etcd-pod.yaml
//       contents:
//         local: etcd-bootstrap/etc-kubernetes/manifests/etcd-member-pod.yaml
#pragma once

#include "base/result.h"
#include "ignition/types.h"
#include "sys/files.h"

#include <string>
#include <string_view>

namespace slipway::components::cluster_bootstrap {

// The Ignition config, of spec 3.1. The same files give the same config. Contents are compressed where that makes them smaller.
//
// Where the text says no mode, a file is as it is in the folder, but for its owner alone: it may be a key. So are the folders of
// trees, which Butane leaves to Ignition, who makes them for all to read.
//
//   folder  where paths behind "local" are looked up; they cannot lead out of it
//   name    what messages call the text
//   errors  invalid, naming all that is wrong with its place: no YAML, another variant or version, unknown fields, files that are
//           not there, links, two files for one path; what ignition::validate says of the result; as sys::Files
Result<ignition::Config> translate_butane(sys::Files& files, const std::string& folder, std::string_view text,
                                          std::string_view name);

}  // namespace slipway::components::cluster_bootstrap
