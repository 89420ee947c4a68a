// Ingress objects (networking.k8s.io/v1) become Routes, as in OpenShift's controller `openshift.io/ingress-to-route`. What a
// Route cannot express is reported in Events of the Ingress.
#pragma once

#include "components/controller/reconcile.h"

#include <vector>

namespace slipway::components::ingress {

// The controller in IngressClass objects for which this one acts, and the class that it creates.
inline constexpr std::string_view ingress_controller_name = "openshift.io/ingress-to-route";
inline constexpr std::string_view ingress_class_name = "openshift-default";

std::vector<Watched> watched_for_ingresses();

// Routes, the status of Ingress objects, and the IngressClass. One Route for each path with a Service; Routes that an Ingress no
// longer asks for are removed. Kubernetes removes those of a deleted Ingress. A Route stays while its Service does not exist, so
// that no other namespace gets its host meanwhile. Pure.
Plan plan_ingresses(const Snapshot& seen);

// Runs until a stop. errors: those of reconcile()
Result<> keep_ingresses(const sys::Context& context, kube::Api& api);

}  // namespace slipway::components::ingress
