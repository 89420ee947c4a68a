#include "config/pull_secret.h"

#include "base/json.h"

#include <fmt/core.h>

namespace slipway::config {

std::vector<std::string> problems_of_pull_secret(std::string_view text, Registries needed) {
  const Result<Json> secret = parse_json(text, "pull secret");
  if (!secret.ok() || !secret->is_object()) return {"is not a JSON object"};
  const Json* auths = find(secret.value(), {"auths"});
  if (!auths || !auths->is_object() || (auths->get_object().empty() && needed == Registries::some)) {
    return {"has no registries in 'auths'"};
  }
  std::vector<std::string> problems;
  for (const auto& entry : auths->get_object()) {
    if (find(entry.value(), {"auth"}) || find(entry.value(), {"credsStore"})) continue;
    problems.push_back(fmt::format("has neither 'auth' nor 'credsStore' for {}", std::string_view(entry.key())));
  }
  return problems;
}

}  // namespace slipway::config
