// Names of images as people write them.
#pragma once

#include "base/result.h"
#include "release/reference.h"

#include <string>
#include <string_view>

namespace slipway::cli {

// The full name: "app:dev" is docker.io/library/app:dev, as for the kubelet. errors: invalid: as parse_reference
Result<release::Reference> full_image_name(std::string_view text);

// Where the registry of a cluster (payload/registry) has an image with this name: "127.43.1.9:5000/docker.io/library/app:dev".
// A colon before a port is written as "__": r.example.com__5000/app. Pure.
std::string place_in_registry(const std::string& registry, const release::Reference& name);

// Where an image comes from, in the form of skopeo (containers-transports(5)), and the name that it gets.
struct ImageSource {
  std::string location;  // "docker-archive:app.tar"; empty: containers-storage, docker-daemon or a registry, whichever has it
  std::string name{};    // as it was written; empty: the one in the archive
};

// "oci:DIR[:NAME]", "oci-archive:FILE[:NAME]", "docker-archive:FILE[:NAME]", "docker-daemon:NAME", "containers-storage:NAME",
// "docker://NAME", or NAME. errors: invalid: another transport
Result<ImageSource> parse_image_source(std::string_view text);

}  // namespace slipway::cli
