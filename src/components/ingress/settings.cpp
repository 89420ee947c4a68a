#include "components/ingress/settings.h"

#include "base/text.h"
#include "components/controller/operand.h"
#include "components/controller/unused_settings.h"
#include "kube/conditions.h"
#include "kube/roles.h"
#include "net/url.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace slipway::components::ingress {

namespace {

constexpr std::array<std::pair<std::string_view, Publishing>, 3> strategies = {
    {{"HostNetwork", Publishing::host_network}, {"NodePortService", Publishing::node_port}, {"Private", Publishing::nobody}}};

// Fields of spec that this release ignores, and their defaults, which are not reported.
struct Ignored {
  std::string_view section;  // of spec; empty: spec itself
  std::string_view member;
  std::string_view default_value{};
};
constexpr std::array ignored_members = {Ignored{"", "closedClientConnectionPolicy", "Continue"},
                                        Ignored{"", "haproxyVersion"},
                                        Ignored{"", "httpCompression"},
                                        Ignored{"", "httpEmptyRequestsPolicy", "Respond"},
                                        Ignored{"", "httpErrorCodePages"},
                                        Ignored{"", "httpHeaders"},
                                        Ignored{"", "idleConnectionTerminationPolicy", "Immediate"},
                                        Ignored{"", "logging"},
                                        Ignored{"", "unsupportedConfigOverrides"},
                                        Ignored{"routeAdmission", "wildcardPolicy", "WildcardsDisallowed"},
                                        Ignored{"tuningOptions", "configurationManagement"},
                                        Ignored{"tuningOptions", "headerBufferBytes"},
                                        Ignored{"tuningOptions", "headerBufferMaxRewriteBytes"},
                                        Ignored{"tuningOptions", "healthCheckInterval"},
                                        Ignored{"tuningOptions", "reloadInterval"},
                                        Ignored{"tuningOptions", "tlsInspectDelay"}};

// Durations in spec.tuningOptions, and the environment variables of routers for them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> times = {
    {{"clientFinTimeout", "ROUTER_CLIENT_FIN_TIMEOUT"},
     {"clientTimeout", "ROUTER_DEFAULT_CLIENT_TIMEOUT"},
     {"connectTimeout", "ROUTER_DEFAULT_CONNECT_TIMEOUT"},
     {"httpKeepAliveTimeout", "ROUTER_SLOWLORIS_HTTP_KEEPALIVE"},
     {"serverFinTimeout", "ROUTER_DEFAULT_SERVER_FIN_TIMEOUT"},
     {"serverTimeout", "ROUTER_DEFAULT_SERVER_TIMEOUT"},
     {"tunnelTimeout", "ROUTER_DEFAULT_TUNNEL_TIMEOUT"}}};

// haproxy's maximum: it stores milliseconds in 31 bits.
constexpr Milliseconds longest{2'147'483'647};

int number_or(const Json& value, std::initializer_list<std::string_view> keys, int fallback) {
  const int number = integer_of(value, keys);
  return number == 0 ? fallback : number;
}

Result<Publishing> publishing_of(const Json& controller) {
  std::string type = text_of(controller, {"spec", "endpointPublishingStrategy", "type"});
  if (type.empty()) type = "HostNetwork";
  const auto* row = std::ranges::find(strategies, type, &std::pair<std::string_view, Publishing>::first);
  if (row == strategies.end()) {
    return error(Code::invalid,
                 "spec.endpointPublishingStrategy.type: {} is not supported, because this release creates no load balancers (use "
                 "HostNetwork, NodePortService or Private)",
                 type);
  }
  for (std::string_view member : {"hostNetwork", "nodePort", "private"}) {
    if (text_of(controller, {"spec", "endpointPublishingStrategy", member, "protocol"}) != "PROXY") continue;
    return error(Code::invalid, "spec.endpointPublishingStrategy.{}.protocol: PROXY is not supported by this release (use TCP)",
                 member);
  }
  return row->second;
}

Result<> put_placement(const Json& controller, const ClusterFacts& facts, Settings& settings) {
  const Json* selector = find(controller, {"spec", "nodePlacement", "nodeSelector"});
  if (asks_for_something(selector)) {
    if (!find_array(*selector, {"matchExpressions"}).empty()) {
      return error(Code::invalid, "spec.nodePlacement.nodeSelector: matchExpressions are not supported (use matchLabels)");
    }
    settings.node_selector = find_object(*selector, {"matchLabels"});
  } else {
    settings.node_selector[facts.is_on_control_plane ? kube::master_label : kube::worker_label] = "";
  }
  settings.node_selector["kubernetes.io/os"] = "linux";
  settings.tolerations = find_array(controller, {"spec", "nodePlacement", "tolerations"});
  if (settings.tolerations.empty() && !asks_for_something(selector) && facts.is_on_control_plane) {
    for (const char* role : {"master", "control-plane"}) {
      settings.tolerations.push_back(
          JsonObject{{"key", kube::role_label(role)}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
    }
  }
  return Ok{};
}

Result<> put_variables(const Json& controller, Settings& settings) {
  const auto put = [&](std::string_view name, std::string value) {
    if (!value.empty()) settings.variables.emplace_back(name, std::move(value));
  };
  const Json nothing;
  const Json* spaces = find(controller, {"spec", "namespaceSelector"});
  const Json* routes = find(controller, {"spec", "routeSelector"});
  put("NAMESPACE_LABELS", selector_text(spaces ? *spaces : nothing));
  put("ROUTE_LABELS", selector_text(routes ? *routes : nothing));
  if (text_of(controller, {"spec", "routeAdmission", "namespaceOwnership"}) == "InterNamespaceAllowed") {
    put("ROUTER_DISABLE_NAMESPACE_OWNERSHIP_CHECK", "true");
  }
  if (const int threads = integer_of(controller, {"spec", "tuningOptions", "threadCount"}))
    put("ROUTER_THREADS", std::to_string(threads));
  // -1 means as many as the machine allows.
  if (const int most = integer_of(controller, {"spec", "tuningOptions", "maxConnections"}); most > 0) {
    put("ROUTER_MAX_CONNECTIONS", std::to_string(most));
  }
  for (const auto& [member, variable] : times) {
    const std::string text = text_of(controller, {"spec", "tuningOptions", member});
    if (text.empty()) continue;
    const Milliseconds length = TRY(parse_duration(text).context(fmt::format("spec.tuningOptions.{}", member)));
    if (length.count() > 0) put(variable, fmt::format("{}ms", std::min(length, longest).count()));
  }
  if (text_of(controller, {"spec", "tlsSecurityProfile", "type"}) == "Modern") put("SSL_MIN_VERSION", "TLSv1.3");
  return Ok{};
}

Result<Settings> read_settings(const Json& controller, const ClusterFacts& facts) {
  if (!text_of(controller, {"spec", "clientTLS", "clientCertificatePolicy"}).empty()) {
    // Refused: if it were ignored, clients without a certificate would get access.
    return error(Code::invalid, "spec.clientTLS: this release does not verify client certificates");
  }
  Settings settings;
  settings.name = kube::name_of(controller);
  // The domain in use does not change, because Routes depend on it.
  settings.domain = text_of(controller, {"status", "domain"});
  if (settings.domain.empty()) settings.domain = text_of(controller, {"spec", "domain"});
  if (settings.domain.empty()) settings.domain = facts.domain;
  settings.publishing = TRY(publishing_of(controller));
  if (settings.publishing == Publishing::host_network) {
    const std::initializer_list<std::string_view> http = {"spec", "endpointPublishingStrategy", "hostNetwork", "httpPort"},
                                                  https = {"spec", "endpointPublishingStrategy", "hostNetwork", "httpsPort"},
                                                  stats = {"spec", "endpointPublishingStrategy", "hostNetwork", "statsPort"};
    settings.http_port = number_or(controller, http, settings.http_port);
    settings.https_port = number_or(controller, https, settings.https_port);
    settings.stats_port = number_or(controller, stats, settings.stats_port);
    if (std::set{settings.http_port, settings.https_port, settings.stats_port}.size() != 3) {
      return error(Code::invalid, "spec.endpointPublishingStrategy.hostNetwork: the three ports must be different");
    }
  }
  if (find(controller, {"spec", "replicas"})) settings.replicas = integer_of(controller, {"spec", "replicas"});
  TRY(put_placement(controller, facts, settings));
  settings.certificate = text_of(controller, {"spec", "defaultCertificate", "name"});
  TRY(put_variables(controller, settings));
  return settings;
}

bool is_admitted(const Json& controller) { return kube::condition_status(controller, "Admitted") == "True"; }

bool has_labels(const Json& node, const JsonObject& wanted) {
  const JsonObject& labels = find_object(node, {"metadata", "labels"});
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& each) {
    const Json* value = labels.if_contains(each.key());
    return value && *value == each.value();
  });
}

// "a in (b,c)"
std::string expression_text(const Json& expression) {
  const std::string key = text_of(expression, {"key"}), how = text_of(expression, {"operator"});
  if (how == "Exists") return key;
  if (how == "DoesNotExist") return "!" + key;
  std::vector<std::string> values;
  for (const Json& value : find_array(expression, {"values"})) {
    if (value.is_string()) values.emplace_back(std::string_view(value.get_string()));
  }
  return fmt::format("{} {} ({})", key, how == "NotIn" ? "notin" : "in", join(values, ","));
}

}  // namespace

Result<ClusterFacts> cluster_facts(const Snapshot& seen) {
  const Json& ingress = *TRY(of_installer(kube::types::ingresses, seen));
  const Json& infrastructure = *TRY(of_installer(kube::types::infrastructures, seen));
  ClusterFacts facts;
  facts.domain = TRY(require_string(ingress, {"spec", "domain"}).context("Ingress cluster"));
  facts.routes_domain = text_of(ingress, {"spec", "appsDomain"});
  if (facts.routes_domain.empty()) facts.routes_domain = facts.domain;
  const std::string uri =
      TRY(require_string(infrastructure, {"status", "apiServerInternalURI"}).context("Infrastructure cluster"));
  const net::Url api = TRY(net::parse_url(uri).context("status.apiServerInternalURI of Infrastructure cluster"));
  facts.api_host = api.host;
  facts.api_port = api.port;
  facts.is_on_control_plane = text_of(ingress, {"status", "defaultPlacement"}) == "ControlPlane";
  const std::string_view topology = facts.is_on_control_plane ? "controlPlaneTopology" : "infrastructureTopology";
  facts.is_single = text_of(infrastructure, {"status", topology}) == "SingleReplica";
  return facts;
}

Admission admit(const Json& controller, const ClusterFacts& facts) {
  Admission admission;
  const Json spec = find_object(controller, {"spec"});
  for (const Ignored& each : ignored_members) {
    const Json section = each.section.empty() ? spec : find_object(spec, {each.section});
    if (!asks_for_something(find(section, {each.member})) || find_string(section, {each.member}) == each.default_value) continue;
    admission.ignored.push_back(fmt::format("spec.{}{}{}", each.section, each.section.empty() ? "" : ".", each.member));
  }
  const std::string profile = text_of(controller, {"spec", "tlsSecurityProfile", "type"});
  if (profile == "Custom" || profile == "Old") admission.ignored.emplace_back("spec.tlsSecurityProfile");
  Result<Settings> settings = read_settings(controller, facts);
  if (settings.ok()) {
    admission.settings = std::move(settings).value();
  } else {
    admission.problem = settings.error().message();
  }
  return admission;
}

std::map<std::string, Admission> admit_all(const std::vector<const Json*>& controllers, const ClusterFacts& facts) {
  std::vector<const Json*> sorted = controllers;
  std::ranges::stable_sort(
      sorted, {}, [](const Json* controller) { return std::pair(!is_admitted(*controller), kube::name_of(*controller)); });
  std::map<std::string, Admission> all;
  std::map<std::string, std::string> owners;  // names of controllers, by domain
  for (const Json* controller : sorted) {
    Admission admission = admit(*controller, facts);
    if (admission.settings) {
      const auto [owner, is_first] = owners.emplace(admission.settings->domain, admission.settings->name);
      if (!is_first) {
        admission.problem = fmt::format("spec.domain: {} is the domain of IngressController {} (choose another domain)",
                                        owner->first, owner->second);
        admission.settings.reset();
      }
    }
    all.emplace(kube::name_of(*controller), std::move(admission));
  }
  return all;
}

int wanted_replicas(const Settings& settings, const ClusterFacts& facts, const Snapshot& seen) {
  if (settings.replicas) return *settings.replicas;
  const auto nodes = seen.list(kube::types::nodes);
  const auto fit = std::ranges::count_if(nodes, [&](const Json* node) { return has_labels(*node, settings.node_selector); });
  return std::clamp(static_cast<int>(fit), 1, facts.is_single ? 1 : 2);
}

std::string selector_text(const Json& selector) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : find_object(selector, {"matchLabels"})) {
    if (value.is_string()) parts.push_back(fmt::format("{}={}", std::string_view(key), std::string_view(value.get_string())));
  }
  for (const Json& expression : find_array(selector, {"matchExpressions"})) parts.push_back(expression_text(expression));
  std::ranges::sort(parts);
  return join(parts, ",");
}

std::string_view to_text(Publishing publishing) {
  return std::ranges::find(strategies, publishing, &std::pair<std::string_view, Publishing>::second)->first;
}

}  // namespace slipway::components::ingress
