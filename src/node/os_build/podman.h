// podman as the builder of OS images: its command lines, and what its output says about a failure. Pure.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

struct Podman {
  std::string storage;   // folder
  bool has_vfs = false;  // the storage copies all files for each layer, instead of using overlayfs
};

// "podman ARGUMENTS", with the storage. What lasts until the next boot only is in /run.
std::vector<std::string> podman_command(const Podman& podman, std::vector<std::string> arguments);

struct PodmanBuild {
  std::string folder;         // has the Containerfile
  std::string tag;            // of the image in the storage
  std::string logins{};       // a docker config; empty: none
  std::string authorities{};  // folder with *.crt, in addition to the system's; empty: none
  std::string policy{};       // of signatures; empty: that of the machine
  bool has_cache = true;      // use the layers of earlier builds
};

// Programs of the Containerfile run in a chroot, which needs neither cgroups nor user namespaces, and use the network of the
// machine. Images are pulled again if their tag has another image now.
std::vector<std::string> build_command(const Podman& podman, const PodmanBuild& build);

// Of the command that writes an image of the storage into an OCI layout, with compressed layers, as the image `name` of the
// layout.
std::vector<std::string> export_arguments(const std::string& tag, const std::string& layout, const std::string& name,
                                          const std::string& policy);

// An image of the storage: a line of `podman images --no-trunc --format="{{.ID}} {{.Repository}}:{{.Tag}}"`.
struct StoredImage {
  std::string id;    // without "sha256:"
  std::string name;  // "r.example.com/team/os:worker-5f0c"; ends with ":<none>" without a name

  bool operator==(const StoredImage&) const = default;
};
std::vector<StoredImage> parse_images(std::string_view output);

// The names of results of earlier builds of the pool, for which the image `tag` is a result now.
std::vector<std::string> earlier_results(const std::vector<StoredImage>& results, std::string_view pool, std::string_view tag);

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
