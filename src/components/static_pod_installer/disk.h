// Disk: writes the files of a layout. Files that are already right are not touched, so that the kubelet sees only real changes.
#pragma once

#include "components/static_pod_installer/layout.h"
#include "sys/files.h"

#include <string>
#include <string_view>

namespace slipway::components::static_pod_installer {

struct Place {
  std::string root;  // empty on a node
  std::string node;
};

// Writes certificates first, then the folder of the revision, and the pod last: when the kubelet sees the pod, everything that it
// mounts exists. While an object is missing, only certificates are written. The folder of one object is replaced atomically, so
// no program reads a key with another certificate. After a kill, the next call completes the work. At the end, folders of
// revisions that are not kept are removed.
//
//   returns  whether the kubelet got a changed pod
//   errors   as sys::Files; invalid: an object that cannot be written to files, see layout.h
Result<bool> write_layout(sys::Files& files, const Place& place, const Operand& operand, const Layout& layout);

}  // namespace slipway::components::static_pod_installer
