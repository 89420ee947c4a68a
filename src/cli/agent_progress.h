// What the service on the rendezvous host says of an installation, for `agent wait-for`. Pure.
#pragma once

#include "base/json.h"
#include "base/log.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::cli {

struct ProgressLine {
  Level level = Level::info;
  std::string text;

  bool operator==(const ProgressLine&) const = default;
};

// events: the answer of /v2/events
std::vector<ProgressLine> progress_lines(const Json& events);

// Why the installation has failed: the state of the cluster and of its hosts that failed. Nothing while it can succeed.
// cluster: the answer of /v2/clusters/ID
std::optional<std::string> installation_failure(const Json& cluster);

}  // namespace slipway::cli
