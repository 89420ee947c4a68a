#include "components/controller/operand.h"

#include "base/number.h"
#include "base/text.h"

#include <algorithm>

namespace slipway::components {

namespace {

constexpr std::string_view ready_annotation = "operator.openshift.io/revision-ready";

// One part per line: "secrets/etcd-all-certs", followed by " optional" if it may be missing.
std::string lines_of(const std::vector<Part>& parts) {
  std::string lines;
  for (const Part& part : parts) lines += fmt::format("{}/{}{}\n", part.folder(), part.name, part.is_optional ? " optional" : "");
  return lines;
}

Result<std::vector<Part>> parts_of(std::string_view lines) {
  std::vector<Part> parts;
  for (std::string_view line : split(lines, '\n')) {
    if (line.empty()) continue;
    const std::size_t slash = line.find('/');
    const std::string_view folder = line.substr(0, slash);
    if (slash == std::string_view::npos || (folder != "configmaps" && folder != "secrets")) {
      return error(Code::invalid, "'{}' is not a part of a pod (must be configmaps/NAME or secrets/NAME)", line);
    }
    const std::string_view rest = line.substr(slash + 1);
    const std::size_t blank = rest.find(' ');
    parts.push_back({folder == "secrets" ? Part::Kind::secret : Part::Kind::config_map, std::string(rest.substr(0, blank)),
                     blank != std::string_view::npos && rest.substr(blank) == " optional"});
  }
  return parts;
}

NodeStatus parse_node_status(const Json& entry) {
  NodeStatus status{.node = text_of(entry, {"nodeName"}),
                    .current = integer_of(entry, {"currentRevision"}),
                    .target = integer_of(entry, {"targetRevision"}),
                    .last_failed = integer_of(entry, {"lastFailedRevision"}),
                    .last_failed_count = integer_of(entry, {"lastFailedCount"}),
                    .last_failed_reason = text_of(entry, {"lastFailedReason"}),
                    .last_failed_errors = {},
                    .last_failed_time = text_of(entry, {"lastFailedTime"})};
  for (const Json& line : find_array(entry, {"lastFailedRevisionErrors"})) {
    if (line.is_string()) status.last_failed_errors.emplace_back(line.get_string());
  }
  return status;
}

void put_or_leave_out(JsonObject& entry, std::string_view key, Json value, bool is_zero) {
  if (is_zero) {
    entry.erase(key);
  } else {
    entry[key] = std::move(value);
  }
}

JsonObject node_status_object(JsonObject entry, const NodeStatus& status) {
  entry["nodeName"] = status.node;
  // The CRD refuses a current revision in a new entry, and its removal.
  if (status.current > 0) entry["currentRevision"] = status.current;
  put_or_leave_out(entry, "targetRevision", status.target, status.target == 0);
  put_or_leave_out(entry, "lastFailedRevision", status.last_failed, status.last_failed == 0);
  put_or_leave_out(entry, "lastFailedTime", Json(status.last_failed_time), status.last_failed_time.empty());
  put_or_leave_out(entry, "lastFailedReason", Json(status.last_failed_reason), status.last_failed_reason.empty());
  put_or_leave_out(entry, "lastFailedCount", status.last_failed_count, status.last_failed_count == 0);
  JsonArray errors;
  for (const std::string& line : status.last_failed_errors) errors.emplace_back(line);
  put_or_leave_out(entry, "lastFailedRevisionErrors", std::move(errors), status.last_failed_errors.empty());
  return entry;
}

}  // namespace

const kube::ResourceType& Part::type() const { return kind == Kind::secret ? kube::types::secrets : kube::types::config_maps; }

std::string_view Part::folder() const { return kind == Kind::secret ? "secrets" : "configmaps"; }

std::string revision_folder(const Operand& operand, int revision) { return fmt::format("{}-{}", operand.pod_config(), revision); }

std::string certificate_folder(const Operand& operand) { return operand.name + "-certs"; }

Json revision_object(const Operand& operand, const Revision& revision) {
  JsonObject data{{"revision", std::to_string(revision.number)},
                  {"reason", revision.reason},
                  {"revisioned", lines_of(revision.revisioned)},
                  {"unversioned", lines_of(revision.unversioned)}};
  if (!revision.forced.empty()) data["forceRedeploymentReason"] = revision.forced;
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata",
           {{"name", fmt::format("{}{}", revision_prefix, revision.number)},
            {"namespace", operand.space},
            {"annotations", {{ready_annotation, "true"}}}}},
          {"data", std::move(data)}};
}

Result<Revision> parse_revision(const Json& object) {
  Revision revision{.number = 0,
                    .reason = text_of(object, {"data", "reason"}),
                    .revisioned = {},
                    .unversioned = {},
                    .forced = text_of(object, {"data", "forceRedeploymentReason"})};
  const std::string name = text_of(object, {"metadata", "name"});
  const std::string number = text_of(object, {"data", "revision"});
  revision.number = parse_number<int>(number).value_or(0);
  if (revision.number <= 0 || name != fmt::format("{}{}", revision_prefix, revision.number)) {
    return error(Code::invalid, "ConfigMap {}: data.revision: '{}' differs from the number in its name", name, number);
  }
  revision.revisioned =
      TRY(parts_of(find_string(object, {"data", "revisioned"}).value_or("")).context(name + ": data.revisioned"));
  revision.unversioned =
      TRY(parts_of(find_string(object, {"data", "unversioned"}).value_or("")).context(name + ": data.unversioned"));
  return revision;
}

std::vector<NodeStatus> parse_node_statuses(const Json& settings) {
  std::vector<NodeStatus> statuses;
  for (const Json& entry : find_array(settings, {"status", "nodeStatuses"})) statuses.push_back(parse_node_status(entry));
  return statuses;
}

Json with_node_statuses(Json settings, const std::vector<NodeStatus>& statuses) {
  JsonObject status = find_object(settings, {"status"});
  const JsonArray& known = find_array(settings, {"status", "nodeStatuses"});
  JsonArray entries;
  for (const NodeStatus& wanted : statuses) {
    const auto before =
        std::find_if(known.begin(), known.end(), [&](const Json& entry) { return text_of(entry, {"nodeName"}) == wanted.node; });
    entries.push_back(
        node_status_object(before != known.end() && before->is_object() ? before->get_object() : JsonObject(), wanted));
  }
  status["nodeStatuses"] = std::move(entries);
  settings.as_object()["status"] = std::move(status);
  return settings;
}

int wanted_revision(const Json& settings, std::string_view node) {
  for (const NodeStatus& status : parse_node_statuses(settings)) {
    if (status.node != node) continue;
    if (status.target > 0) return status.target;
    if (status.current > 0) return status.current;
  }
  return integer_of(settings, {"status", "latestAvailableRevision"});
}

}  // namespace slipway::components
