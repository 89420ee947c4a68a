// Step logs-gather: the logs of this host, packed and sent to the service.
#pragma once

#include "agent/step.h"
#include "base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::agent {

// The last `limit` bytes of a text, from the beginning of a line. Pure.
std::string tail(std::string_view text, std::size_t limit);

// Collects the kernel's journal, those of the units of an installation, disks, mounts, interfaces and routes, at most 1 MiB of
// each, and sends them. A log that cannot be read is replaced by the reason. The state of the collection is reported before and
// after.
//
//   errors   those of the service
//   time     at most a minute for each journal
Result<> send_logs(const StepWorld& world, const std::string& cluster_id, bool is_bootstrap);

// Arguments {"cluster_id", "bootstrap"}; without output.
Result<StepReply> gather_logs(const StepWorld& world, const Json& arguments);

}  // namespace slipway::agent
