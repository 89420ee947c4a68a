// Registry credentials from a pull secret or a docker config.json: {"auths": {"host[/path]": {"auth": "base64"}}}.
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "release/reference.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace slipway::release {

struct Login {
  std::string user;
  Secret password;
};

class Credentials {
 public:
  // errors: invalid, listing all problems with their fields; messages never contain credentials
  static Result<Credentials> parse(std::string_view text, std::string_view name);

  // key: "registry.example.com:5000" or "registry.example.com/team"; replaces its login.
  void set(const std::string& key, Login login) { logins_.insert_or_assign(key, std::move(login)); }

  // The login with the longest key that is a prefix of registry/repository at a path boundary.
  std::optional<Login> find(const Reference& repository) const;

 private:
  std::map<std::string, Login> logins_;
};

}  // namespace slipway::release
