// podman as the builder of OS images: its command lines, and what its output says about a failure. Pure.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

struct Podman {
  std::string storage{};  // folder for a storage with the driver vfs; empty: podman's own storage
};

// "podman ARGUMENTS", with the storage.
std::vector<std::string> podman_command(const Podman& podman, std::vector<std::string> arguments);

struct PodmanBuild {
  std::string folder;         // has the Containerfile
  std::string tag;            // of the image in the storage
  std::string logins{};       // a docker config; empty: none
  std::string authorities{};  // folder with *.crt, in addition to the system's; empty: none
  std::string policy{};       // of signatures; empty: that of the machine
};

// Programs of the Containerfile run in a chroot, which needs neither cgroups nor user namespaces, and use the network of the
// machine. Layers of earlier builds are used again. Images are pulled again if their tag has another image now.
std::vector<std::string> build_command(const Podman& podman, const PodmanBuild& build);

// Writes an image of the storage into an OCI layout, with compressed layers, as the image `name` of the layout.
std::vector<std::string> export_command(const Podman& podman, const std::string& tag, const std::string& layout,
                                        const std::string& name, const std::string& policy);

// Why podman failed.
struct PodmanFailure {
  Code code = Code::invalid;   // invalid, denied, conflict: the disk is full, unavailable: may succeed if it is repeated
  std::string reason{};        // of podman, on one line: "exit status 100"
  bool is_of_program = false;  // a program of the Containerfile failed
};

// output: the lines of both streams. A failed program counts as unavailable if its last lines are about a server that did not
// answer, as those of package managers are.
PodmanFailure classify_failure(const std::vector<std::string>& output);

// The error that the user reads: the instruction with its line, the reason, and what the program printed last.
//
//   containerfile       of the build
//   first_line_of_user  lines are counted from this one
Error explain_failure(const PodmanFailure& failure, std::string_view containerfile, int first_line_of_user,
                      const std::vector<std::string>& output);

}  // namespace slipway::node
