// The certificate authorities in a kubeconfig.
#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::kube {

// Inserts authorities before the existing ones of every cluster in a kubeconfig. nullopt if all clusters already have them.
// Keeps the other content, except for comments and formatting. Pure.
//
//   name    name of the kubeconfig in messages
//   bundle  certificates, PEM
//   errors  invalid: a missing or malformed certificate, a cluster without certificate-authority-data, malformed YAML
Result<std::optional<std::string>> add_authorities(std::string_view kubeconfig, std::string_view name, std::string_view bundle);

// Whether `kubeconfig` differs from `before` only by added authorities. Pure.
bool has_only_more_authorities(std::string_view kubeconfig, std::string_view before);

}  // namespace slipway::kube
