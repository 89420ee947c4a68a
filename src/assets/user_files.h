// What the user did to the files of an asset directory, found by comparing contents.
#pragma once

#include "assets/plan.h"

namespace slipway::assets {

using Written = std::map<std::string, std::set<std::string>, std::less<>>;

// Whether we wrote this content at this path.
bool is_ours(const Written& written, const std::string& path, std::string_view content);

bool is_for_machines(std::string_view path);   // below manifests/ or openshift/: the bootstrap machine gets it
bool is_manifest_path(std::string_view path);  // the same, or below cluster-api/

// Whether a target consumes this file of the folders of manifests. Only create cluster consumes cluster-api/.
bool consumes(Target target, std::string_view path);

// What is generated, with what the user did to it.
Snapshot with_user_files(Snapshot generated, const UserFiles& user);

// manifests/, openshift/ and cluster-api/ as the user has them now, as differences from what is generated.
//
//   state      of the last run, if it was for the same install-config; remembered changes are its own
//   generated  what would be there without the user
UserFiles find_user_files(const Snapshot& folder, const std::optional<State>& state, const Snapshot& generated);

}  // namespace slipway::assets
