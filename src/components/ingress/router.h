// The routers of one IngressController: a Deployment, its Services, and its PodDisruptionBudget.
#pragma once

#include "components/controller/reconcile.h"
#include "components/ingress/settings.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::ingress {

inline constexpr std::string_view controller_label = "ingresscontroller.operator.openshift.io/deployment-ingresscontroller";

struct Router {
  Settings settings;
  int replicas = 1;
  std::string image;
  std::string certificate;  // name of a Secret that is there
};

std::string deployment_name(std::string_view controller);

// errors: internal: a template does not fit
Result<std::vector<DesiredObject>> router_wishes(const Router& router, const ClusterFacts& facts);

// Removes what routers of controllers have that are not in the list, and Services that the strategy of one does not want any
// more.
std::vector<DesiredObject> left_overs(const std::map<std::string, Admission>& controllers, const Snapshot& seen);

}  // namespace slipway::components::ingress
