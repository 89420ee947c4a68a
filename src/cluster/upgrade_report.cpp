#include "cluster/upgrade_report.h"

#include "base/text.h"
#include "kube/client.h"
#include "kube/conditions.h"

#include <algorithm>

namespace slipway::cluster {

namespace {

// The rows as columns that are separated by blanks and indented by two. The first row has the titles.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("  {:{}}", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string indented_lines(std::string_view message) {
  std::string text;
  for (const char c : message) text += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return text;
}

// A condition as a block with its reason and message.
std::string block(const Json& object, std::string_view type, std::string_view title) {
  return fmt::format("{}\n\n  Reason: {}\n  Message: {}\n\n", title, kube::condition_text(object, type, "reason"),
                     indented_lines(kube::condition_text(object, type, "message")));
}

std::string progress(const Json& cluster_version) {
  const std::string_view message = kube::condition_text(cluster_version, "Progressing", "message");
  if (!message.empty()) {
    const bool is_updating = kube::condition_status(cluster_version, "Progressing") == "True";
    return fmt::format("{}{}\n\n", is_updating ? "info: An upgrade is in progress. " : "", message);
  }
  return "warning: ClusterVersion version has no status yet\n\n";
}

std::string graph_settings(const Json& cluster_version) {
  const std::string channel = text_of(cluster_version, {"spec", "channel"});
  const std::string upstream = text_of(cluster_version, {"spec", "upstream"});
  std::string text;
  if (!channel.empty() || !upstream.empty()) {
    text += upstream.empty() ? "Upstream is unset.\n" : fmt::format("Upstream: {}\n", upstream);
    const std::vector<std::string> channels = texts_of(cluster_version, {"status", "desired", "channels"});
    text += fmt::format("Channel: {}{}\n", channel.empty() ? "unset" : channel,
                        channels.empty() ? "" : fmt::format(" (available channels: {})", join(channels, ", ")));
    text += "\n";
    if (kube::condition_status(cluster_version, "RetrievedUpdates") == "False")
      text += block(cluster_version, "RetrievedUpdates", "warning: Cannot display available updates:");
  }
  return text;
}

std::string updates(const Json& cluster_version) {
  const JsonArray& available = find_array(cluster_version, {"status", "availableUpdates"});
  const bool has_conditional = !find_array(cluster_version, {"status", "conditionalUpdates"}).empty();
  std::string text;
  if (available.empty()) {
    text =
        "No updates available. You may still update to a release image with `slipway upgrade --to IMAGE`, on platform local also "
        "with `slipway upgrade --release DIR`.\n";
  } else {
    std::vector<std::vector<std::string>> rows = {{"VERSION", "IMAGE"}};
    for (const Json& update : available) rows.push_back({text_of(update, {"version"}), text_of(update, {"image"})});
    text = "Recommended updates:\n\n" + table(rows) + "\nTo update: `slipway upgrade --to VERSION`.\n";
  }
  if (has_conditional) text += "\nSome updates are not recommended: `slipway upgrade --to VERSION` says why.\n";
  return text;
}

// What a pool waits for, or why it fails.
std::string pool_message(const Json& pool) {
  if (kube::condition_status(pool, "Degraded") == "True")
    return fmt::format("Degraded: {}", kube::condition_text(pool, "Degraded", "message"));
  return std::string(kube::condition_text(pool, "Updating", "message"));
}

// The version that a ClusterOperator has reached; empty if it reports none.
std::string operator_version(const Json& cluster_operator) {
  for (const Json& version : find_array(cluster_operator, {"status", "versions"})) {
    if (text_of(version, {"name"}) == "operator") return text_of(version, {"version"});
  }
  return "";
}

std::string operator_message(const Json& cluster_operator) {
  if (kube::condition_status(cluster_operator, "Available") == "False")
    return fmt::format("not Available: {}", kube::condition_text(cluster_operator, "Available", "message"));
  if (kube::condition_status(cluster_operator, "Degraded") == "True")
    return fmt::format("Degraded: {}", kube::condition_text(cluster_operator, "Degraded", "message"));
  if (kube::condition_status(cluster_operator, "Progressing") == "True")
    return std::string(kube::condition_text(cluster_operator, "Progressing", "message"));
  return "";
}

}  // namespace

std::string reason_and_message(const Json& object, std::string_view type) {
  const std::string_view reason = kube::condition_text(object, type, "reason");
  const std::string_view message = kube::condition_text(object, type, "message");
  return fmt::format("{}{}{}", reason, reason.empty() || message.empty() ? "" : ": ", message);
}

std::string upgrade_report(const Json& cluster_version) {
  std::string text;
  const std::string_view failing = kube::condition_status(cluster_version, "Failing");
  if (!failing.empty() && failing != "False") text += block(cluster_version, "Failing", fmt::format("Failing={}:", failing));
  text += progress(cluster_version);
  if (kube::condition_status(cluster_version, "Upgradeable") == "False")
    text += block(cluster_version, "Upgradeable", "Upgradeable=False");
  const std::string_view accepted = kube::condition_status(cluster_version, "ReleaseAccepted");
  if (!accepted.empty() && accepted != "True")
    text += block(cluster_version, "ReleaseAccepted", fmt::format("ReleaseAccepted={}", accepted));
  return text + graph_settings(cluster_version) + updates(cluster_version);
}

std::string upgrade_details(const Json& cluster_version, const std::vector<Json>& pools, const std::vector<Json>& operators) {
  std::string text;
  if (!pools.empty()) {
    std::vector<std::vector<std::string>> rows = {{"POOL", "UPDATED", "MESSAGE"}};
    for (const Json& pool : pools) {
      rows.push_back({std::string(kube::name_of(pool)),
                      fmt::format("{} of {}", integer_of(pool, {"status", "updatedMachineCount"}),
                                  integer_of(pool, {"status", "machineCount"})),
                      pool_message(pool)});
    }
    text += "Machines:\n\n" + table(rows);
  }
  const std::string desired = text_of(cluster_version, {"status", "desired", "version"});
  std::vector<std::vector<std::string>> behind = {{"OPERATOR", "VERSION", "MESSAGE"}};
  for (const Json& each : operators) {
    const std::string version = operator_version(each);
    if (version == desired) continue;
    behind.push_back({std::string(kube::name_of(each)), version.empty() ? "none" : version, operator_message(each)});
  }
  if (!text.empty()) text += "\n";
  if (behind.size() == 1) return text + fmt::format("All operators have reached {}.\n", desired);
  return text + fmt::format("Operators that have not reached {}:\n\n", desired) + table(behind);
}

}  // namespace slipway::cluster
