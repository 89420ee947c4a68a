// The authorities that a kubeconfig trusts for the servers of its clusters.
#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::kube {

// The kubeconfig with these authorities before those of every cluster in it; nothing when all of them are there
// already. What else stands in it stays, but for comments and the look of it. Pure.
//
//   name    of the kubeconfig, for messages
//   bundle  certificates, PEM
//   errors  invalid: no certificate where one has to be, a cluster without certificate-authority-data, no YAML
Result<std::optional<std::string>> add_authorities(std::string_view kubeconfig, std::string_view name, std::string_view bundle);

// Whether a kubeconfig is what becomes of another one when authorities are added to it. Pure.
bool has_only_more_authorities(std::string_view kubeconfig, std::string_view before);

}  // namespace slipway::kube
