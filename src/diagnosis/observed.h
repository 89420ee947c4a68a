// What the walk in why.cpp asks about each kind of object: what is broken about it, and on which objects it depends. Pure.
#pragma once

#include "diagnosis/snapshot.h"
#include "diagnosis/why.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::diagnosis {

// A broken link without what its row in links.h says.
struct Broken {
  std::string_view name;  // of the row
  std::string sentence;
  std::optional<WallTime> since{};
  std::string subject{};  // for the {} of the row's next step; empty: the key of the object
};
using AllBroken = std::vector<Broken>;

// Each returns what is broken about the object with this key, in the order in which a chain shows it. Links that are younger than
// their patience are among them. Empty if nothing is broken, or if there is no such object.

// observed_api.cpp: the API, operators, pools, certificate requests
AllBroken look_at_api(const Snapshot& snapshot, const std::string& key);
AllBroken look_at_release(const Snapshot& snapshot, const std::string& key);
AllBroken look_at_operator(const Snapshot& snapshot, const std::string& key);
AllBroken look_at_pool(const Snapshot& snapshot, const std::string& key);
AllBroken look_at_request(const Snapshot& snapshot, const std::string& key);

// observed_pods.cpp: pods, and what applications need
AllBroken look_at_pod(const Snapshot& snapshot, const std::string& key);
AllBroken look_at_claim(const Snapshot& snapshot, const std::string& key);
AllBroken look_at_route(const Snapshot& snapshot, const std::string& key);

// observed_machines.cpp: nodes, machines, what they reach, the host
AllBroken look_at_node(const Snapshot& snapshot, const std::string& key);
AllBroken look_at_machine(const Snapshot& snapshot, const std::string& key);
AllBroken look_at_reach(const Snapshot& snapshot, const std::string& key);  // key: the machine that tries
AllBroken look_at_host(const Snapshot& snapshot, const std::string& key);

// Namespaces and static pods of an operator.
std::vector<std::string> pods_of_operator(const Snapshot& snapshot, const std::string& key);
// Names of the nodes of a pool.
std::vector<std::string> nodes_of_pool(const Snapshot& snapshot, const std::string& key);
// Pods that serve a Route: those of the router, and those of its Service.
std::vector<std::string> pods_of_route(const Snapshot& snapshot, const std::string& key);
// Claims that a pod mounts: "NAMESPACE/NAME".
std::vector<std::string> claims_of_pod(const Json& pod);

// The messages of Kubernetes Events about an object with these reasons, the latest one; nothing if there is none.
struct EventSeen {
  std::string reason, message;
  std::optional<WallTime> last{};
};
std::optional<EventSeen> last_event(const Snapshot& snapshot, std::string_view kind, const std::string& key,
                                    std::initializer_list<std::string_view> reasons);

// The state "Ready" of a pod that has ended successfully does not matter.
bool is_finished(const Json& pod);

// When the condition got its status; nothing if the object has no such condition, or it no such time.
std::optional<WallTime> condition_since(const Json& object, std::string_view type);

// ": TEXT", shortened; empty for an empty text.
std::string quoted(std::string_view text);

}  // namespace slipway::diagnosis
