// What a target would do to a directory, for people and for programs. Without secrets (assets/masked.h).
#pragma once

#include "assets/store.h"

namespace slipway::assets {

// One line a file: what happens to it, its path, and why.
std::string plan_text(Target target, const Preview& preview);

// {"target": "manifests", "changes": [{"action": "add", "path": "manifests/a.yaml", "reason": "it is not there yet"}],
// "warnings": []}
Json plan_json(Target target, const Preview& preview);

// The changes of contents as `diff -u` has them; a line for each file that is consumed or removed. Empty when there are none.
std::string diff_text(const Preview& preview);

}  // namespace slipway::assets
