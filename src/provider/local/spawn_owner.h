// Starting the owner process, apart from the command that starts it.
#pragma once

#include "provider/local/line_socket.h"

#include "base/result.h"

#include <string>
#include <vector>

namespace slipway::provider::local {

// Starts `command` as the init of new mount, network and process namespaces, in a session of its own, with the descriptors of
// owner.h and a plain environment; its output is appended to `log`.
//
//   returns  our end of its ready_fd, which closes when the process ends
//   errors   not_found: unshare is missing; as system calls
Result<LineSocket> spawn_owner(const std::vector<std::string>& command, const std::string& log);

}  // namespace slipway::provider::local
