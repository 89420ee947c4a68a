// The settings of IngressControllers, with defaults from the cluster, and whether this release supports them. Pure.
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
// The IngressController that always exists.
inline constexpr std::string_view default_name = "default";

// Facts for all routers, from Ingress cluster and Infrastructure cluster.
struct ClusterFacts {
  std::string domain;         // "apps.demo.example.com"
  std::string routes_domain;  // domain of Routes without a host: spec.appsDomain, or `domain`
  std::string api_host;       // "api-int.demo.example.com"
  int api_port = 0;
  bool is_on_control_plane = false;  // status.defaultPlacement
  bool is_single = false;            // only one machine can run routers by default
};

// errors: not_found: an object does not exist; invalid: a required field is missing
Result<ClusterFacts> cluster_facts(const Snapshot& seen);

enum class Publishing {
  host_network,  // ports of the machines
  node_port,     // ports of a Service on all machines
  nobody,        // only inside the cluster
};

struct Settings {
  std::string name;
  std::string domain;
  Publishing publishing = Publishing::host_network;
  int http_port = 80, https_port = 443, stats_port = 1936;
  std::optional<int> replicas{};  // spec.replicas
  JsonObject node_selector{};
  JsonArray tolerations{};
  std::string certificate{};  // spec.defaultCertificate: a Secret in the routers' namespace; empty: the operator's certificate
  Texts variables{};          // environment variables of the routers

  bool operator==(const Settings&) const = default;
};

struct Admission {
  std::optional<Settings> settings{};  // nothing: refused
  std::string problem{};               // why it is refused
  std::vector<std::string> ignored{};  // fields that are set but not supported: "spec.logging"
};

// Checks one IngressController, independent of others.
Admission admit(const Json& controller, const ClusterFacts& facts);

// Checks all controllers; the result is by name. If two have the same domain, the one that already serves it is admitted,
// otherwise
// the first by name.
std::map<std::string, Admission> admit_all(const std::vector<const Json*>& controllers, const ClusterFacts& facts);

// The number of routers: spec.replicas; otherwise two, or one on a single machine. The default never exceeds the number of
// machines, because two routers on a machine would need the same ports.
int wanted_replicas(const Settings& settings, const ClusterFacts& facts, const Snapshot& seen);

// A label selector as text: "a=b,c in (d,e),!f". Empty when it selects everything.
std::string selector_text(const Json& selector);

// The value for spec and status: "HostNetwork".
std::string_view to_text(Publishing publishing);

}  // namespace slipway::components::ingress
