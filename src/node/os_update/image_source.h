// Where a machine finds its operating system image at its first boot: os_image_source_file of machineconfig/os_build.h.
#pragma once

#include "base/result.h"
#include "release/registry_client.h"
#include "sys/files.h"

namespace slipway::node {

// Puts the server of the file before all other locations of the image's repository, with the login and authority of the file.
// Only references by digest are read from it. If the server does not have the image, the other locations are asked. Does nothing
// without the file.
//
//   errors  invalid: the file, or its image; those of reading it
Result<> add_os_image_source(sys::Files& files, release::RegistryOptions& options);

// Removes the file, which contains a token. The machine has its image when the kubelet runs.
Result<> remove_os_image_source(sys::Files& files);

}  // namespace slipway::node
