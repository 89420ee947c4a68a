// The configuration of CoreDNS, from the settings DNS.operator.openshift.io default. Pure.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::dns {

inline constexpr std::string_view cluster_domain = "cluster.local";

struct Corefile {
  std::string text;                   // without refused settings
  std::vector<std::string> refusals;  // why settings are refused, a message for each
};

// Checks every text of the settings, because CoreDNS rejects a whole file for one invalid word.
// errors: invalid: a placeholder of a template has no value
Result<Corefile> make_corefile(const Json& settings);

}  // namespace slipway::components::dns
