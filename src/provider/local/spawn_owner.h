// Starts the owner process, which is independent of the command that starts it.
#pragma once

#include "provider/local/line_socket.h"

#include "base/result.h"

#include <string>
#include <vector>

namespace slipway::provider::local {

// Starts `command` as the init of new mount, network and process namespaces, in its own session, with the descriptors of owner.h
// and a minimal environment. Appends its output to `log`.
//
//   cgroups  the cgroups that it joins first, so that it does not end with the service or the session that started it
//   returns  the other end of its ready_fd, which is closed when the process ends
//   errors   not_found: unshare is missing; as system calls
Result<LineSocket> spawn_owner(const std::vector<std::string>& command, const std::string& log,
                               const std::vector<std::string>& cgroups);

}  // namespace slipway::provider::local
