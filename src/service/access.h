// Who may do what: tokens of the service, signatures of hosts.
#pragma once

#include "net/http_server.h"
#include "service/world.h"
#include "sys/random.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::service {

// Who a request comes from.
struct Caller {
  TokenKind kind = TokenKind::admin;
  std::string cluster{}, infra_env{}, host{};  // of the token
  std::string file{};                          // of a token for one file: its name
  std::string token{};                         // its ID; empty: the service takes requests without tokens
  WallTime expires{};
};

// Kinds of callers that a route is for, in addition to administrators.
struct Audience {
  bool user = false, agent = false, host = false, controller = false, image = false, file = false, anyone = false;
};

// The objects in the path of a request; empty: not in the path.
struct Target {
  std::string cluster{}, infra_env{}, host{};
};

// Makes a token and puts its record. The token is returned once and not kept. errors: internal
Result<std::string> issue_token(Edit& edit, sys::Random& random, TokenRecord spec);

// The caller with this token. errors: denied: missing, unknown or expired
Result<Caller> caller_of(const World& world, std::string_view token, WallTime now);

// The same for a token in a URL: only tokens of images and of single files are taken there, because URLs are written to logs.
Result<Caller> caller_of_url(const World& world, std::string_view token, WallTime now);

// The token of a request: X-Secret-Key, or Authorization: Bearer.
std::string_view token_in(const net::ServerRequest& request);

// Whether the caller may use a route for this target.
//
//   errors  denied: a caller of another kind; not_found: objects of others, which look as if they did not exist
Result<> check_access(const World& world, const Caller& caller, const Audience& audience, const Target& target);

// Whether the key signed the request: X-Host-Signature is the base64 of an ECDSA signature (SHA-256, DER) of
// "METHOD TARGET\nSHA256HEX(BODY)". errors: denied
Result<> check_signature(const net::ServerRequest& request, std::string_view public_key);

}  // namespace slipway::service
