// The status of an IngressController. Pure.
#pragma once

#include "components/controller/conditions.h"
#include "components/ingress/settings.h"

#include <string>
#include <vector>

namespace slipway::components::ingress {

struct RouterState {
  const Admission& admission;
  const Json* deployment = nullptr;   // the current Deployment; null: it does not exist
  std::vector<const Json*> pods{};    // pods of the Deployment
  std::string certificate_problem{};  // why routers do not serve spec.defaultCertificate
};

// All conditions of the IngressController; Available, Progressing and Degraded summarize the others.
std::vector<Condition> router_conditions(const RouterState& state);

// The controller with its whole status: conditions, domain, publishing strategy, selector and number of routers.
Json with_status(Json controller, const RouterState& state, WallTime now);

}  // namespace slipway::components::ingress
