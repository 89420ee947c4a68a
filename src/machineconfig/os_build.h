// A build of an operating system image (MachineOSBuild): its name, the files that podman builds it from, and its result. The
// bootstrap machine and the cluster use the same functions, so that the cluster recognises what the bootstrap machine built.
// Pure.
//
//   rendered MachineConfig ┐
//   MachineOSConfig        ├─► OsBuild ─► Containerfile and files ─► image ─► OsImage
//   image of the release   ┘
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/os_config.h"
#include "machineconfig/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

struct OsBuild {
  std::string name{};  // of the MachineOSBuild and tag of the image: "master-5f0c...", by content
  std::string pool{};
  std::string rendered{};    // name of the rendered MachineConfig
  std::string base_image{};  // by digest
  std::string repository{};  // of the result
  std::string registry{};    // of the result
  std::string containerfile{};

  // "registry.example.com/team/os:master-5f0c..."
  std::string push_spec() const { return repository + ":" + name; }
  bool operator==(const OsBuild&) const = default;
};

// The name depends on everything that the image is built from: base image, Containerfile, push spec, kernel type, extensions, and
// the files of the config that are in the image.
//
// The Containerfile has two stages: "configs" is the base image with the files of the config (folder "root" beside the
// Containerfile) and the authorities of the cluster; the text of the user follows and ends with the final stage. Before both are
// the lines of the user that only count at the beginning (containerfile.h). Labels of the image name pool, config and base image.
//
//   errors  invalid: no base image by digest
Result<OsBuild> plan_os_build(const OsConfig& config, const MachineConfig& rendered, const ControllerConfig& controller);

// The line of the Containerfile at which the text of the user begins, from 1.
int first_line_of_user(const OsBuild& build);

// A file of the build folder.
struct BuildFile {
  std::string path;  // "Containerfile", "root/etc/motd"
  std::string content;
  unsigned mode = 0644;

  bool operator==(const BuildFile&) const = default;
};

// Files of the config that everybody on the machine may read, outside of /var. The others come to the machine by Ignition and the
// daemon only, so that the image contains no secrets. errors: invalid: contents that are not in the config
Result<std::vector<BuildFile>> build_files(const OsBuild& build, const MachineConfig& rendered,
                                           const ControllerConfig& controller);

// The result of a build.
struct OsImage {
  OsBuild build{};
  std::string digest{};  // "sha256:..."
  WallTime started{}, ended{};
  long long bytes = 0;     // of all blobs
  bool is_pushed = false;  // its registry has it

  // "registry.example.com/team/os@sha256:...", the identity of the image everywhere
  std::string image() const { return build.repository + "@" + digest; }
  bool operator==(const OsImage&) const = default;
};

Json to_json(const OsBuild& build);
Json to_json(const OsImage& image);
// errors: invalid
Result<OsBuild> parse_os_build(const Json& value, std::string_view name);
Result<OsImage> parse_os_image(const Json& value, std::string_view name);

// Where Jobs, their inputs and results, and the Secrets that a MachineOSConfig names are.
inline constexpr std::string_view os_build_space = "openshift-machine-config-operator";

// Places on the bootstrap machine. The controller writes the folders of configs_folder, the stage os-image-build writes images,
// the server reads both.
inline constexpr const char* configs_folder = "/etc/mcs/bootstrap";
inline constexpr const char* os_builds_name = "os-builds";        // POOL/{build.json,Containerfile,root}
inline constexpr const char* os_logins_name = "os-logins";        // POOL/{push.json,pull.json}: docker configs
inline constexpr const char* prebuilt_images_name = "os-images";  // POOL/image.json, of an image that was built before
inline constexpr const char* os_images_folder = "/var/lib/slipway/os-images";  // POOL/{image.json,oci}: an OCI layout
// Beside image.json, after a failure (os_build_files.h).
inline constexpr const char* os_build_failure_file = "failure.json";

// The ConfigMap in the namespace of the operator with the images that the bootstrap machine built: a key for each pool.
inline constexpr std::string_view os_images_config_map = "os-images-of-bootstrap";

// Where a machine finds its image at its first boot; the content of os_image_source_file, which the server adds to the config.
// The daemon removes the file.
struct OsImageSource {
  std::string image;   // by digest
  std::string server;  // "api-int.demo.example.com:22623"
  std::string ca;      // PEM
  std::string username;
  Secret password;

  bool operator==(const OsImageSource&) const = default;
};
inline constexpr const char* os_image_source_file = "/etc/slipway/os-image-source.json";  // mode 0600
Json to_json(const OsImageSource& source);
Result<OsImageSource> parse_os_image_source(std::string_view text, std::string_view name);

}  // namespace slipway::machineconfig
