// `gather bootstrap`: everything that tells why a cluster does not come up, in one archive without secrets. Works at any moment.
#pragma once

#include "cluster/create.h"

#include <string>

namespace slipway::cluster {

// Runs the gather scripts on the machines that run, and adds what the host knows: consoles, events, the state of machines.
//
//   folder   where log-bundle-ID.tar.gz is put; ID is the time
//   returns  the path of the archive, also when machines could not be asked: the archive then says why (gather-errors.txt)
//   errors   not_found: there is no such cluster; those of files and tar
//   time     below a minute: a script that takes longer is ended
Result<std::string> gather_local_bootstrap(const Environment& environment, const LocalGround& ground, const std::string& cluster,
                                           const std::string& folder);

}  // namespace slipway::cluster
