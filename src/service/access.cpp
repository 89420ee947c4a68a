#include "service/access.h"

#include "base/digest.h"
#include "net/x509.h"

#include <fmt/core.h>

namespace slipway::service {

namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t secret_length = 43;  // 256 bits
constexpr std::size_t id_length = 36;

// Takes the same time whatever the texts have in common.
bool is_equal(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

Error not_yours() { return error(Code::not_found, "no such object"); }

bool owns_cluster(const Caller& caller, const World& world, std::string_view id) {
  if (!caller.cluster.empty()) return caller.cluster == id;
  const auto infra_env = look_up(world.infra_envs, caller.infra_env);
  return infra_env && infra_env->cluster == id && !id.empty();
}

bool owns_infra_env(const Caller& caller, const World& world, std::string_view id) {
  if (caller.cluster.empty()) return caller.infra_env == id;
  const auto infra_env = look_up(world.infra_envs, id);
  return infra_env && infra_env->cluster == caller.cluster;
}

Result<> check_user(const World& world, const Caller& caller, const Target& target) {
  if (target.cluster.empty() && target.infra_env.empty()) return Ok{};  // lists, which show what belongs to the caller
  if (!target.cluster.empty() && !owns_cluster(caller, world, target.cluster)) return not_yours();
  if (!target.infra_env.empty() && !owns_infra_env(caller, world, target.infra_env)) return not_yours();
  return Ok{};
}

Result<> check_host(const World& world, const Caller& caller, const Target& target) {
  if (!target.infra_env.empty() && (target.infra_env != caller.infra_env || target.host != caller.host)) return not_yours();
  if (target.cluster.empty()) return Ok{};
  const auto record = look_up(world.hosts, host_key(caller.infra_env, caller.host));
  if (!record || record->host.cluster != target.cluster) return not_yours();
  return Ok{};
}

// The controller reports hosts of its cluster, and the cluster.
Result<> check_controller(const World& world, const Caller& caller, const Target& target) {
  if (!target.cluster.empty() && target.cluster != caller.cluster) return not_yours();
  if (target.infra_env.empty()) return Ok{};
  const auto record = look_up(world.hosts, host_key(target.infra_env, target.host));
  if (!record || record->host.cluster != caller.cluster) return not_yours();
  return Ok{};
}

}  // namespace

Result<std::string> issue_token(Edit& edit, sys::Random& random, TokenRecord spec) {
  spec.id = TRY(sys::random_uuid(random));
  const std::string secret = TRY(sys::random_text(random, secret_length, alphabet));
  std::string token = fmt::format("{}.{}", spec.id, secret);
  spec.digest = sha256_hex(token);
  spec.issued = edit.now();
  edit.put(std::move(spec));
  return token;
}

Result<Caller> caller_of(const World& world, std::string_view token, WallTime now) {
  if (token.empty()) return error(Code::denied, "a token is required (header X-Secret-Key, or Authorization: Bearer)");
  const auto record = look_up(world.tokens, token.substr(0, id_length));
  if (!record || !is_equal(sha256_hex(token), record->digest)) return error(Code::denied, "the token is unknown or was revoked");
  if (record->expires <= now) return error(Code::denied, "the token has expired");
  return Caller{.kind = record->kind,
                .cluster = record->cluster,
                .infra_env = record->infra_env,
                .host = record->host,
                .file = record->file,
                .token = record->id,
                .expires = record->expires};
}

Result<Caller> caller_of_url(const World& world, std::string_view token, WallTime now) {
  Caller caller = TRY(caller_of(world, token, now));
  if (caller.kind == TokenKind::image || caller.kind == TokenKind::file) return caller;
  return error(Code::denied,
               "a token of kind {} must not be in a URL (get one for images with downloads/image-url, one for a file of a "
               "cluster with downloads/files-presigned)",
               to_string(caller.kind));
}

std::string_view token_in(const net::ServerRequest& request) {
  constexpr std::string_view bearer = "Bearer ";
  if (const auto key = request.header("X-Secret-Key"); key && !key->empty()) return *key;
  const std::string_view authorization = request.header("Authorization").value_or("");
  // Clients that are generated from the public description send the token alone.
  return authorization.starts_with(bearer) ? authorization.substr(bearer.size()) : authorization;
}

Result<> check_access(const World& world, const Caller& caller, const Audience& audience, const Target& target) {
  const Error wrong_kind = error(Code::denied, "a token of kind {} may not do this", to_string(caller.kind));
  switch (caller.kind) {
    case TokenKind::admin: return Ok{};
    case TokenKind::user:
      if (!audience.user) return wrong_kind;
      return check_user(world, caller, target);
    case TokenKind::agent:
      if (!audience.agent) return wrong_kind;
      if (target.infra_env != caller.infra_env) return not_yours();
      return Ok{};
    case TokenKind::host:
      if (!audience.host) return wrong_kind;
      return check_host(world, caller, target);
    case TokenKind::image:
      if (!audience.image) return wrong_kind;
      if (target.infra_env != caller.infra_env) return not_yours();
      return Ok{};
    case TokenKind::file:
      if (!audience.file) return wrong_kind;
      if (target.cluster != caller.cluster) return not_yours();
      return Ok{};
    case TokenKind::controller: break;
  }
  if (!audience.controller) return wrong_kind;
  return check_controller(world, caller, target);
}

Result<> check_signature(const net::ServerRequest& request, std::string_view public_key) {
  const auto header = request.header("X-Host-Signature");
  if (!header) return error(Code::denied, "the request is not signed by the key of the host (header X-Host-Signature)");
  const Result<std::string> signature = base64_decode(*header);
  if (!signature.ok()) return error(Code::denied, "header X-Host-Signature: not base64");
  const std::string target = request.query.empty() ? request.path : fmt::format("{}?{}", request.path, request.query);
  const std::string text = fmt::format("{} {}\n{}", request.method, target, sha256_hex(request.body));
  const Result<bool> is_valid = net::is_signature_of(public_key, text, signature.value());
  if (!is_valid.ok() || !is_valid.value())
    return error(Code::denied, "the signature of the request is not one of the key of this host");
  return Ok{};
}

}  // namespace slipway::service
