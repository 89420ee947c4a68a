// Puts what a FakeKube has into a View, as its watches would.
#pragma once

#include "components/controller/view.h"
#include "support/fake_kube.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::testing_support {

// Field and label selectors are ignored.
inline void deliver(const FakeKube& kube, const std::vector<components::Watched>& watched, components::View& view) {
  const components::Snapshot seen = view.snapshot();
  for (const components::Watched& each : watched) {
    std::vector<Json> present;
    for (const Json& object : kube.stored_all(each.type)) {
      if (!each.space.empty() && kube::namespace_of(object) != each.space) continue;
      Json kept = each.reduce ? each.reduce(object) : object;
      if (!kept.is_null()) present.push_back(std::move(kept));
    }
    for (const Json* known : seen.list(each.type, each.space)) {
      const std::string_view space = kube::namespace_of(*known), name = kube::name_of(*known);
      const bool is_present = std::ranges::any_of(
          present, [&](const Json& one) { return kube::namespace_of(one) == space && kube::name_of(one) == name; });
      if (!is_present) view.remove(each.type, space, name);
    }
    for (Json& one : present) view.put(std::move(one));
  }
}

}  // namespace slipway::testing_support
