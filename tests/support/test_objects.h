// Small objects for tests of controllers.
#pragma once

#include "base/json.h"

#include <string_view>
#include <utility>

namespace slipway::testing_support {

// A ConfigMap in kube-system.
inline Json config_map(std::string_view name, Json data = JsonObject(), Json annotations = JsonObject()) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", name}, {"namespace", "kube-system"}, {"annotations", std::move(annotations)}}},
          {"data", std::move(data)}};
}

// A Node with the label `zone`.
inline Json node(std::string_view name, std::string_view zone) {
  return {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", name}, {"labels", {{"zone", zone}}}}}};
}

}  // namespace slipway::testing_support
