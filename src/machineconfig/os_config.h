// MachineOSConfig: the Containerfile from which the operating system of a pool's machines is built, and where the image goes.
// Pure. The rules are those of the API server (the CRD, images/crds.txt) and those of a build: what would fail there is an error
// here.
//
// https://github.com/openshift/api/blob/master/machineconfiguration/v1/types_machineosconfig.go
#pragma once

#include "base/findings.h"
#include "base/secret.h"
#include "base/yaml.h"

#include <string>
#include <string_view>

namespace slipway::machineconfig {

struct OsConfig {
  std::string pool{};              // also the name of the object
  std::string push_spec{};         // renderedImagePushSpec: "registry.example.com/team/os:latest"
  std::string push_secret{};       // name of a Secret with a login for push_spec
  std::string base_pull_secret{};  // name of a Secret; empty: the pull secret of the cluster
  std::string containerfile{};     // of the user, without a change; empty: the image of the release with the config of the pool
  std::string prebuilt_image{};    // annotation pre-built-image, "registry.example.com/team/os@sha256:..."; usually empty
  bool holds_first_boot = false;   // annotation first-boot: Hold, new machines wait for the first image of the pool

  // "registry.example.com/team/os": push_spec without its tag.
  std::string repository() const;
  // "registry.example.com", with its port.
  std::string registry() const;

  bool operator==(const OsConfig&) const = default;
};

inline constexpr std::string_view prebuilt_image_annotation = "machineconfiguration.openshift.io/pre-built-image";
inline constexpr std::string_view first_boot_annotation = "machineconfiguration.openshift.io/first-boot";
inline constexpr std::string_view rebuild_annotation = "machineconfiguration.openshift.io/rebuild";

// Findings have the place in the document; those of the Containerfile have the line in it. Findings: fields that are missing,
// wrong or not known; a name other than that of the pool; a push spec without a host with a dot, or without a tag, or with more
// than one part between host and name (the status of the object could not hold the result), or with a Service of the cluster as
// host (neither the bootstrap machine nor the nodes resolve its name); more than one Containerfile, or one for another
// architecture than NoArch; containerfile.h.
OsConfig read_os_config(const YamlDocument& document, Findings& findings);

// The same for an object of the API. errors: invalid, with all findings
Result<OsConfig> parse_os_config(const Json& object, std::string_view name);

// The logins of a Secret of type kubernetes.io/dockerconfigjson or kubernetes.io/dockercfg as a docker config: {"auths": {...}}.
// Accepts the content without "auths" in both. errors: invalid: another type, not JSON, no login; never with the content
Result<Secret> logins_of(const Json& secret);

// Whether the docker config has a login for an image of this repository: for its registry, or for a part of its path.
bool has_login(const Secret& logins, std::string_view repository);

}  // namespace slipway::machineconfig
