#include "release/credentials.h"

#include "base/digest.h"
#include "base/findings.h"
#include "base/json.h"

namespace slipway::release {

namespace {

// Normalizes the forms of keys that tools write: "host", "host/path", "https://host/v1/", and "https://index.docker.io/v1/" for
// docker.io.
std::string normal_key(std::string_view key) {
  for (std::string_view scheme : {"https://", "http://"}) {
    if (key.starts_with(scheme)) key.remove_prefix(scheme.size());
  }
  while (key.ends_with('/')) key.remove_suffix(1);
  for (std::string_view version : {"/v1", "/v2"}) {
    if (key.ends_with(version)) key.remove_suffix(version.size());
  }
  return std::string(key == "index.docker.io" ? "docker.io" : key);
}

// Messages must not contain any part of the value.
Result<Login> parse_auth(std::string_view auth) {
  Result<std::string> decoded = base64_decode(auth);
  if (!decoded.ok()) return error(Code::invalid, "must be base64 of USER:PASSWORD");
  const Secret text(std::move(decoded).value());
  const std::size_t colon = text.reveal().find(':');
  if (colon == std::string::npos) return error(Code::invalid, "must be base64 of USER:PASSWORD, has no colon");
  return Login{.user = text.reveal().substr(0, colon), .password = Secret(text.reveal().substr(colon + 1))};
}

}  // namespace

Result<Credentials> Credentials::parse(std::string_view text, std::string_view name) {
  const Json document = TRY(parse_json(text, name));
  const Place place{.file = std::string(name)};
  Findings findings;
  Credentials credentials;
  const Json* auths = slipway::find(document, {"auths"});
  if (auths == nullptr || !auths->is_object()) {
    findings.error(place, "auths", "must be an object")
        .hint("for example {\"auths\": {\"registry.example.com\": {\"auth\": \"...\"}}}");
  }
  for (const auto& [key, entry] : find_object(document, {"auths"})) {
    const std::string field = fmt::format("auths.\"{}\"", std::string_view(key));
    const Json* auth = slipway::find(entry, {"auth"});
    if (!entry.is_object()) {
      findings.error(place, field, "must be an object");
    } else if (auth != nullptr && !auth->is_string()) {
      findings.error(place, field + ".auth", "must be a string");
    } else if (auth != nullptr) {
      Result<Login> login = parse_auth(auth->get_string());
      if (login.ok())
        credentials.logins_.insert_or_assign(normal_key(key), std::move(login).value());
      else
        findings.error(place, field + ".auth", "{}", login.error().message());
    }
  }
  TRY(findings.to_result());
  return credentials;
}

std::optional<Login> Credentials::find(const Reference& repository) const {
  std::string key = repository.registry + "/" + repository.repository;
  for (;;) {
    if (auto found = logins_.find(key); found != logins_.end()) return found->second;
    const std::size_t slash = key.rfind('/');
    if (slash == std::string::npos) return std::nullopt;
    key.resize(slash);
  }
}

}  // namespace slipway::release
