// The asset directory: install-config.yaml in, files out; the same command again continues after whatever happened.
//
//   install-config.yaml ─► manifests/ openshift/ ─► bootstrap.ign master.ign worker.ign auth/ metadata.json ─► a cluster
//                          cluster-api/ ──────────────────────────────────────────────────────────────────────┘
//
// Each target consumes the files of the one before: they move to .slipway/consumed/, which is never read again.
// install-config.yaml is kept, so that the same command can continue after a failure, unless the program was called as
// openshift-install. Whose a file is and what is honoured: assets/plan.h. Every file is 0600 but metadata.json. .slipway/
// also has the lock of the directory, the events of its cluster, and the folder of its machines when they are on this host.
#pragma once

#include "assets/plan.h"
#include "assets/tls/validity.h"
#include "sys/context.h"
#include "sys/files.h"

namespace slipway::assets {

inline constexpr std::string_view lock_file = ".slipway/lock";
inline constexpr std::string_view events_file = ".slipway/events.jsonl";
inline constexpr std::string_view machines_file = ".slipway/machines";
inline constexpr std::string_view known_hosts_file = ".slipway/known_hosts";  // of SSH servers whose key nobody gave them

// The install-config that the targets below would use. errors: those of config_of (assets/plan.h), of the state file, of Files
Result<config::InstallConfig> read_config(sys::Files& files, const std::string& directory);

// The directory with all that is in it. reading, errors: those of config_of; of the state file, of Files
Result<Folder> open_folder(sys::Files& files, const std::string& directory, const config::Reading& reading = {});

// What a target made.
struct TargetResult {
  std::vector<std::string> folders;      // that its files are in: "demo/auth", "demo"
  std::optional<Expiry> usable_until{};  // of Ignition configs
};

// `create install-config`, `manifests`, `ignition-configs`, `single-node-ignition-config`.
//
//   folder  as it is: somebody who holds its lock calls this, and has read it since
//   errors  those of plan_target; then nothing was written. Those of Files; then what was written was taken back, or, where that
//           fails too, the same command continues: the message says which
//   time    that of plan_target; blocks on disk
Result<TargetResult> create_target(const sys::Context& context, sys::Files& files, sys::Random& random, const Folder& folder,
                                   const Environment& environment, const Request& request);

// What `create cluster` begins with: all assets, continued from whatever is there, the user's changes in them. Writes auth/,
// metadata.json and tls/journal-gatewayd.*, and consumes what the targets before wrote.
Result<Assets> load_or_make(const sys::Context& context, sys::Files& files, sys::Random& random, const Folder& folder,
                            const Environment& environment, bool consumes_install_config = false);

// Until when what the targets wrote can be used; nothing before there is something.
Result<std::optional<Expiry>> usable_until(sys::Files& files, const std::string& directory);

// The private SSH key for the directory's bootstrap machine, with which `gather` logs in; nothing before there is one.
Result<std::optional<Secret>> private_ssh_key(sys::Files& files, const std::string& directory);

// The public half of its SSH host key, "ecdsa-sha2-nistp256 AAAA... bootstrap"; nothing where the machine makes its own.
Result<std::optional<std::string>> public_host_key(sys::Files& files, const std::string& directory);

// Removes everything that the targets wrote, consumed and remember; install-config.yaml and the user's files in the folders of
// manifests stay, consumed ones too. metadata.json goes last, since it says what there is.
Result<> forget(sys::Files& files, const std::string& directory);

}  // namespace slipway::assets
