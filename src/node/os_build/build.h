// Builds the operating system image of a pool with podman: on the bootstrap machine, and in the cluster in a pod that has entered
// the root of its machine.
//
//   preflight ─► build ─► OCI layout ─► push
#pragma once

#include "machineconfig/os_build.h"
#include "node/program.h"

#include <string>

namespace slipway::node {

struct OsBuildOptions {
  std::string folder;         // build.json, Containerfile, root (machineconfig/os_build.h)
  std::string output;         // image.json and the OCI layout "oci" are written here
  std::string pull_logins{};  // docker config for the base image and the images of the Containerfile; empty: the kubelet's
  std::string push_logins{};  // docker config for the repository of the result
  // Use what earlier builds left: layers in podman's storage, and the output of an attempt that could not push.
  bool has_cache = true;
};

// Builds the image and pushes it to its repository. podman keeps the layers of earlier builds in its storage (leftovers.h), so a
// build after a kill or with the same first steps starts from them. The digest is defined by the OCI layout; the push keeps it.
// If image.json already has the result of this build, only what is missing is done. After a failure the output has
// os_build_failure_file. At most one build runs on a machine.
//
// podman reads images from the servers that containerd reads them from (registry_access.h). Programs of the Containerfile use the
// proxy of this process and the network of the machine. Each line of podman's output is logged and written to OUTPUT/build.log.
//
//   errors  invalid: a step of the Containerfile failed, with its line and the last lines of the output; a base image of another
//           architecture; the build took longer than os_build_limits::run; denied: a registry refuses the login; conflict: too
//           little disk or memory, with what is there and what is needed; unavailable: a registry did not answer for about five
//           minutes, or a package source in three attempts
//   time    minutes
Result<machineconfig::OsImage> build_os_image(const Environment& environment, const OsBuildOptions& options);

// os-image-build --folder=DIR --output=DIR [--pull-logins=FILE] [--push-logins=FILE] [--no-cache]
//
// The command. Prints image.json on success. Runs on the machine, as root.
Result<> run_os_image_build(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::node
