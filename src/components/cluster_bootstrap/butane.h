// Butane configs: Ignition configs in YAML whose contents may be files of a folder. Supports only the fields of variant fcos
// 1.1.0 that OpenShift's installer uses for a single node in place.
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

// Translates a Butane config to an Ignition config of spec 3.1. The same files always give the same config. Contents are
// compressed if that makes them smaller.
//
// A file without a mode in the text has the mode that it has in the folder, for its owner only, because it may be a key. The same
// is true for folders of trees; Butane leaves their mode to Ignition, which makes them readable for everyone.
//
//   folder  base of the paths in "local"; they must not point outside of it
//   name    name of the text in messages
//   errors  invalid, with the places of all errors: not YAML, another variant or version, unknown fields, missing files, links,
//           two files for one path, errors of ignition::validate; as sys::Files
Result<ignition::Config> translate_butane(sys::Files& files, const std::string& folder, std::string_view text,
                                          std::string_view name);

}  // namespace slipway::components::cluster_bootstrap
