// Events, versions, tokens.
#include "base/number.h"
#include "base/text.h"
#include "service/api_parts.h"

#include <fmt/core.h>

namespace slipway::service {

namespace {

constexpr Milliseconds longest_life = std::chrono::hours(24 * 365), usual_life = std::chrono::hours(24);

std::vector<std::string> texts_in(const std::string& list) {
  std::vector<std::string> found;
  if (list.empty()) return found;
  for (const std::string_view each : split(list, ',')) found.emplace_back(each);
  return found;
}

Result<std::size_t> number_in(const Call& call, const std::string& key) {
  const std::string text = call[key];
  if (text.empty()) return std::size_t{0};
  const auto number = parse_number<std::uint32_t>(text);
  if (!number) return error(Code::invalid, "{}: must be a number that is not negative", key);
  return std::size_t{*number};
}

// The objects whose events a caller gets. A caller who may not see everything gets those of its own objects if it names none.
Result<Target> scope_of(Api& api, const Call& call) {
  Target scope{.cluster = call["cluster_id"], .infra_env = call["infra_env_id"]};
  for (const std::string& id : {scope.cluster, scope.infra_env}) {
    if (!id.empty() && !is_uuid(id)) return error(Code::invalid, "'{}' is no UUID", to_utf8(id));
  }
  if (call.caller.kind == TokenKind::admin) return scope;
  if (scope.cluster.empty() && scope.infra_env.empty()) {
    scope.cluster = call.caller.cluster;
    scope.infra_env = call.caller.infra_env;
  }
  if (scope.cluster.empty() && scope.infra_env.empty()) return error(Code::invalid, "cluster_id or infra_env_id is required");
  TRY(api.core.look([&](const World& world) { return check_access(world, call.caller, {.user = true}, scope); }));
  return scope;
}

}  // namespace

Answer list_events(Api& api, const Call& call) {
  const Target scope = TRY(scope_of(api, call));
  EventQuery query{.cluster = scope.cluster,
                   .infra_env = scope.infra_env,
                   .severities = texts_in(call["severities"]),
                   .message = call["message"]};
  query.hosts = texts_in(call["host_ids"].empty() ? call["host_id"] : call["host_ids"]);
  query.limit = TRY(number_in(call, "limit"));
  query.offset = TRY(number_in(call, "offset"));
  query.newest_first = call["order"] == "descending";
  query.cluster_level = call["cluster_level"] == "true";
  const EventPage page = TRY(api.core.events(query));
  JsonArray list;
  for (const EventRecord& event : page.events) list.push_back(view_of(event));
  net::ServerAnswer answer = json_answer(200, list);
  const char* names[] = {"Severity-Count-Info", "Severity-Count-Warning", "Severity-Count-Error", "Severity-Count-Critical"};
  for (std::size_t i = 0; i < page.of_severity.size(); ++i)
    answer.headers.push_back({names[i], std::to_string(page.of_severity[i])});
  answer.headers.push_back({"Event-Count", std::to_string(page.total)});
  return answer;
}

// Server-sent events. A client that lost the connection sends the last number that it saw, and misses nothing.
Answer stream_events(Api& api, const Call& call) {
  const Target scope = TRY(scope_of(api, call));
  const std::string last_text(call.request.header("Last-Event-ID").value_or(""));
  const auto last = last_text.empty() ? std::optional<std::int64_t>(0) : parse_number<std::int64_t>(last_text);
  if (!last || *last < 0) return error(Code::invalid, "Last-Event-ID: must be a number");
  const bool with_changes = call["changes"] == "true";
  Result<> failed = Ok{};
  const auto missed = [&]() -> std::vector<EventRecord> {
    // Clients that follow changes read the objects and their events when the stream begins.
    if (with_changes && last_text.empty()) return {};
    Result<EventPage> page = api.core.events({.cluster = scope.cluster, .infra_env = scope.infra_env, .after = *last});
    if (page.ok()) return std::move(page).value().events;
    failed = std::move(page).error();
    return {};
  };
  auto stream = api.feed.subscribe(
      {.cluster = scope.cluster, .infra_env = scope.infra_env, .host = call["host_id"], .with_changes = with_changes},
      {.id = call.caller.token, .expires = call.caller.expires}, *last, missed);
  TRY(std::move(failed));
  return net::ServerAnswer{.status = 200,
                           .headers = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}},
                           .stream = std::move(stream)};
}

Answer get_component_versions(Api& api, const Call&) {
  return json_answer(
      200, {{"release_tag", api.options.openshift_version}, {"versions", {{"slipway-assist", api.options.openshift_version}}}});
}

Answer get_openshift_versions(Api& api, const Call&) {
  return json_answer(200, {{api.options.openshift_version,
                            {{"display_name", api.options.openshift_version},
                             {"support_level", "production"},
                             {"cpu_architectures", JsonArray{"x86_64"}},
                             {"default", true}}}});
}

// What the service does not offer: other releases, domains of a provider, operators beyond those of the release.
Answer get_empty_list(Api&, const Call&) { return json_answer(200, JsonArray{}); }

Answer create_token(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  const std::string kind_name = TRY(require_string(body, {"kind"}));
  const auto kind = find_token_kind(kind_name);
  if (!kind || *kind == TokenKind::host || *kind == TokenKind::image || *kind == TokenKind::file) {
    return error(
        Code::invalid,
        "kind: '{}' is not admin, user, agent or controller (hosts get their tokens when they register, images and files with "
        "their URL)",
        to_utf8(kind_name));
  }
  TokenRecord spec{.kind = *kind, .cluster = text_of(body, {"cluster_id"}), .infra_env = text_of(body, {"infra_env_id"})};
  const bool has_cluster = !spec.cluster.empty(), has_infra_env = !spec.infra_env.empty();
  const bool fits = *kind == TokenKind::admin        ? !has_cluster && !has_infra_env
                    : *kind == TokenKind::user       ? has_cluster != has_infra_env
                    : *kind == TokenKind::controller ? has_cluster && !has_infra_env
                                                     : has_infra_env && !has_cluster;
  if (!fits) {
    return error(
        Code::invalid,
        "a token is for one object: cluster_id for controllers, infra_env_id for agents, one of both for users, none for "
        "administrators");
  }
  Milliseconds life = usual_life;
  if (const std::string text = text_of(body, {"expires_in"}); !text.empty())
    life = TRY(parse_duration(text).context("expires_in"));
  if (life <= Milliseconds(0) || life > longest_life)
    return error(Code::invalid, "expires_in: must be positive and at most a year (8760h)");
  std::string token;
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    if (has_cluster) TRY(cluster_of(edit.world(), spec.cluster));
    if (has_infra_env) TRY(infra_env_of(edit.world(), spec.infra_env));
    spec.expires = edit.now() + life;
    token = TRY(issue_token(edit, api.environment.random, spec));
    return Ok{};
  }));
  return json_answer(201, {{"id", token.substr(0, token.find('.'))}, {"token", token}, {"expires_at", to_rfc3339(spec.expires)}});
}

Answer list_tokens(Api& api, const Call&) {
  const auto tokens = api.core.look([](const World& world) { return world.tokens; });
  JsonArray list;
  for (const auto& [id, record] : tokens) list.push_back(view_of(*record));
  return json_answer(200, list);
}

Answer delete_token(Api& api, const Call& call) {
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    if (!look_up(edit.world().tokens, call.name)) return error(Code::not_found, "token {} does not exist", to_utf8(call.name));
    edit.remove(Kind::token, call.name);
    return Ok{};
  }));
  return empty_answer(204);
}

}  // namespace slipway::service
