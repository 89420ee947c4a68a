// Disk: makes files as a layout says. What is right already is not touched, so that a kubelet sees no change where there is none.
#pragma once

#include "components/static_pod_installer/layout.h"
#include "sys/files.h"

#include <string>
#include <string_view>

namespace slipway::components::static_pod_installer {

struct Place {
  std::string root;  // "" on a node
  std::string node;
};

// Certificates first, then the folder of the revision, the pod last: when the kubelet sees it, everything that it mounts is
// there. While something is missing only certificates. A folder of one object changes as one step, so nobody ever reads a key
// beside another certificate; what a kill leaves half-done is done by the next call. In the end folders of revisions that are not
// kept are removed.
//
//   returns  whether the kubelet got another pod than it had
//   errors   as sys::Files; invalid: an object that cannot be files, see layout.h
Result<bool> write_layout(sys::Files& files, const Place& place, const Operand& operand, const Layout& layout);

}  // namespace slipway::components::static_pod_installer
