// The status of an IngressController. Pure.
#pragma once

#include "components/controller/conditions.h"
#include "components/ingress/settings.h"

#include <string>
#include <vector>

namespace slipway::components::ingress {

struct RouterState {
  const Admission& admission;
  const Json* deployment = nullptr;   // as it is; null while there is none
  std::vector<const Json*> pods{};    // of the Deployment
  std::string certificate_problem{};  // why routers do not serve the certificate that was asked for
};

// All conditions of the IngressController; Available, Progressing and Degraded sum the others up.
std::vector<Condition> router_conditions(const RouterState& state);

// The controller with its whole status: conditions, domain, how it is published, selector and number of routers.
Json with_status(Json controller, const RouterState& state, WallTime now);

}  // namespace slipway::components::ingress
