// What openshift-install calls a field in its messages, where that is not the path that the user wrote: scripts look for it.
// Private to the folder.
#pragma once

#include "base/findings.h"

#include <string>

namespace slipway::config {

// "platform.aws.userTags[team]" for a finding of the field "platform.aws.userTags.team"; empty where both call it the same.
std::string upstream_path(const Finding& finding);

// The same findings; the message of an error ends with the other path in brackets where there is one.
Findings with_upstream_paths(const Findings& findings);

}  // namespace slipway::config
