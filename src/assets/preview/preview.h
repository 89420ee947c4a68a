// Shows the plan of a target as text, JSON or diff. Secrets are masked (assets/preview/masked.h).
#pragma once

#include "assets/plan.h"

namespace slipway::assets {

// One line for each file: action, path, reason.
std::string plan_text(Target target, const Plan& plan);

// {"target": "manifests", "changes": [{"action": "add", "path": "manifests/a.yaml", "reason": "does not exist yet"}],
// "warnings": []}
Json plan_json(Target target, const Plan& plan);

// The changed contents in the format of `diff -u`, and one line for each file that is consumed or removed. Empty without changes.
// files: the current files of the directory
std::string diff_text(const Snapshot& files, const Plan& plan);

}  // namespace slipway::assets
