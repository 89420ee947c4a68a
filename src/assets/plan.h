// What a target does to the asset directory, decided before anything is written.
//
// One rule says whose a file is: a content that we wrote is ours, every other one is the user's and never overwritten. So files
// that the user changed, added or removed in manifests/, openshift/ and cluster-api/ are honoured, of whatever kind they are;
// they are remembered when a later target consumes the folders. What is generated is always made anew from the install-config and
// what was drawn for it, which stays the same as long as the install-config does.
//
// `slipway plan` and `slipway diff` show a plan (assets/preview/preview.h), the targets apply it (assets/store.h).
#pragma once

#include "assets/state.h"

namespace slipway::assets {

inline constexpr std::string_view install_config_file = "install-config.yaml";

// What a machine is handed in the place of a bootstrap.ign that is too large for its platform (assets/ignition/split_config.h).
inline constexpr std::string_view user_data_file = "bootstrap-user-data.ign";

// What is consumed goes here, below the asset directory, by its path there. Nobody reads it again but people.
inline constexpr std::string_view consumed_folder = ".slipway/consumed";

// The files of a directory that matter here, by path.
using Snapshot = std::map<std::string, std::string, std::less<>>;

// An asset directory as it was read, once for all that a command does with it (assets/store.h: open_folder).
struct Folder {
  std::string path{};
  Snapshot files{};
  std::optional<State> state{};
  config::Loaded config{};              // of install-config.yaml, else of the one that is remembered
  std::vector<std::string> warnings{};  // of files that nobody uses
};

// What somebody wants of an asset directory.
struct Request {
  Target target = Target::manifests;
  bool consumes_install_config = false;  // as openshift-install does; else install-config.yaml stays where it is
};

enum class Action {
  add,      // a file that is not there
  change,   // one that is
  consume,  // it goes to .slipway/consumed
  remove,
};

// One file of the directory that a target touches.
struct Change {
  Action action = Action::add;
  std::string path;
  std::string content{};  // that is written
  std::string why;        // completes "... because": "does not exist yet"

  bool operator==(const Change&) const = default;
};

struct Plan {
  // The state file, written before anything else, so that from here on the same command continues, and at the end. install-config
  // leaves it alone.
  std::optional<State> begin;
  std::optional<State> end;
  std::vector<Change> changes;    // in their order
  std::set<std::string> folders;  // that the target's files are in; "" is the directory itself
  std::vector<std::string> warnings;
  std::optional<Assets> assets;  // of the targets behind manifests
};

// The install-config that a target would use: the directory's, else the remembered one.
//
//   reading  of the directory's; what is remembered was judged before
//   errors   not_found: neither is there; invalid: all findings
Result<config::Loaded> config_of(const Snapshot& files, const std::optional<State>& state, const config::Reading& reading = {});

// Pure but for what it draws.
//
//   environment  not looked at for the target install-config: the install-config with its defaults, older fields by their new
//                names
//   errors       those of the assets; conflict, naming the files: changes of the user's to files that another install-config
//                made, a cluster that was made of another install-config
//   time         milliseconds with keys of P-256, else what making keys takes
Result<Plan> plan_target(const Request& request, const Folder& folder, const Environment& environment, sys::Random& random);

}  // namespace slipway::assets
