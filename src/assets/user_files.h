// Finds the user's changes of manifests in an asset directory by comparing contents.
#pragma once

#include "assets/state.h"

namespace slipway::assets {

using Written = std::map<std::string, std::set<std::string>, std::less<>>;

// Whether slipway wrote this content to this path.
bool is_ours(const Written& written, const std::string& path, std::string_view content);

// Whether a target consumes this manifest. Only target `cluster` consumes cluster-api/.
bool consumes(Target target, std::string_view path);

// Applies the user's changes to the generated files.
Snapshot with_user_files(Snapshot generated, const UserFiles& user);

// The differences between the generated files and the user's manifests/, openshift/ and cluster-api/.
//
//   state      of the last run; its user changes are kept if their folders were consumed
//   generated  the files without the user's changes
UserFiles find_user_files(const Snapshot& folder, const std::optional<State>& state, const Snapshot& generated);

}  // namespace slipway::assets
