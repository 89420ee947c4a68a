// The payload of a release, as far as an update must know it before it begins.
//
// `cluster-version-operator payload` runs in the image of the new release, in a pod that the operator of the running release
// creates (update.h): the kubelet fetches the image with the mirrors and logins of its node, and the new release checks itself.
#pragma once

#include "components/program/program.h"

#include <map>
#include <string>
#include <string_view>

namespace slipway::components::cluster_version {

struct Payload {
  std::string version;
  std::string kubernetes{};   // "1.36.3"; empty if the release does not say it
  std::size_t manifests = 0;  // number of objects

  bool operator==(const Payload&) const = default;
};

// One line of JSON.
std::string to_text(const Payload& payload);

// errors: invalid
Result<Payload> parse_payload(std::string_view text);

// payload
//
// Reads all manifests of its image and prints the payload. It also writes it, or the error, to /dev/termination-log, from where
// the kubelet puts it into the status of the pod.
//
//   errors  invalid: a manifest is not YAML, the image is not a release; those of the files
Result<> run_payload(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cluster_version
