#include "cli/agent_progress.h"

#include "assist/status.h"
#include "base/text.h"

#include <fmt/core.h>

namespace slipway::cli {

std::vector<ProgressLine> progress_lines(const Json& events) {
  std::vector<ProgressLine> lines;
  if (!events.is_array()) return lines;
  for (const Json& event : events.get_array()) {
    const std::string severity = text_of(event, {"severity"});
    const Level level = severity == "info" ? Level::info : severity == "warning" ? Level::warn : Level::error;
    lines.push_back({level, to_utf8(text_of(event, {"message"}))});
  }
  return lines;
}

std::optional<std::string> installation_failure(const Json& cluster) {
  const auto status = assist::find_cluster_status(text_of(cluster, {"status"}));
  if (status != assist::ClusterStatus::error && status != assist::ClusterStatus::cancelled) return std::nullopt;
  std::vector<std::string> reasons = {
      fmt::format("the cluster is {}: {}", assist::to_string(*status), to_utf8(text_of(cluster, {"status_info"})))};
  for (const Json& host : find_array(cluster, {"hosts"})) {
    if (assist::find_host_status(text_of(host, {"status"})) != assist::HostStatus::error) continue;
    reasons.push_back(
        fmt::format("host {}: {}", to_utf8(text_of(host, {"requested_hostname"})), to_utf8(text_of(host, {"status_info"}))));
  }
  return join(reasons, "; ");
}

}  // namespace slipway::cli
