// The settings of IngressControllers, with those of the cluster for what they leave out, and whether this release supports them.
// Pure.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "components/controller/view.h"
#include "components/render/manifest.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::ingress {

inline constexpr std::string_view operator_space = "openshift-ingress-operator";
inline constexpr std::string_view router_space = "openshift-ingress";
inline constexpr std::string_view managed_space = "openshift-config-managed";
// The IngressController that is always there.
inline constexpr std::string_view default_name = "default";

// What the objects `cluster` of Ingress and Infrastructure say to all routers.
struct ClusterFacts {
  std::string domain;         // "apps.demo.example.com"
  std::string routes_domain;  // of Routes without a host of their own; `domain` unless spec.appsDomain is another
  std::string api_host;       // "api-int.demo.example.com"
  int api_port = 0;
  bool is_on_control_plane = false;  // status.defaultPlacement
  bool is_single = false;            // where routers go by default there is one machine
};

// errors: not_found: one of them is not there; invalid: what is needed is missing in it
Result<ClusterFacts> cluster_facts(const Snapshot& seen);

enum class Publishing {
  host_network,  // ports of the machines
  node_port,     // ports of a Service on all machines
  nobody,        // reached in the cluster only
};

struct Settings {
  std::string name;
  std::string domain;
  Publishing publishing = Publishing::host_network;
  int http_port = 80, https_port = 443, stats_port = 1936;
  std::optional<int> replicas{};  // when somebody asks for a number
  JsonObject node_selector{};
  JsonArray tolerations{};
  std::string certificate{};  // spec.defaultCertificate: a Secret beside the routers; empty: one of ours
  Texts variables{};          // what routers are told by variables of their environment

  bool operator==(const Settings&) const = default;
};

struct Admission {
  std::optional<Settings> settings{};  // nothing when it is refused
  std::string problem{};               // why
  std::vector<std::string> ignored{};  // "spec.logging": asked for, and not done by this release
};

// The IngressController itself, without a look at the others.
Admission admit(const Json& controller, const ClusterFacts& facts);

// All of them by name. Of two for the same domain the one that has it already stays, otherwise the first by name.
std::map<std::string, Admission> admit_all(const std::vector<const Json*>& controllers, const ClusterFacts& facts);

// How many routers there shall be: as asked for; else two, or one where there is one machine for them, and never more than there
// are machines: the others would have no port to listen on.
int wanted_replicas(const Settings& settings, const ClusterFacts& facts, const Snapshot& seen);

// A label selector as one text: "a=b,c in (d,e),!f". Empty when it selects everything.
std::string selector_text(const Json& selector);

// "HostNetwork" and so on, as spec and status have it.
std::string_view to_text(Publishing publishing);

}  // namespace slipway::components::ingress
