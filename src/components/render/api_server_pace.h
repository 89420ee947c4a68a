// The end of API servers, which etcd members of the same machine wait for.
#pragma once

#include "components/render/inputs.h"

namespace slipway::components {

// How long an API server continues to run after TERM; see data/components/kube_apiserver/pace.yaml.
struct ApiServerPace {
  int delay = 0;  // seconds
  int grace = 0;

  bool operator==(const ApiServerPace&) const = default;
};
Result<ApiServerPace> api_server_pace(const Infrastructure& infrastructure, bool is_temporary);

}  // namespace slipway::components
