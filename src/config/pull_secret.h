// The rules of a pull secret, the logins for registries of container images: https://docs.podman.io, containers-auth.json. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway::config {

enum class Registries { some, none_is_fine };

// What is wrong with it, each as the rest of a sentence ("has no registries in 'auths'"); empty if it is right. Problems never
// quote the secret, not even broken parts.
std::vector<std::string> problems_of_pull_secret(std::string_view text, Registries needed);

}  // namespace slipway::config
