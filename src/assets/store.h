// The asset directory: reads install-config.yaml and writes the files of a target. After a failure, the same command continues.
//
//   install-config.yaml ─► manifests/ openshift/ ─► bootstrap.ign master.ign worker.ign auth/ metadata.json ─► a cluster
//                          cluster-api/ ──────────────────────────────────────────────────────────────────────┘
//
// Each target consumes the files of the previous target: they move to .slipway/consumed/, which is never read again.
// install-config.yaml stays in place, so that the same command can continue after a failure; if the program is called as
// openshift-install, install-config.yaml is consumed too. assets/plan.h explains which files are the user's. All files have mode
// 0600, except metadata.json. .slipway/ also contains the lock of the directory, the events of the cluster, and the state of the
// machines if they run on this host.
#pragma once

#include "assets/plan.h"
#include "assets/tls/validity.h"
#include "sys/context.h"
#include "sys/files.h"

namespace slipway::assets {

inline constexpr std::string_view lock_file = ".slipway/lock";
inline constexpr std::string_view events_file = ".slipway/events.jsonl";
inline constexpr std::string_view machines_file = ".slipway/machines";
inline constexpr std::string_view resources_file = ".slipway/resources.jsonl";  // journal of what was created on a platform
inline constexpr std::string_view known_hosts_file = ".slipway/known_hosts";    // SSH servers that generated their own host key

// The install-config that the targets below use. options: as in config_of (assets/plan.h)
// errors: those of config_of, of parse_state and of Files
Result<config::InstallConfig> read_config(sys::Files& files, const std::string& directory,
                                          const config::LoadOptions& options = {});

// Reads the directory. options: as in config_of. errors: those of config_of, of parse_state and of Files
Result<Folder> open_folder(sys::Files& files, const std::string& directory, const config::LoadOptions& options = {});

struct TargetResult {
  std::vector<std::string> folders;      // of the target's files: "demo/auth", "demo"
  std::optional<Expiry> usable_until{};  // of the Ignition configs
};

// `create install-config`, `manifests`, `ignition-configs`, `single-node-ignition-config`.
//
//   folder  the current content: the caller holds the directory's lock and has read the directory since then
//   errors  those of plan_target: nothing is written. Those of Files: all changes are undone; if this fails too, the same command
//           continues. The message says which of the two happened
//   time    that of plan_target; blocks on disk
Result<TargetResult> create_target(const sys::Context& context, sys::Files& files, sys::Random& random, const Folder& folder,
                                   const Environment& environment, const Request& request);

// Target `cluster`: returns all assets, with the user's changes. Uses the files that exist already. Writes auth/, metadata.json
// and tls/journal-gatewayd.*, and consumes the files of the previous targets. errors and time: as create_target
Result<Assets> load_or_make(const sys::Context& context, sys::Files& files, sys::Random& random, const Folder& folder,
                            const Environment& environment, bool consumes_install_config = false);

// The first expiry of the generated certificates. Empty if no certificates are generated yet.
Result<std::optional<Expiry>> usable_until(sys::Files& files, const std::string& directory);

// The private SSH key with which `gather` logs in to the bootstrap machine. Empty if it is not generated yet.
Result<std::optional<Secret>> private_ssh_key(sys::Files& files, const std::string& directory);

// The public SSH host key of the bootstrap machine, "ecdsa-sha2-nistp256 AAAA... bootstrap". Empty if the machine generates its
// own key.
Result<std::optional<std::string>> public_host_key(sys::Files& files, const std::string& directory);

// Removes all files that the targets wrote or consumed, and the state file. install-config.yaml and the user's manifests stay,
// including consumed ones. metadata.json is removed last, because it identifies the cluster.
Result<> forget(sys::Files& files, const std::string& directory);

}  // namespace slipway::assets
