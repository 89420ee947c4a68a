// The state file .openshift_install_state.json: what was drawn for a cluster, and what of the folder is ours. The name is
// that of openshift-install; its content was always private, so the layout is our own.
#pragma once

#include "assets/assets.h"

#include <set>

namespace slipway::assets {

inline constexpr std::string_view state_file = ".openshift_install_state.json";

// How far a folder was taken, each target from what the one before left.
enum class Target { install_config, manifests, ignition_configs, single_node_ignition_config, cluster };

std::string_view to_string(Target target);  // "ignition-configs", as in `create ignition-configs`

struct State {
  std::string install_config;  // the text that everything was made of
  ClusterId id;
  KubeadminPassword password;
  ServerToken token;
  bool no_kubeadmin = false;  // these as somebody asked for them once
  std::string bootstrap_url;
  std::optional<IronicCredentials> ironic{};  // versions before had none
  Tls tls;

  Target target = Target::manifests;  // the last one
  bool complete = false;              // its files are written and those of the target before are gone
  bool has_cluster = false;           // machines may exist that were made of this: another install-config needs another folder

  // SHA-256 of what we wrote, by path; two for a path while a target is incomplete. A file with another content is the user's.
  std::map<std::string, std::set<std::string>, std::less<>> written;
  // What the user did to manifests/ and openshift/, which are consumed by the next target.
  UserFiles user;

  bool operator==(const State&) const = default;
};

// errors: invalid, naming the file and what to do: broken, openshift-install's own, a newer version's, none of these
Result<State> parse_state(std::string_view text);
std::string state_text(const State& state);

}  // namespace slipway::assets
