// The routers of one IngressController: a Deployment, its Services, and its PodDisruptionBudget.
#pragma once

#include "components/controller/reconcile.h"
#include "components/ingress/settings.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::ingress {

inline constexpr std::string_view controller_label = "ingresscontroller.operator.openshift.io/deployment-ingresscontroller";

// ConfigMap in the namespace of routers with the authorities that sign certificates of Services.
inline constexpr std::string_view service_ca_bundle = "service-ca-bundle";

struct Router {
  Settings settings;
  int replicas = 1;
  std::string image;
  std::string certificate;  // name of an existing Secret
};

std::string deployment_name(std::string_view controller);

// errors: internal: a template is invalid
Result<std::vector<DesiredObject>> router_objects(const Router& router, const ClusterFacts& facts);

// Removals of objects whose controller is not in `controllers`, and of Services that the strategy of a controller no longer
// needs.
std::vector<DesiredObject> obsolete_objects(const std::map<std::string, Admission>& controllers, const Snapshot& seen);

}  // namespace slipway::components::ingress
