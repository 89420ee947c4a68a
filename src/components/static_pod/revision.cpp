#include "components/static_pod/revision.h"

#include "base/number.h"
#include "base/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace slipway::components {

namespace {

constexpr long default_limit = 5;

int number_of(std::string_view text) { return std::max(0, parse_number<int>(text).value_or(0)); }

bool is_account_token(const Json& object) { return find_string(object, {"type"}) == "kubernetes.io/service-account-token"; }

// The part, if it can be copied. Null while it is missing.
const Json* live_part(const Operand& operand, const Part& part, const Snapshot& seen) {
  const Json* object = seen.find(part.type(), operand.space, part.name);
  // The token is added a moment after the Secret is created.
  if (object && is_account_token(*object) && find_object(*object, {"data"}).empty()) return nullptr;
  return object;
}

// A copy without its label, because a comparison of copies ignores the label.
Json copy_of(const Operand& operand, const Part& part, const Json& live, int number) {
  JsonObject copy{{"apiVersion", "v1"},
                  {"kind", part.type().kind},
                  {"metadata", {{"name", fmt::format("{}-{}", part.name, number)}, {"namespace", operand.space}}}};
  // The copy of a token gets another type: the API server deletes a token that it did not create.
  if (const Json* type = find(live, {"type"})) copy["type"] = is_account_token(live) ? Json("Opaque") : *type;
  for (const char* key : {"data", "binaryData"}) {
    if (const JsonObject& texts = find_object(live, {key}); !texts.empty()) copy[key] = texts;
  }
  return copy;
}

std::string name_of(const Part& part) { return fmt::format("{} {}", part.type().kind, part.name); }

std::map<int, const Json*> markers_of(const Operand& operand, const Snapshot& seen) {
  std::map<int, const Json*> markers;
  for (const Json* object : seen.list(kube::types::config_maps, operand.space)) {
    const std::string_view name = kube::name_of(*object);
    if (!name.starts_with(revision_prefix)) continue;
    if (const int number = number_of(name.substr(revision_prefix.size()))) markers[number] = object;
  }
  return markers;
}

// Whether the copy in a revision has the current data of the part.
bool is_same(const Operand& operand, const Part& part, const Json& live, int number, const Snapshot& seen) {
  return is_fulfilled({part.type(), copy_of(operand, part, live, number)}, seen);
}

bool has_part(const std::vector<Part>& parts, const Part& part) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Part& other) { return other.kind == part.kind && other.name == part.name; });
}

// Why a new revision is needed; empty if the latest is up to date.
std::vector<std::string> reasons(const Operand& operand, const Revision& latest, const Revision& wanted, const Snapshot& seen) {
  std::vector<std::string> reasons;
  for (const Part& part : wanted.revisioned) {
    if (!has_part(latest.revisioned, part)) {
      reasons.push_back(name_of(part) + " is new");
    } else if (!seen.find(part.type(), operand.space, fmt::format("{}-{}", part.name, latest.number))) {
      reasons.push_back(fmt::format("copy {}-{} was deleted", name_of(part), latest.number));
    } else if (!is_same(operand, part, *live_part(operand, part, seen), latest.number, seen)) {
      reasons.push_back(name_of(part) + " changed");
    }
  }
  for (const Part& part : latest.revisioned) {
    if (!has_part(wanted.revisioned, part)) reasons.push_back(name_of(part) + " was removed");
  }
  if (latest.unversioned != wanted.unversioned) reasons.push_back("the list of unversioned parts changed");
  if (latest.forced != wanted.forced) {
    reasons.push_back(wanted.forced.empty() ? "spec.forceRedeploymentReason was cleared"
                                            : fmt::format("spec.forceRedeploymentReason: {}", wanted.forced));
  }
  return reasons;
}

// Creates the copies first, and the marker when all copies are in the snapshot.
Plan plan_next(const Operand& operand, const Revision& next, const Snapshot& seen) {
  Plan plan;
  for (const Part& part : next.revisioned) {
    Json copy = copy_of(operand, part, *live_part(operand, part, seen), next.number);
    copy.at("metadata").as_object()["labels"] = {{revision_label, std::to_string(next.number)}};
    DesiredObject desired{part.type(), std::move(copy)};
    if (!is_fulfilled(desired, seen)) plan.desired_objects.push_back(std::move(desired));
  }
  if (plan.desired_objects.empty())
    plan.desired_objects.push_back({kube::types::config_maps, revision_object(operand, next), DesiredObject::How::create});
  return plan;
}

// How many revisions stay in addition to those in use; negative: all.
long limit_of(const Json& settings) {
  const long succeeded = integer_of(settings, {"spec", "succeededRevisionLimit"});
  const long failed = integer_of(settings, {"spec", "failedRevisionLimit"});
  if (succeeded < 0 || failed < 0) return -1;
  const long limit = std::max(succeeded, failed);
  return limit == 0 ? default_limit : limit;
}

Plan plan_removal(const Operand& operand, const Json& settings, int latest, const std::map<int, const Json*>& markers,
                  const Snapshot& seen) {
  std::set<int> kept{latest};
  for (const NodeStatus& node : parse_node_statuses(settings)) kept.insert({node.current, node.target});
  long left = limit_of(settings);
  for (auto marker = markers.rbegin(); marker != markers.rend(); ++marker) {
    if (left == 0 || kept.contains(marker->first)) continue;
    kept.insert(marker->first);
    --left;
  }
  Plan plan;
  const auto remove = [&](const kube::ResourceType& type, const Json& object, int number) {
    // A number above the latest belongs to the revision that is being created.
    if (number <= 0 || number > latest || kept.contains(number)) return;
    plan.desired_objects.push_back({type,
                                    {{"apiVersion", "v1"},
                                     {"kind", type.kind},
                                     {"metadata", {{"name", kube::name_of(object)}, {"namespace", operand.space}}}},
                                    DesiredObject::How::remove});
  };
  for (const auto& [number, marker] : markers) remove(kube::types::config_maps, *marker, number);
  for (const kube::ResourceType& type : {kube::types::config_maps, kube::types::secrets}) {
    for (const Json* object : seen.list(type, operand.space)) {
      remove(type, *object, number_of(find_string(*object, {"metadata", "labels", revision_label}).value_or("")));
    }
  }
  return plan;
}

}  // namespace

RevisionState plan_revision(const Operand& operand, const Json& settings, const Snapshot& seen, bool may_begin) {
  RevisionState state;
  const std::map<int, const Json*> markers = markers_of(operand, seen);
  // A marker that cannot be read is ignored, but its number is not used again.
  Revision latest;
  for (auto marker = markers.rbegin(); marker != markers.rend() && latest.number == 0; ++marker) {
    if (Result<Revision> parsed = parse_revision(*marker->second); parsed.ok()) latest = std::move(parsed).value();
  }
  state.latest = latest.number;
  state.reason = latest.reason;

  Revision next{.number = 0,
                .reason = {},
                .revisioned = {},
                .unversioned = operand.unversioned,
                .forced = text_of(settings, {"spec", "forceRedeploymentReason"})};
  for (const Part& part : operand.revisioned) {
    if (live_part(operand, part, seen)) {
      next.revisioned.push_back(part);
    } else if (!part.is_optional) {
      state.missing.push_back(fmt::format("{} {}/{}", part.type().kind, operand.space, part.name));
    }
  }
  const int published = static_cast<int>(integer_of(settings, {"status", "latestAvailableRevision"}));
  std::vector<std::string> causes;
  if (state.latest == 0 && published == 0) {
    causes = {"first"};
  } else if (published > state.latest) {
    causes = {fmt::format("revision {} was deleted", published)};
  } else {
    causes = reasons(operand, latest, next, seen);
  }
  state.is_current = state.missing.empty() && causes.empty();
  if (may_begin && state.missing.empty() && !causes.empty()) {
    next.number = std::max({published, markers.empty() ? 0 : markers.rbegin()->first}) + 1;
    next.reason = join(causes, "; ");
    state.plan = plan_next(operand, next, seen);
  }
  state.plan.add(plan_removal(operand, settings, state.latest, markers, seen));
  return state;
}

}  // namespace slipway::components
