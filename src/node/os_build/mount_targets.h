// What podman leaves behind in an image that it built in a chroot.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

// Programs of a Containerfile see the machine's /etc/resolv.conf and /etc/hostname. podman mounts them on empty files, which stay
// in the image. A machine that is installed with such an image would have no DNS, because its own resolv.conf is made only if
// there is none. This adds a layer without these files to the image of an OCI layout, if the image has them and the base image
// does not.
//
//   base_layers  number of layers of the base image, which are not read
//   errors       not_found, invalid: the layout; those of files
//   time         reads the other layers
Result<> remove_mount_targets(const sys::Context& context, sys::Files& files, const std::string& layout, std::size_t base_layers);

// An entry of a layer.
struct LayerEntry {
  std::string name;  // "etc/hostname"
  bool is_empty_file = false;
};

// Which of "hostname" and "resolv.conf" are empty files of /etc after these entries of all layers, the lowest first. Pure.
std::vector<std::string> mount_targets_in(const std::vector<LayerEntry>& entries);

}  // namespace slipway::node
