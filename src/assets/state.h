// The state file .openshift_install_state.json: the random values of a cluster and the digests of the files that slipway wrote.
// openshift-install uses the same name. Its format was never public, so slipway has its own format.
#pragma once

#include "assets/assets.h"

#include <set>

namespace slipway::assets {

// Contents of the files of an asset directory that slipway uses, by path.
using Snapshot = std::map<std::string, std::string, std::less<>>;

bool is_for_machines(std::string_view path);   // below manifests/ or openshift/: copied to the bootstrap machine
bool is_manifest_path(std::string_view path);  // below manifests/, openshift/ or cluster-api/

inline constexpr std::string_view state_file = ".openshift_install_state.json";

// Targets of `create`, in the order in which they follow each other.
enum class Target { install_config, manifests, ignition_configs, single_node_ignition_config, cluster };

std::string_view to_string(Target target);  // "ignition-configs", as in `create ignition-configs`

struct State {
  std::string install_config;  // text of the install-config that everything was generated from
  ClusterId id;
  KubeadminPassword password;
  ServerToken token;
  bool no_kubeadmin = false;                  // --no-kubeadmin of an earlier run
  bool with_machine_os_config = false;        // --with-machine-os-config of an earlier run
  std::string bootstrap_url;                  // --bootstrap-url of an earlier run
  std::optional<IronicCredentials> ironic{};  // missing in older state files
  Tls tls;

  Target target = Target::manifests;  // the last target
  bool complete = false;              // the target's files are written and the files of the previous target are consumed
  bool has_cluster = false;           // machines may use these assets: another install-config needs another directory

  // SHA-256 digests of the contents that slipway wrote, by path. A path has two digests while a target is incomplete. A file with
  // any other content is the user's.
  std::map<std::string, std::set<std::string>, std::less<>> written;
  // The user's changes of manifests/ and openshift/, which the next target consumes.
  UserFiles user;

  bool operator==(const State&) const = default;
};

// errors: invalid, with the file and a hint: broken JSON, a state file of openshift-install, a newer format, any other content
Result<State> parse_state(std::string_view text);
std::string state_text(const State& state);

}  // namespace slipway::assets
