#include "machineconfig/registry_logins.h"

#include "base/characters.h"
#include "base/digest.h"
#include "base/json.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace slipway::machineconfig {

namespace {

// The registry of a key of "auths": "registry.example.com:5000", also written as a URL. Empty for a part of a registry.
std::string registry_of(std::string_view key) {
  // What docker login writes for Docker Hub, and the host that containerd asks.
  if (key == "https://index.docker.io/v1/" || key == "index.docker.io" || key == "docker.io") return "registry-1.docker.io";
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (key.starts_with(scheme)) key.remove_prefix(scheme.size());
  }
  while (key.ends_with('/')) key.remove_suffix(1);
  // It becomes the name of a table.
  const auto is_plain = [](char c) {
    return is_letter_or_digit(c) || std::string_view(".-:[]").find(c) != std::string_view::npos;
  };
  return std::ranges::all_of(key, is_plain) ? std::string(key) : "";
}

// The text of "user:password" in base64; empty if the entry has none.
std::string login_of(const Json& entry) {
  const std::string_view encoded = find_string(entry, {"auth"}).value_or("");
  if (!encoded.empty()) return base64_decode(encoded).ok() ? std::string(encoded) : "";
  const auto user = find_string(entry, {"username"}), password = find_string(entry, {"password"});
  return user && password ? base64_encode(fmt::format("{}:{}", *user, *password)) : "";
}

}  // namespace

Result<Secret> registry_logins(const Secret& pull_secret) {
  if (pull_secret.empty()) return Secret();
  const Result<Json> config = parse_json(pull_secret.reveal(), "pull secret");
  // The message of the parser may quote the secret.
  if (!config.ok() || !config->is_object()) return error(Code::invalid, "pull secret: not a JSON object");
  std::map<std::string, std::string> logins;
  const Json* auths = find(config.value(), {"auths"});
  if (auths && auths->is_object()) {
    for (const auto& entry : auths->get_object()) {
      const std::string registry = registry_of(entry.key());
      const std::string login = login_of(entry.value());
      if (!registry.empty() && !login.empty()) logins.emplace(registry, login);
    }
  }
  std::string text;
  for (const auto& [registry, login] : logins) {
    text += fmt::format("\n  [plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"{}\".auth]\n    auth = \"{}\"\n", registry,
                        login);
  }
  return Secret(std::move(text));
}

}  // namespace slipway::machineconfig
