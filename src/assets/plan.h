// The changes that a target makes to the asset directory, computed before anything is written.
//
// A file is ours if slipway wrote its content. Any other file is the user's and is never overwritten. All files that the user
// changed, added or removed in manifests/, openshift/ and cluster-api/ are used, whatever their kind. The state file keeps them
// when a later target consumes the folders. Generated files are generated again in each run, from the install-config and its
// random values. The random values stay the same until the install-config changes.
//
// `slipway plan` and `slipway diff` show a plan (assets/preview/preview.h), the targets apply it (assets/store.h).
#pragma once

#include "assets/state.h"

namespace slipway::assets {

inline constexpr std::string_view install_config_file = "install-config.yaml";

// Consumed files move here and keep their relative path. Slipway never reads them again.
inline constexpr std::string_view consumed_folder = ".slipway/consumed";

// The content of an asset directory. A command reads it once (assets/store.h: open_folder).
struct Folder {
  std::string path{};
  Snapshot files{};
  std::optional<State> state{};
  config::LoadedConfig config{};        // install-config.yaml, or the copy in the state file if that file is missing
  std::vector<std::string> warnings{};  // about files that are ignored
};

struct Request {
  Target target = Target::manifests;
  bool consumes_install_config = false;  // as openshift-install does; else install-config.yaml stays in place
};

enum class Action {
  add,      // create a file
  change,   // replace the content of an existing file
  consume,  // move the file to .slipway/consumed
  remove,
};

// The change of one file of the directory.
struct Change {
  Action action = Action::add;
  std::string path;
  std::string content{};  // new content, for add and change
  std::string why;        // reason, shown to the user: "does not exist yet"

  bool operator==(const Change&) const = default;
};

struct Plan {
  // State files. `begin` is written before all changes, so that the same command continues after a kill; `end` is written after
  // them. Target install-config writes no state file.
  std::optional<State> begin;
  std::optional<State> end;
  std::vector<Change> changes;    // in the order in which they are applied
  std::set<std::string> folders;  // of the target's files; "" is the asset directory
  std::vector<std::string> warnings;
  std::optional<Assets> assets;  // for targets after `manifests`
};

// The install-config that a target uses: install-config.yaml, or the copy in the state file if that file is missing.
//
//   reading  how install-config.yaml is read; for the copy, which was validated before, only its hosts count
//   errors   not_found: there is neither; invalid: all findings
Result<config::LoadedConfig> config_of(const Snapshot& files, const std::optional<State>& state,
                                       const config::LoadOptions& options = {});

// Computes the plan of a target. Pure except for random values.
//
//   environment  not used for target install-config, which writes the install-config with all defaults and converts older fields
//   errors       those of the assets; conflict, with the file names: the user changed files that belong to another
//                install-config, or a cluster was created from another install-config
//   time         milliseconds with P-256 keys, else the time to generate RSA keys
Result<Plan> plan_target(const Request& request, const Folder& folder, const Environment& environment, sys::Random& random);

}  // namespace slipway::assets
