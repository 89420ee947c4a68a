// The asset directory: install-config.yaml in, files out; the same command again continues after whatever happened.
//
//   install-config.yaml ─► manifests/ openshift/ ─► bootstrap.ign master.ign worker.ign auth/ metadata.json ─► a cluster
//
// Each target consumes the files of the one before; install-config.yaml is kept (design 9). Whose a file is and what is honoured:
// assets/plan.h. Every file is 0600 but metadata.json.
#pragma once

#include "assets/state.h"
#include "sys/context.h"
#include "sys/files.h"

namespace slipway::assets {

// The install-config that the targets below would use. errors: those of config_of (assets/plan.h) and of Files
Result<config::InstallConfig> read_config(sys::Files& files, const std::string& directory);

// `create manifests`, `create ignition-configs`.
//
//   directory  somebody who holds its lock calls this
//   errors     those of plan_target; then nothing was written. Those of Files; then the same call continues
//   time       milliseconds; blocks on disk
Result<> create_manifests(const sys::Context& context, sys::Files& files, sys::Random& random, const std::string& directory,
                          const Environment& environment);
Result<> create_ignition_configs(const sys::Context& context, sys::Files& files, sys::Random& random,
                                 const std::string& directory, const Environment& environment);

// What `create cluster` begins with: all assets, continued from whatever is there, the user's changes in them. Writes auth/,
// metadata.json and tls/journal-gatewayd.*, and consumes what the targets before wrote.
Result<Assets> load_or_make(const sys::Context& context, sys::Files& files, sys::Random& random, const std::string& directory,
                            const Environment& environment);

// Removes everything that the targets wrote and remember; install-config.yaml and the user's files in manifests/ and openshift/
// stay. metadata.json goes last, since it says what there is.
Result<> forget(sys::Files& files, const std::string& directory);

}  // namespace slipway::assets
