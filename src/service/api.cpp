#include "service/api.h"

#include "base/number.h"
#include "base/text.h"
#include "service/api_parts.h"
#include "web/page.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::service {

namespace {

constexpr std::size_t usual_body = 1 << 20, logs_body = 64 << 20;

// The text without escapes; nullopt if an escape is broken.
std::optional<std::string> unescape(std::string_view text) {
  std::string found;
  while (!text.empty()) {
    if (text.front() == '%') {
      const auto byte = text.size() < 3 ? std::nullopt : parse_number<std::uint8_t>(text.substr(1, 2), 16);
      if (!byte) return std::nullopt;
      found += static_cast<char>(*byte);
      text.remove_prefix(3);
      continue;
    }
    found += text.front() == '+' ? ' ' : text.front();
    text.remove_prefix(1);
  }
  return found;
}

Result<std::map<std::string, std::string>> parse_query(std::string_view query) {
  std::map<std::string, std::string> found;
  if (query.empty()) return found;
  for (const std::string_view pair : split(query, '&')) {
    const std::size_t equal = pair.find('=');
    const auto key = unescape(pair.substr(0, equal));
    const auto value = equal == std::string_view::npos ? std::optional(std::string()) : unescape(pair.substr(equal + 1));
    if (!key || !value || !is_utf8(*key) || !is_utf8(*value)) return error(Code::invalid, "the query has a broken escape");
    found[*key] = *value;
  }
  return found;
}

struct Match {
  const Route* route = nullptr;
  Target target{};
  std::string name{}, token{};
};

// Whether the path is that of the route. IDs must be UUIDs.
std::optional<Match> match(const Route& route, std::string_view path) {
  Match found{.route = &route};
  const auto wanted = split(route.path, '/'), parts = split(path, '/');
  if (wanted.size() != parts.size()) return std::nullopt;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (wanted[i] == "{c}" || wanted[i] == "{i}" || wanted[i] == "{h}") {
      if (!is_uuid(parts[i])) return std::nullopt;
      std::string& id = wanted[i] == "{c}"   ? found.target.cluster
                        : wanted[i] == "{i}" ? found.target.infra_env
                                             : found.target.host;
      id = parts[i];
    } else if (wanted[i] == "{n}") {
      found.name = parts[i];
    } else if (wanted[i] == "{t}") {
      found.token = parts[i];
    } else if (wanted[i] == "{v}") {
      continue;
    } else if (wanted[i] != parts[i]) {
      return std::nullopt;
    }
  }
  return found;
}

struct Found {
  std::optional<Match> match;
  std::string allowed;  // other methods of the path
};

Found find_route(const net::ServerRequest& request) {
  Found found;
  const bool is_api = request.path.starts_with(api_prefix);
  const std::string_view path = std::string_view(request.path).substr(is_api ? api_prefix.size() : 0);
  for (const Route& route : is_api ? routes() : image_routes()) {
    std::optional<Match> candidate = match(route, path);
    if (!candidate) continue;
    if (route.method == request.method) {
      found.match = std::move(candidate);
      return found;
    }
    if (!found.allowed.empty()) found.allowed += ", ";
    found.allowed += route.method;
  }
  return found;
}

int status_of(Code code) {
  switch (code) {
    case Code::invalid: return 400;
    case Code::denied: return 403;
    case Code::not_found: return 404;
    case Code::conflict: return 409;
    case Code::too_large: return 413;
    case Code::unavailable:
    case Code::cancelled: return 503;
    case Code::timeout: return 504;
    case Code::internal: break;
  }
  return 500;
}

net::ServerAnswer error_answer(int status, std::string_view reason) {
  if (status == 401 || status == 403) return json_answer(status, {{"code", status}, {"message", reason}});
  return json_answer(
      status, {{"kind", "Error"}, {"id", status}, {"href", ""}, {"code", std::to_string(status)}, {"reason", to_utf8(reason)}});
}

// A host's agent signs its requests with its key, which another machine with the same token does not have.
Result<> check_host_signature(const Api& api, const Call& call, const Audience& audience) {
  const bool is_host = call.caller.kind == TokenKind::host;
  // Without authentication, whoever uses a route of agents alone must be the agent that registered.
  const bool is_agent_route = audience.host && !audience.user && !audience.controller && call.caller.kind == TokenKind::admin;
  if (!is_host && !is_agent_route) return Ok{};
  const std::string key = is_host ? host_key(call.caller.infra_env, call.caller.host) : call.key();
  const auto record = api.core.look([&](const World& world) { return look_up(world.hosts, key); });
  if (!record) return error(Code::not_found, "no such host");
  if (record->key.empty()) return Ok{};
  return check_signature(call.request, record->key);
}

// Objects of the path that do not exist are 404 for everybody.
Result<> check_exists(const World& world, const Target& target) {
  if (!target.cluster.empty()) TRY(cluster_of(world, target.cluster));
  if (!target.infra_env.empty()) TRY(infra_env_of(world, target.infra_env));
  if (!target.host.empty()) TRY(host_of(world, host_key(target.infra_env, target.host)));
  return Ok{};
}

}  // namespace

net::ServerAnswer json_answer(int status, const Json& body) {
  net::ServerAnswer answer = net::text_answer(status, emit_json(body, JsonStyle::compact), "application/json");
  answer.headers.push_back({"Cache-Control", "no-store"});
  return answer;
}

net::ServerAnswer empty_answer(int status) { return {.status = status}; }

net::ServerAnswer file_answer(std::string content, std::string_view name) {
  net::ServerAnswer answer = net::text_answer(200, std::move(content), "application/octet-stream");
  answer.headers.push_back({"Content-Disposition", fmt::format("attachment; filename=\"{}\"", name)});
  answer.headers.push_back({"Cache-Control", "no-store"});
  answer.headers.push_back({"X-Content-Type-Options", "nosniff"});
  return answer;
}

Result<std::shared_ptr<const ClusterRecord>> cluster_of(const World& world, const std::string& id) {
  if (auto record = look_up(world.clusters, id)) return record;
  return error(Code::not_found, "cluster {} does not exist", id);
}
Result<std::shared_ptr<const InfraEnvRecord>> infra_env_of(const World& world, const std::string& id) {
  if (auto record = look_up(world.infra_envs, id)) return record;
  return error(Code::not_found, "infra-env {} does not exist", id);
}
Result<std::shared_ptr<const HostRecord>> host_of(const World& world, const std::string& key) {
  if (auto record = look_up(world.hosts, key)) return record;
  return error(Code::not_found, "host {} does not exist", key.substr(key.find('/') + 1));
}

Result<JsonObject> body_object(const Call& call) {
  Json body = TRY(parse_json(call.request.body, "body"));
  if (!body.is_object()) return error(Code::invalid, "body: must be an object, is {}", kind_name(body));
  return std::move(body.get_object());
}

Result<> trigger(Edit& edit, const std::string& key, assist::HostTrigger trigger) {
  const auto record = TRY(host_of(edit.world(), key));
  const HostLook look = look_at(edit.world(), record);
  const assist::HostScene scene = look.scene(edit.now());
  const assist::HostChange change =
      assist::change_of(record->host.status, trigger, assist::host_facts(scene, record->validations, false));
  if (!change.refusal.empty()) {
    return error(Code::conflict, "host {} is {}: {}", record->host.id, assist::to_string(record->host.status), change.refusal);
  }
  if (change.status != record->host.status) set_status(edit, *record, change);
  return Ok{};
}

Result<> trigger(Edit& edit, const std::string& id, assist::ClusterTrigger trigger) {
  const auto record = TRY(cluster_of(edit.world(), id));
  const assist::ClusterChange change = assist::change_of(record->cluster.status, trigger, {});
  if (!change.refusal.empty()) {
    return error(Code::conflict, "cluster {} is {}: {}", record->cluster.name, assist::to_string(record->cluster.status),
                 change.refusal);
  }
  set_status(edit, *record, change);
  edit.touch_cluster(id);
  return Ok{};
}

void remove_host(Edit& edit, const std::string& key) {
  const auto record = look_up(edit.world().hosts, key);
  if (!record) return;
  for (const auto& [id, token] : Table<TokenRecord>(edit.world().tokens)) {
    if (!token->host.empty() && host_key(token->infra_env, token->host) == key) edit.remove(Kind::token, id);
  }
  edit.add(event_of(*record, "host_deregistered", EventSeverity::info, "deregistered"));
  edit.remove(Kind::host, key);
  if (!record->host.cluster.empty()) edit.touch_cluster(record->host.cluster);
}

Api::Api(net::Environment environment_, Core& core_, Feed& feed_, ApiOptions options_)
    : environment(std::move(environment_)),
      core(core_),
      feed(feed_),
      options(std::move(options_)),
      base_image(options.live_image) {}

net::ServerAnswer Api::answer(const net::ServerRequest& request) {
  if (request.path == "/health" || request.path == "/ready") return net::text_answer(200, "ok\n");
  if (const Result<> site = web::check_site(request, options.names); !site.ok()) {
    return error_answer(403, site.error().message());
  }
  if (std::optional<net::ServerAnswer> file = web::page_answer(request)) return std::move(*file);
  if (request.method == "GET" && request.path == "/page.json") {
    return json_answer(200, {{"kind", "assisted"}, {"needs_token", options.authenticates}});
  }
  const Found found = find_route(request);
  if (!found.match) {
    if (found.allowed.empty()) return error_answer(404, fmt::format("there is no {}", request.path));
    net::ServerAnswer answer = error_answer(405, fmt::format("{} is not allowed here, only {}", request.method, found.allowed));
    answer.headers.push_back({"Allow", found.allowed});
    return answer;
  }
  const Route& route = *found.match->route;
  Call call{
      .request = request, .caller = {}, .target = found.match->target, .name = found.match->name, .token = found.match->token};
  auto query = parse_query(request.query);
  if (!query.ok()) return error_answer(400, query.error().message());
  call.query = std::move(query).value();
  if (route.audience.image && call.token.empty()) call.token = call["image_token"];
  if (route.audience.file) call.token = call["api_key"];
  if (options.authenticates && !route.audience.anyone) {
    const Result<Caller> caller = core.look([&](const World& world) {
      return call.token.empty() ? caller_of(world, token_in(request), core.now()) : caller_of_url(world, call.token, core.now());
    });
    if (!caller.ok()) return error_answer(401, caller.error().message());
    call.caller = caller.value();
    if (!found.match->token.empty()) call.target.infra_env = call.caller.infra_env;
  }
  const auto run = [&]() -> Answer {
    TRY(core.look([&](const World& world) -> Result<> {
      if (!route.audience.anyone) TRY(check_access(world, call.caller, route.audience, call.target));
      return check_exists(world, call.target);
    }));
    if (const Result<> signature = check_host_signature(*this, call, route.audience); !signature.ok()) {
      return signature.error().code() == Code::denied ? error_answer(401, signature.error().message())
                                                      : Answer(signature.error());
    }
    return route.handler(*this, call);
  };
  Answer answer = run();
  if (answer.ok()) return std::move(answer).value();
  const int status = status_of(answer.error().code());
  if (status >= 500) environment.context.log.error("{} {}: {}", request.method, to_utf8(request.path), answer.error().message());
  return error_answer(status, answer.error().message());
}

std::size_t Api::body_limit(const net::ServerRequest& head) const {
  const Found found = find_route(head);
  if (!found.match || found.match->route->handler != post_logs) return usual_body;
  if (!options.authenticates) return logs_body;
  const bool may = core.look([&](const World& world) {
    const Result<Caller> caller = caller_of(world, token_in(head), core.now());
    return caller.ok() && check_access(world, caller.value(), found.match->route->audience, found.match->target).ok();
  });
  return may ? logs_body : usual_body;
}

std::optional<assist::Steps> Api::steps_of(const std::string& key) const {
  struct Seen {
    std::optional<HostLook> look;
    std::shared_ptr<const InfraEnvRecord> infra_env;
  };
  const Seen seen = core.look([&](const World& world) -> Seen {
    const auto record = look_up(world.hosts, key);
    if (!record) return {};
    return {look_at(world, record), look_up(world.infra_envs, record->host.infra_env)};
  });
  if (!seen.look) return std::nullopt;
  assist::StepSettings settings{.release_image = options.release_image,
                                .openshift_version = options.openshift_version,
                                .is_on_bootstrap_host = options.is_on_bootstrap_host};
  if (seen.infra_env) settings.time_servers = text_of(seen.infra_env->settings, {"additional_ntp_sources"});
  if (seen.look->cluster) {
    const std::string own = text_of(seen.look->cluster->settings, {"ocp_release_image"});
    if (!own.empty()) settings.release_image = own;
  }
  if (const Json* args = seen.look->host->overrides.if_contains("installer_args"))
    settings.installer_args = emit_json(*args, JsonStyle::compact);
  settings.ignition_token = text_of(seen.look->host->overrides, {"ignition_token"});
  return assist::steps_of(seen.look->scene(core.now()), settings);
}

}  // namespace slipway::service
