// A machine's disk: a folder that is an OSTree system, its files hard links into one repository of the host.
#pragma once

#include "provider/local/boot_entry.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <string>

namespace slipway::provider::local {

// Makes the disk from the repository's newest commit of os_ref, in place of whatever is there: one deployment, an empty /var. The
// first disk of a commit also installs it in the repository, for itself and all that follow (data/provider/make-disk).
//
//   returns  the deployment, which is what the machine will boot
//   errors   unavailable: what ostree says; not_found, conflict: as Files
//   time     a third of a second, the first one two
Result<Deployment> make_sysroot(const sys::Context& context, sys::Files& files, sys::Runner& runner, const std::string& os_repo,
                                const std::string& sysroot);

// What firmware boots from the disk now: the deployment of the newest boot entry. errors: not_found, invalid
Result<Deployment> deployment_to_boot(sys::Files& files, const std::string& sysroot);

// Removes a folder also when files or folders in it are immutable, as OSTree makes the roots of deployments. Takes the attribute
// away only where it stands in the way. errors: as Files
Result<> remove_tree(sys::Files& files, const std::string& folder);

}  // namespace slipway::provider::local
