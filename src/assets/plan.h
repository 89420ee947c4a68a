// What a target does to the asset directory, decided before anything is written (installer 1.5, 3.2, 11.2).
//
// One rule says whose a file is: a content that we wrote is ours, every other one is the user's and never overwritten. So files
// that the user changed, added or removed in manifests/ and openshift/ are honoured, of whatever kind they are; they are
// remembered when a later target consumes the folders. What is generated is always made anew from the install-config and
// what was drawn for it, which stays the same as long as the install-config does.
#pragma once

#include "assets/state.h"

namespace slipway::assets {

// The files of a folder that matter here, by path.
using Snapshot = std::map<std::string, std::string, std::less<>>;

struct Plan {
  State begin;  // written before anything else: from here on the same command continues
  State end;    // written last
  AssetFiles writes;
  std::vector<std::string> removes;
  std::vector<std::string> warnings;
  std::optional<Assets> assets;  // of the targets behind manifests
};

// The install-config that a target would use: the folder's, else the remembered one.
// errors: not_found: neither is there; invalid: all findings
Result<config::Loaded> config_of(const Snapshot& folder, const std::optional<State>& state);

// Pure but for what it draws.
//
//   errors  those of config_of and of the assets; conflict, naming the files: changes of the user's to files that another
//           install-config made, a cluster that was made of another install-config
Result<Plan> plan_target(Target target, const Snapshot& folder, const std::optional<State>& state, const Environment& environment,
                         sys::Random& random);

}  // namespace slipway::assets
