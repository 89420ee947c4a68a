// The path of a field in the messages of openshift-install, if it differs from the path in the file. Scripts search messages for
// it. Private to the folder.
#pragma once

#include "base/findings.h"

#include <string>

namespace slipway::config {

// "platform.aws.userTags[team]" for a finding about "platform.aws.userTags.team"; empty if both paths are the same.
std::string upstream_path(const Finding& finding);

// The same findings. If an error has an upstream path, its message ends with that path in brackets.
Findings with_upstream_paths(const Findings& findings);

}  // namespace slipway::config
