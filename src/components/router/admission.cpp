#include "components/router/admission.h"

#include "base/text.h"
#include "components/controller/object_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace slipway::components::router {

namespace {

constexpr std::string_view claimed = "HostAlreadyClaimed";

struct Claim {
  std::string space;                         // namespace of the oldest route
  std::map<std::string, std::string> names;  // full names of routes, by path
};

// Claims host and path for the route; returns why that is not possible, or an empty string.
std::string claim_host_and_path(std::map<std::string, Claim>& claims, const Route& route, bool shares_hosts) {
  Claim& claim = claims.try_emplace(route.host, Claim{route.space, {}}).first->second;
  if (!shares_hosts && claim.space != route.space) {
    return fmt::format("an older route in another namespace has the host {}", route.host);
  }
  // A path and the same path with all below it are different.
  const auto [place, is_new] = claim.names.emplace((route.is_exact ? "=" : "") + route.path, route.full_name());
  if (is_new) return "";
  if (!place->second.starts_with(route.space + "/")) {
    return fmt::format("an older route in another namespace has {}{}", route.host, route.path);
  }
  return fmt::format("the older route {} has {}{}", place->second.substr(route.space.size() + 1), route.host, route.path);
}

std::optional<std::set<std::string, std::less<>>> chosen_spaces(const Snapshot& seen, const Options& options) {
  if (options.namespace_labels.empty()) return std::nullopt;
  std::set<std::string, std::less<>> names;
  for (const Json* space : seen.list(kube::types::namespaces)) names.emplace(kube::name_of(*space));
  return names;
}

Json condition_of(const Verdict& verdict, const Json* before, WallTime now) {
  const std::string status = verdict.is_admitted ? "True" : "False";
  Json condition = {{"type", "Admitted"}, {"status", status}};
  if (!verdict.reason.empty()) condition.as_object()["reason"] = verdict.reason;
  if (!verdict.message.empty()) condition.as_object()["message"] = verdict.message;
  const std::string_view since = before ? find_string(*before, {"lastTransitionTime"}).value_or("") : "";
  const bool is_same = !since.empty() && find_string(*before, {"status"}) == std::string_view(status);
  condition.as_object()["lastTransitionTime"] = is_same ? std::string(since) : to_rfc3339(std::chrono::floor<Seconds>(now));
  return condition;
}

const Json* find_admitted(const Json& entry) {
  for (const Json& condition : find_array(entry, {"conditions"})) {
    if (find_string(condition, {"type"}) == "Admitted") return &condition;
  }
  return nullptr;
}

Json entry_of(const Verdict& verdict, const Json* before, const Options& options, WallTime now) {
  Json entry = {{"host", verdict.host},
                {"routerName", options.name},
                {"wildcardPolicy", "None"},
                {"conditions", JsonArray{condition_of(verdict, before ? find_admitted(*before) : nullptr, now)}}};
  if (!options.canonical_hostname.empty()) entry.as_object()["routerCanonicalHostname"] = options.canonical_hostname;
  return entry;
}

}  // namespace

Admission admit(const Snapshot& seen, const Options& options, const AdmissionContext& admission_context) {
  Admission admission;
  const auto spaces = chosen_spaces(seen, options);
  std::map<std::string, Claim> claims;
  struct Candidate {
    const Json* object;
    RouteResult result;
  };
  std::vector<Candidate> candidates;
  for (const Json* object : seen.list(kube::types::routes)) {
    if (spaces && !spaces->contains(kube::namespace_of(*object))) continue;
    if (is_terminating(*object)) continue;
    candidates.push_back({object, read_route(*object, options, admission_context.has_service_ca)});
  }
  std::ranges::sort(candidates, {}, [](const Candidate& it) {
    return std::tuple(find_string(*it.object, {"metadata", "creationTimestamp"}).value_or(""), kube::namespace_of(*it.object),
                      kube::name_of(*it.object));
  });
  for (auto& [object, result] : candidates) {
    Verdict verdict{object, result.host};
    if (!result.route) {
      verdict.reason = result.refusal.reason;
      verdict.message = result.refusal.message;
    } else if (const auto out =
                   std::ranges::find(admission_context.left_out, *result.route, &std::pair<Route, std::string>::first);
               out != admission_context.left_out.end()) {
      verdict.reason = "ExtendedValidationFailed";
      verdict.message = "haproxy rejects this route: " + out->second;
    } else if (std::string owner = claim_host_and_path(claims, *result.route, options.shares_hosts); !owner.empty()) {
      verdict.reason = claimed;
      verdict.message = std::move(owner);
    } else {
      verdict.is_admitted = true;
      verdict.message = join(result.route->remarks, "; ");
      admission.routes.push_back(std::move(*result.route));
    }
    admission.verdicts.push_back(std::move(verdict));
  }
  return admission;
}

Plan plan_statuses(const Admission& admission, const Options& options, WallTime now) {
  Plan plan;
  for (const Verdict& verdict : admission.verdicts) {
    const JsonArray& before = find_array(*verdict.object, {"status", "ingress"});
    JsonArray entries;
    bool is_found = false;
    for (const Json& entry : before) {
      const bool is_ours = find_string(entry, {"routerName"}) == std::string_view(options.name);
      // Keeps only the first of this router's entries.
      if (is_ours && std::exchange(is_found, true)) continue;
      entries.push_back(is_ours ? entry_of(verdict, &entry, options, now) : entry);
    }
    if (!is_found) entries.push_back(entry_of(verdict, nullptr, options, now));
    if (entries == before) continue;
    Json object = *verdict.object;
    object.as_object()["status"] = {{"ingress", std::move(entries)}};
    plan.desired_objects.push_back({kube::types::routes, std::move(object), DesiredObject::How::status});
  }
  return plan;
}

}  // namespace slipway::components::router
