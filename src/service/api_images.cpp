// Images of discovery environments, and what hosts boot from a network.
#include "base/digest.h"
#include "base/text.h"
#include "service/api_parts.h"
#include "service/discovery.h"
#include "service/images.h"

#include <fmt/core.h>

namespace slipway::service {

namespace {

constexpr Milliseconds life_of_agent_token = std::chrono::hours(24 * 7);
constexpr Milliseconds life_of_image_token = std::chrono::hours(4);
constexpr std::size_t longest_token = 128;

Answer parts_answer(const Call& call, const BaseImage::Content& base, std::vector<net::BodyPart> parts, std::string_view name) {
  const std::string tag = entity_tag(base, parts);
  net::ServerAnswer answer = net::ranged_answer(call.request, std::move(parts), tag);
  answer.headers.push_back({"Content-Type", "application/octet-stream"});
  answer.headers.push_back({"Content-Disposition", fmt::format("attachment; filename=\"{}\"", name)});
  // It contains a token, and only its owner may keep it.
  answer.headers.push_back({"Cache-Control", "private, no-cache"});
  return answer;
}

Result<std::string> image_config(Api& api, const Call& call) {
  if (api.options.authenticates && call.caller.kind != TokenKind::image)
    return error(Code::denied, "images are downloaded with the URL of downloads/image-url, which has a token of its own");
  const auto record = TRY(api.core.look([&](const World& world) { return infra_env_of(world, call.target.infra_env); }));
  const std::string token = api.options.authenticates ? agent_token_of(call.token) : "";
  return discovery_ignition(*record, {.url = api.options.url, .authority = api.options.authority, .token = token});
}

// Issues a token for the image of the environment, and that of its agent (images.h). Returns the former. errors: internal
Result<std::string> issue_image_token(Edit& edit, sys::Random& random, const InfraEnvRecord& record) {
  for (const auto& [id, old] : Table<TokenRecord>(edit.world().tokens)) {
    if (old->infra_env == record.id && old->expires <= edit.now()) edit.remove(Kind::token, id);
  }
  std::string token = TRY(
      issue_token(edit, random, {.kind = TokenKind::image, .infra_env = record.id, .expires = edit.now() + life_of_image_token}));
  const std::string of_agent = agent_token_of(token);
  edit.put(TokenRecord{.id = of_agent.substr(0, of_agent.find('.')),
                       .digest = sha256_hex(of_agent),
                       .kind = TokenKind::agent,
                       .infra_env = record.id,
                       .issued = edit.now(),
                       .expires = edit.now() + life_of_agent_token});
  return token;
}

// A token for the image of the path. errors: those of the core
Result<std::string> new_token(Api& api, const Call& call, std::string_view what) {
  std::string token;
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    const auto record = TRY(infra_env_of(edit.world(), call.target.infra_env));
    token = TRY(issue_image_token(edit, api.environment.random, *record));
    edit.add({.name = "image_info_updated",
              .cluster = record->cluster,
              .infra_env = record->id,
              .message = fmt::format("Infra-env {}: {} with a new token was made", record->name, what)});
    return Ok{};
  }));
  return token;
}

Answer url_answer(Api& api, const Call& call, std::string url) {
  const WallTime expires = api.core.now() + life_of_image_token;
  if (!api.options.authenticates) return json_answer(200, {{"url", url}});
  const std::string token = TRY(new_token(api, call, "a URL"));
  url += fmt::format("{}image_token={}", url.find('?') == std::string::npos ? "?" : "&", token);
  return json_answer(200, {{"url", url}, {"expires_at", to_rfc3339(expires)}});
}

Answer image_answer(Api& api, const Call& call) {
  const BaseImage::Content base = TRY(api.base_image.content());
  return parts_answer(call, base, TRY(iso_parts(base, TRY(image_config(api, call)))),
                      fmt::format("discovery-{}.iso", call.target.infra_env));
}

}  // namespace

Result<> check_image(const Api& api, const InfraEnvRecord& record) {
  const DiscoveryInputs inputs{
      .url = api.options.url, .authority = api.options.authority, .token = std::string(longest_token, 'x')};
  const std::string config = TRY(discovery_ignition(record, inputs));
  const Result<BaseImage::Content> base = api.base_image.content();
  const Result<std::string> area = release::embed_config(config, base.ok() ? base->image.config.length : usual_config_area);
  if (area.ok()) return Ok{};
  return error(Code::invalid, "infra-env: the discovery config is too large: {}", area.error().message());
}

std::string image_url(const Api& api, std::string_view infra_env) {
  return fmt::format("{}/images/{}?type=full-iso&arch=x86_64", api.options.url, infra_env);
}

Answer get_image_url(Api& api, const Call& call) {
  TRY(api.base_image.content());
  return url_answer(api, call, image_url(api, call.target.infra_env));
}

Answer get_presigned_url(Api& api, const Call& call) {
  const std::string name = call["file_name"];
  if (!is_infra_env_file(name)) return error(Code::not_found, "there is no such file (use discovery.ign or ipxe-script)");
  return url_answer(
      api, call,
      fmt::format("{}{}/infra-envs/{}/downloads/files?file_name={}", api.options.url, api_prefix, call.target.infra_env, name));
}

// The parameters of assisted-service; there is one version.
Answer get_image(Api& api, const Call& call) {
  const std::string type = call["type"], architecture = call["arch"];
  if (!type.empty() && type != "full-iso")
    return error(Code::invalid, "type: '{}' is not supported (use full-iso: the live system fetches nothing later)",
                 to_utf8(type));
  if (!architecture.empty() && architecture != "x86_64")
    return error(Code::invalid, "arch: '{}' is not supported (use x86_64)", to_utf8(architecture));
  return image_answer(api, call);
}

Answer get_image_by_path(Api& api, const Call& call) {
  if (call.name == "full.iso") return image_answer(api, call);
  return error(Code::not_found, "{} is not available (use full.iso)", to_utf8(call.name));
}

Answer get_pxe_initrd(Api& api, const Call& call) {
  const BaseImage::Content base = TRY(api.base_image.content());
  return parts_answer(call, base, TRY(initrd_parts(base, TRY(image_config(api, call)))), "initrd.img");
}

Answer get_boot_artifact(Api& api, const Call& call) {
  const BaseImage::Content base = TRY(api.base_image.content());
  if (call.name == "kernel") return parts_answer(call, base, kernel_parts(base), "vmlinuz");
  if (call.name == "rootfs") return parts_answer(call, base, TRY(rootfs_parts(base)), "rootfs.img");
  return error(Code::not_found, "there is no boot artifact {} (use kernel or rootfs)", to_utf8(call.name));
}

// Each download by a user has a token of its own, which ends after a week: an image that lies around does not stay a key.
Answer get_infra_env_file(Api& api, const Call& call) {
  const std::string name = call["file_name"], script_type = call["ipxe_script_type"];
  if (!is_infra_env_file(name)) return error(Code::not_found, "there is no such file (use discovery.ign or ipxe-script)");
  if (!script_type.empty() && script_type != "discovery-image-always")
    return error(Code::invalid, "ipxe_script_type: '{}' is not supported (use discovery-image-always)", to_utf8(script_type));
  std::string token;  // one that the service issued: the script repeats it
  if (api.options.authenticates) token = call.caller.kind == TokenKind::image ? call.token : TRY(new_token(api, call, name));
  if (name == "ipxe-script") {
    const BaseImage::Content base = TRY(api.base_image.content());
    const std::string query = token.empty() ? "" : "image_token=" + token;
    return file_answer(ipxe_script(api.options.url, call.target.infra_env, query, base.image), name);
  }
  const auto record = TRY(api.core.look([&](const World& world) { return infra_env_of(world, call.target.infra_env); }));
  const std::string of_agent = token.empty() ? "" : agent_token_of(token);
  return file_answer(
      TRY(discovery_ignition(*record, {.url = api.options.url, .authority = api.options.authority, .token = of_agent})), name);
}

}  // namespace slipway::service
