// Discovery environments.
#include "service/api_parts.h"

#include <fmt/core.h>

namespace slipway::service {

namespace {

Result<> check_cluster_exists(const World& world, const JsonObject& given) {
  const std::string id = text_of(given, {"cluster_id"});
  if (!id.empty()) TRY(cluster_of(world, id));
  return Ok{};
}

// Tokens of images, tokens that register hosts, and those of the hosts themselves if `all`.
void revoke_tokens(Edit& edit, const std::string& infra_env, bool all) {
  for (const auto& [id, token] : Table<TokenRecord>(edit.world().tokens)) {
    const bool is_of_image = token->kind == TokenKind::agent || token->kind == TokenKind::image;
    if (token->infra_env == infra_env && (all || is_of_image)) edit.remove(Kind::token, id);
  }
}

// With the URL of the image if that needs no token. Otherwise each URL has a token of its own (downloads/image-url).
Json shown(const Api& api, const InfraEnvRecord& record) {
  Json view = view_of(record);
  if (!api.options.authenticates && api.base_image.content().ok()) view.get_object()["download_url"] = image_url(api, record.id);
  return view;
}

Answer infra_env_answer(Api& api, int status, const std::string& id) {
  const auto record = TRY(api.core.look([&](const World& world) { return infra_env_of(world, id); }));
  return json_answer(status, shown(api, *record));
}

EventRecord event_of_infra_env(const InfraEnvRecord& record, std::string name, std::string_view message) {
  return {.name = std::move(name),
          .cluster = record.cluster,
          .infra_env = record.id,
          .message = fmt::format("Infra-env {}: {}", record.name, message)};
}

}  // namespace

Answer create_infra_env(Api& api, const Call& call) {
  const JsonObject given = TRY(read_fields(call.request.body, infra_env_fields(), "infra-env"));
  for (const char* needed : {"name", "pull_secret"}) {
    if (text_of(given, {needed}).empty()) return error(Code::invalid, "infra-env: {}: missing", needed);
  }
  const std::string id = TRY(sys::random_uuid(api.environment.random));
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    TRY(check_cluster_exists(edit.world(), given));
    InfraEnvRecord record{
        .id = id, .name = text_of(given, {"name"}), .cluster = text_of(given, {"cluster_id"}), .settings = given};
    record.created = record.updated = edit.now();
    TRY(check_image(api, record));
    edit.add(event_of_infra_env(record, "infra_env_registered", "registered"));
    edit.put(std::move(record));
    return Ok{};
  }));
  return infra_env_answer(api, 201, id);
}

Answer list_infra_envs(Api& api, const Call& call) {
  const World world =
      api.core.look([](const World& all) { return World{.infra_envs = all.infra_envs, .clusters = all.clusters}; });
  JsonArray list;
  for (const auto& [id, record] : world.infra_envs) {
    const std::string cluster = call["cluster_id"];
    if (!cluster.empty() && record->cluster != cluster) continue;
    if (check_access(world, call.caller, {.user = true}, {.infra_env = id}).ok()) list.push_back(shown(api, *record));
  }
  return json_answer(200, list);
}

Answer get_infra_env(Api& api, const Call& call) { return infra_env_answer(api, 200, call.target.infra_env); }

Answer update_infra_env(Api& api, const Call& call) {
  JsonObject given = TRY(read_fields(call.request.body, infra_env_fields(), "infra-env"));
  if (given.contains("cluster_id"))
    return error(Code::invalid, "infra-env: cluster_id: cannot change (bind single hosts to a cluster)");
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    InfraEnvRecord record = *TRY(infra_env_of(edit.world(), call.target.infra_env));
    keep_logins(given, record.settings, infra_env_fields());
    for (const auto& member : given) record.settings[member.key()] = member.value();
    if (const std::string name = text_of(given, {"name"}); !name.empty()) record.name = name;
    TRY(check_image(api, record));
    record.updated = edit.now();
    edit.add(event_of_infra_env(record, "infra_env_updated", "settings changed"));
    edit.put(std::move(record));
    return Ok{};
  }));
  return infra_env_answer(api, 201, call.target.infra_env);
}

Answer delete_infra_env(Api& api, const Call& call) {
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    const std::string& id = call.target.infra_env;
    const auto record = TRY(infra_env_of(edit.world(), id));
    const auto hosts = edit.world().hosts_of_infra_env(id);
    if (!hosts.empty()) return error(Code::conflict, "infra-env {} has {} hosts: delete them first", record->name, hosts.size());
    revoke_tokens(edit, id, true);
    edit.add(event_of_infra_env(*record, "infra_env_deregistered", "deregistered"));
    edit.remove(Kind::infra_env, id);
    return Ok{};
  }));
  return empty_answer(204);
}

Answer regenerate_signing_key(Api& api, const Call& call) {
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    const auto record = TRY(infra_env_of(edit.world(), call.target.infra_env));
    revoke_tokens(edit, record->id, false);
    edit.add(event_of_infra_env(*record, "image_info_updated", "all tokens of images and discovery configs were revoked"));
    return Ok{};
  }));
  return empty_answer(204);
}

}  // namespace slipway::service
