// Objects that get the bundle of the authority: ConfigMaps, webhooks, the conversion of CustomResourceDefinitions and APIServices
// with an annotation. Pure.
#pragma once

#include "components/controller/view.h"

#include <string>
#include <vector>

namespace slipway::components::service_ca {

// The types that get it.
const std::vector<kube::ResourceType>& injected_types();

// What the operator keeps of an object of these types (View); null: it asks for no bundle.
Json reduce_injected(const Json& object);

struct Injection {
  const Json* object;
  kube::ResourceType type;
  Json wanted;            // of a ConfigMap the whole object, otherwise the fields to apply
  std::string problem{};  // why it is not done; empty: do it
};

// All objects that do not have the bundle yet.
std::vector<Injection> plan_injections(const Snapshot& seen, const std::string& bundle);

}  // namespace slipway::components::service_ca
