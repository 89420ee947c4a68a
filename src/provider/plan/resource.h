// The resources of a cluster on a platform: networks, volumes, machines. A platform's plan lists all that a cluster needs there.
// Pure.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::plan {

struct Resource {
  std::string kind;                  // of the platform: "network", "volume", "machine"
  std::string name;                  // on the platform, unique in its kind: "demo-x7k2p-master-0"
  std::string machine{};             // the machine that it belongs to: "master-0"; empty: to the whole cluster
  std::vector<std::string> needs{};  // keys of the resources that must exist before this one
  Json spec = JsonObject();          // how the platform creates it; without secrets
  bool is_shared = false;            // other clusters may use it too

  std::string key() const { return kind + "/" + name; }

  bool operator==(const Resource&) const = default;
};

// A text of the specification; empty if it is missing.
std::string text(const Resource& resource, std::string_view name);

using Plan = std::vector<Resource>;

// The plan in groups: the resources of a group need only those of earlier groups, so each group can be created in parallel. Keeps
// the order of the plan within a group.
//
//   errors  internal: two resources with the same key, a needed resource is not in the plan, resources need each other
Result<std::vector<Plan>> in_order(const Plan& plan);

// The resources that belong to one of the machines, and all resources that they need.
Plan of_machines(const Plan& plan, const std::vector<std::string>& machines);

}  // namespace slipway::provider::plan
