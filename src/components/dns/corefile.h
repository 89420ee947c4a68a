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
  std::string text;                   // what is refused is not in it
  std::vector<std::string> refusals;  // sentences
};

// CoreDNS refuses the whole of a file for one bad word in it, so every text of the settings is checked first. errors: invalid: a
// hole of the templates without a value
Result<Corefile> make_corefile(const Json& settings);

}  // namespace slipway::components::dns
