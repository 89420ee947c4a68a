// What local machines need of a release, made once from its image layout: the storage of a registry, the OSTree commit of the
// machine OS, and images that new machines start with. `make payload` makes the same from a build.
//
//   FOLDER/release                   the OCI image layout
//   FOLDER/payload/registry          what a cluster's registry serves: hard links to the layout
//   FOLDER/payload/bin/registry      the registry's program
//   FOLDER/payload/os/repo, commit   the machine OS
//   FOLDER/payload/containerd        images for machines; containerd.images names them
#pragma once

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <string>

namespace slipway::provider::local {

// The parts of such a folder. `make payload` writes the same parts into `build`.
struct ReleaseFolder {
  std::string path;

  std::string layout() const { return path + "/release"; }
  std::string payload() const { return path + "/payload"; }
};

// The repository of the machine OS in a payload folder.
inline std::string os_repo_in(const std::string& payload) { return payload + "/os/repo"; }

// Runs the programs that make the parts, as stages: registry, machine-os, machine-images. A part that exists is made again.
//
//   programs  folder with the programs slipway-images, registry, commit and preload
//   version   of the release; the commit records it
//   errors    invalid: not root, or programs of the host are missing, one line each with a hint; not_found: a program of
//   `programs`
//             is missing; unavailable: with the message of the program
//   time      half a minute
Result<> prepare_release(const sys::Context& context, sys::Files& files, sys::Runner& runner, const std::string& programs,
                         const ReleaseFolder& folder, const std::string& version);

}  // namespace slipway::provider::local
