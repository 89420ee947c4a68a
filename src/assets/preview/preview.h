// What a target would do to a directory, for people and for programs. Without secrets (assets/preview/masked.h).
#pragma once

#include "assets/plan.h"

namespace slipway::assets {

// One line a file: what happens to it, its path, and why.
std::string plan_text(Target target, const Plan& plan);

// {"target": "manifests", "changes": [{"action": "add", "path": "manifests/a.yaml", "reason": "it is not there yet"}],
// "warnings": []}
Json plan_json(Target target, const Plan& plan);

// The changes of contents as `diff -u` has them; a line for each file that is consumed or removed. Empty when there are none.
// files: of the directory, as they are
std::string diff_text(const Snapshot& files, const Plan& plan);

}  // namespace slipway::assets
