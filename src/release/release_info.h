// Release info: a Release as a JSON document, for places that cannot reach its registry. `slipway release info --output json`
// prints it.
//
//   {"version": "0.1.0", "digest": "sha256:...", "created": "...", "metadata": {}, "versions": {"kubernetes": "1.36.3"},
//    "components": [{"name": "etcd", "image": "...@sha256:...", "versions": {"etcd": "3.6.5"}}], "manifests": ["a.yaml"]}
#pragma once

#include "base/json.h"
#include "release/release.h"

namespace slipway::release {

Json release_info(const Release& release);

// errors: invalid, listing all problems: no version, no digest, components without a name or an image by digest
Result<Release> parse_release_info(std::string_view text, std::string_view name);

}  // namespace slipway::release
