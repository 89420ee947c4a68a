#include "components/ingress/ingress_routes.h"

#include "base/digest.h"
#include "base/text.h"
#include "components/controller/certificate_rotation.h"
#include "components/controller/object_parts.h"
#include "components/ingress/settings.h"
#include "kube/conditions.h"
#include "net/x509.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace slipway::components::ingress {

namespace {

constexpr std::string_view manager = "ingress-to-route";
constexpr std::string_view default_class = "ingressclass.kubernetes.io/is-default-class";
constexpr std::string_view class_annotation = "kubernetes.io/ingress.class";
constexpr std::string_view termination_annotation = "route.openshift.io/termination";
constexpr std::string_view authority_annotation = "route.openshift.io/destination-ca-certificate-secret";
constexpr std::string_view labels_annotation = "route.openshift.io/reconcile-labels";
// The router reads it: route.h of components/router.
constexpr std::string_view path_type_annotation = "router.slipway.internal/path-type";
// Of a Route: a digest of what this controller wrote. With it, a field that is no longer wanted makes a difference.
constexpr std::string_view digest_annotation = "ingress.slipway.internal/digest";
constexpr std::string_view applied_annotation = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::string_view problem_member = "problem";
constexpr std::size_t longest_prefix = 200;

// Annotations for other ingress controllers.
constexpr std::array<std::string_view, 5> foreign_prefixes = {"nginx.ingress.kubernetes.io/", "traefik.ingress.kubernetes.io/",
                                                              "haproxy.org/", "haproxy-ingress.github.io/",
                                                              "alb.ingress.kubernetes.io/"};

std::string annotation(const Json& object, std::string_view name) { return text_of(object, {"metadata", "annotations", name}); }

// ---- what the controller keeps of objects that it watches

JsonObject named(const Json& object) { return reduced(object, {"name", "namespace"}); }

Json reduce_service(const Json& service) {
  JsonObject kept = named(service);
  kept["spec"] = JsonObject{{"ports", find_array(service, {"spec", "ports"})}};
  return kept;
}

// Why a Secret cannot be the certificate of a Route; empty: it can.
std::string problem_of(const Json& secret) {
  const std::optional<std::string> pem = data_of(&secret, "tls.crt"), key = data_of(&secret, "tls.key");
  if (!pem || !key || pem->empty() || key->empty()) return "has no tls.crt or no tls.key";
  const Result<bool> fits = net::key_fits(*pem, Secret(*key));
  if (!fits.ok()) return fmt::format("cannot be used: {}", fits.error().message());
  return fits.value() ? "" : "cannot be used: tls.key is not the key of tls.crt";
}

Json reduce_secret(const Json& secret) {
  JsonObject kept = named(secret);
  kept["data"] = part_of(find_object(secret, {"data"}), {"tls.crt", "tls.key"});
  if (std::string problem = problem_of(secret); !problem.empty()) kept[problem_member] = std::move(problem);
  return kept;
}

// The name of the Ingress that owns a Route; empty: none does.
std::string owner_of(const Json& route) {
  for (const Json& reference : find_array(route, {"metadata", "ownerReferences"})) {
    if (find_string(reference, {"kind"}) == kube::types::ingress_objects.kind &&
        find_string(reference, {"apiVersion"}) == kube::types::ingress_objects.api_version()) {
      return text_of(reference, {"name"});
    }
  }
  return "";
}

Json reduce_route(const Json& route) {
  if (!owner_of(route).empty()) return route;
  return named(route);
}

// ---- classes

enum class Owner {
  ours,
  others,
  unknown,  // its class does not exist: nothing is changed
};

Owner owner_of_class(const Json& ingress, const Snapshot& seen) {
  std::string name = annotation(ingress, class_annotation);
  if (name.empty()) name = text_of(ingress, {"spec", "ingressClassName"});
  if (name.empty()) return Owner::ours;
  const Json* found = seen.find(kube::types::ingress_classes, "", name);
  if (!found) return Owner::unknown;
  return find_string(*found, {"spec", "controller"}) == ingress_controller_name ? Owner::ours : Owner::others;
}

DesiredObject class_object(const Snapshot& seen) {
  Json made = {{"apiVersion", kube::types::ingress_classes.api_version()},
               {"kind", kube::types::ingress_classes.kind},
               {"metadata", {{"name", ingress_class_name}}},
               {"spec",
                {{"controller", ingress_controller_name},
                 {"parameters",
                  {{"apiGroup", kube::types::ingress_controllers.group},
                   {"kind", kube::types::ingress_controllers.kind},
                   {"name", default_name},
                   {"scope", "Namespace"},
                   {"namespace", operator_space}}}}}};
  // Of two default classes an Ingress would get the newer one.
  const auto classes = seen.list(kube::types::ingress_classes);
  const bool has_default =
      std::ranges::any_of(classes, [](const Json* each) { return annotation(*each, default_class) == "true"; });
  if (!has_default) made.as_object()["metadata"].as_object()["annotations"] = JsonObject{{default_class, "true"}};
  return {kube::types::ingress_classes, std::move(made), DesiredObject::How::create};
}

// ---- the Routes of one Ingress

class Translation {
 public:
  Translation(const Json& ingress, const Snapshot& seen)
      : ingress_(ingress),
        seen_(seen),
        space_(kube::namespace_of(ingress)),
        termination_(annotation(ingress, termination_annotation)) {}

  void run() {
    report_foreign_annotations();
    if (!termination_.empty() && termination_ != "edge" && termination_ != "passthrough" && termination_ != "reencrypt") {
      problem(fmt::format("annotation {}: '{}' is not edge, passthrough or reencrypt; edge is used", termination_annotation,
                          termination_));
      termination_ = "edge";
    }
    if (find(ingress_, {"spec", "defaultBackend"})) {
      problem("spec.defaultBackend has no effect: a Route needs a host (add a rule with a host)");
    }
    const JsonArray& rules = find_array(ingress_, {"spec", "rules"});
    for (std::size_t i = 0; i < rules.size(); ++i) add_rule(rules[i], fmt::format("spec.rules[{}]", i));
  }

  std::vector<Json> routes;
  std::set<std::string> names;  // of Routes that stay, also unchanged ones
  std::vector<std::string> problems;

 private:
  void problem(std::string text) { problems.push_back(std::move(text)); }

  void report_foreign_annotations() {
    for (const std::string_view prefix : foreign_prefixes) {
      for (const auto& each : find_object(ingress_, {"metadata", "annotations"})) {
        if (!std::string_view(each.key()).starts_with(prefix)) continue;
        problem(fmt::format("annotations {}* have no effect (use those of Routes, haproxy.router.openshift.io/*)", prefix));
        break;
      }
    }
  }

  void add_rule(const Json& rule, const std::string& place) {
    const std::string host = text_of(rule, {"host"});
    if (host.empty()) return problem(fmt::format("{}: a rule without a host has no effect (set host)", place));
    if (host.starts_with("*.")) {
      return problem(
          fmt::format("{}.host: '{}' has no effect: the router serves no wildcards (add a rule for each host)", place, host));
    }
    const JsonArray& paths = find_array(rule, {"http", "paths"});
    for (std::size_t i = 0; i < paths.size(); ++i) add_path(host, paths[i], fmt::format("{}.http.paths[{}]", place, i));
  }

  void add_path(const std::string& host, const Json& entry, const std::string& place) {
    if (!find(entry, {"backend", "service"})) {
      return problem(fmt::format("{}.backend: only a Service can be the backend of a Route", place));
    }
    const std::string path = text_of(entry, {"path"}), type = text_of(entry, {"pathType"});
    const bool is_exact = type == "Exact";
    if (termination_ == "passthrough" && path != "/" && !path.empty()) {
      return problem(
          fmt::format("{}.path: '{}' has no effect: the router cannot read the path of a connection with termination "
                      "passthrough (use /)",
                      place, path));
    }
    if (type == "ImplementationSpecific" && path.find_first_of("*^$()[]|\\") != std::string::npos) {
      problem(fmt::format("{}.path: '{}' is compared as it is written; the router has no patterns", place, path));
    }
    const std::string digest = sha256_hex(fmt::format("{}\n{}\n{}", host, path, is_exact ? "exact" : "prefix")).substr(0, 10);
    const std::string name = fmt::format("{}-{}", kube::name_of(ingress_).substr(0, longest_prefix), digest);
    // The same host and path twice: the first one counts.
    if (names.contains(name)) return problem(fmt::format("{}: an earlier rule has {}{}", place, host, path));
    const Json* live = seen_.find(kube::types::routes, space_, name);
    if (live && owner_of(*live) != kube::name_of(ingress_)) {
      return problem(fmt::format("{}: Route {}/{} exists and does not belong to this Ingress (delete it)", place, space_, name));
    }
    const Json& backend = *find(entry, {"backend", "service"});
    const std::string service = text_of(backend, {"name"});
    const Json* target = seen_.find(kube::types::services, space_, service);
    if (!target) {
      problem(fmt::format("{}.backend: Service {}/{} does not exist", place, space_, service));
      if (live) names.insert(name);
      return;
    }
    const Json* port = find_port(backend, *target);
    if (!port) {
      const std::string named_port = text_of(backend, {"port", "name"});
      return problem(fmt::format("{}.backend: Service {}/{} has no port {}", place, space_, service,
                                 named_port.empty() ? std::to_string(integer_of(backend, {"port", "number"})) : named_port));
    }
    names.insert(name);
    routes.push_back(route_of(name, host, path, is_exact, service, text_of(*port, {"name"}), live, place));
  }

  static const Json* find_port(const Json& backend, const Json& service) {
    const std::string name = text_of(backend, {"port", "name"});
    const int number = integer_of(backend, {"port", "number"});
    for (const Json& port : find_array(service, {"spec", "ports"})) {
      if (name.empty() ? integer_of(port, {"port"}) == number : find_string(port, {"name"}) == std::string_view(name))
        return &port;
    }
    return nullptr;
  }

  Json route_of(const std::string& name, const std::string& host, const std::string& path, bool is_exact,
                const std::string& service, const std::string& port, const Json* live, const std::string& place) {
    // A user may change the weight of the Route.
    const Json* weight = live ? find(*live, {"spec", "to", "weight"}) : nullptr;
    JsonObject spec{{"host", host},
                    {"to", {{"kind", "Service"}, {"name", service}, {"weight", weight ? *weight : Json(100)}}},
                    {"wildcardPolicy", "None"}};
    if (!path.empty() && termination_ != "passthrough") spec["path"] = path;
    if (!port.empty()) spec["port"] = JsonObject{{"targetPort", port}};
    if (JsonObject tls = tls_of(host, live, place); !tls.empty()) spec["tls"] = std::move(tls);

    JsonObject annotations = find_object(ingress_, {"metadata", "annotations"});
    annotations.erase(applied_annotation);
    if (is_exact) annotations[path_type_annotation] = "Exact";
    JsonObject labels = find_object(ingress_, {"metadata", "labels"});
    if (live && annotation(ingress_, labels_annotation) != "true") {
      for (auto& each : labels) {
        if (const Json* value = find(*live, {"metadata", "labels", std::string_view(each.key())})) each.value() = Json(*value);
      }
    }
    const std::string uid = text_of(ingress_, {"metadata", "uid"});
    Json written = {{"uid", uid}, {"annotations", annotations}, {"labels", labels}, {"spec", spec}};
    annotations[digest_annotation] = sha256_hex(emit_json(written, JsonStyle::compact)).substr(0, 16);
    return {{"apiVersion", kube::types::routes.api_version()},
            {"kind", kube::types::routes.kind},
            {"metadata",
             {{"name", name},
              {"namespace", space_},
              {"annotations", std::move(annotations)},
              {"labels", std::move(labels)},
              {"ownerReferences", JsonArray{JsonObject{{"apiVersion", kube::types::ingress_objects.api_version()},
                                                       {"kind", kube::types::ingress_objects.kind},
                                                       {"name", kube::name_of(ingress_)},
                                                       {"uid", uid},
                                                       {"controller", true}}}}}},
            {"spec", std::move(spec)}};
  }

  // The element of spec.tls for a host. One without hosts is for all of them.
  const Json* find_tls(const std::string& host) const {
    for (const Json& element : find_array(ingress_, {"spec", "tls"})) {
      const JsonArray& hosts = find_array(element, {"hosts"});
      if (hosts.empty() || std::ranges::find(hosts, Json(host)) != hosts.end()) return &element;
    }
    return nullptr;
  }

  // The Secret, if it can be used; otherwise a problem.
  const Json* find_certificate(const std::string& secret, const std::string& what) {
    const Json* found = seen_.find(kube::types::secrets, space_, secret);
    const std::string why = found ? text_of(*found, {problem_member}) : "does not exist, or is not of type kubernetes.io/tls";
    if (why.empty()) return found;
    problem(fmt::format("{}: Secret {}/{} {}", what, space_, secret, why));
    return nullptr;
  }

  // Empty: no TLS.
  JsonObject tls_of(const std::string& host, const Json* live, const std::string& place) {
    const Json* element = find_tls(host);
    if (!element && termination_.empty()) return {};
    const std::string termination = termination_.empty() ? "edge" : termination_;
    // Users may change these fields of the Route.
    const auto kept = [&](std::string_view field) { return live ? text_of(*live, {"spec", "tls", field}) : std::string(); };
    JsonObject tls{{"termination", termination}};
    const bool is_passthrough = termination == "passthrough";
    std::string insecure = kept("insecureEdgeTerminationPolicy");
    // The API server does not accept Allow with passthrough; it may be from another termination of before.
    if (insecure.empty() || (is_passthrough && insecure == "Allow")) insecure = "Redirect";
    tls["insecureEdgeTerminationPolicy"] = insecure;
    if (is_passthrough) return tls;
    const std::string secret = element ? text_of(*element, {"secretName"}) : "";
    // Without the Secret, the router shows its own certificate: the application must not be reachable without TLS meanwhile.
    if (!secret.empty()) {
      if (const Json* found =
              find_certificate(secret, fmt::format("{}: the router's own certificate is used for {}", place, host))) {
        tls["certificate"] = data_of(found, "tls.crt").value_or("");
        tls["key"] = data_of(found, "tls.key").value_or("");
      }
    }
    if (const std::string chain = kept("caCertificate"); !chain.empty()) tls["caCertificate"] = chain;
    if (termination != "reencrypt") return tls;
    std::string authority = kept("destinationCACertificate");
    if (const std::string authority_secret = annotation(ingress_, authority_annotation); !authority_secret.empty()) {
      authority = data_of(seen_.find(kube::types::secrets, space_, authority_secret), "tls.crt").value_or("");
      if (authority.empty()) {
        problem(fmt::format("annotation {}: Secret {}/{} does not exist, is not of type kubernetes.io/tls, or has no tls.crt",
                            authority_annotation, space_, authority_secret));
      }
    }
    if (!authority.empty()) tls["destinationCACertificate"] = authority;
    return tls;
  }

  const Json& ingress_;
  const Snapshot& seen_;
  const std::string space_;
  std::string termination_;
};

// ---- status

const Json* admitted_condition(const Json& entry) {
  for (const Json& condition : find_array(entry, {"conditions"})) {
    if (find_string(condition, {"type"}) == "Admitted") return &condition;
  }
  return nullptr;
}

// Host names of the routers that serve a Route.
void add_routers(const Json& route, std::set<std::string>& routers, std::vector<std::string>& problems) {
  for (const Json& entry : find_array(route, {"status", "ingress"})) {
    const Json* admitted = admitted_condition(entry);
    if (!admitted) continue;
    if (find_string(*admitted, {"status"}) == "True") {
      const std::string name = text_of(entry, {"routerCanonicalHostname"});
      if (!name.empty()) routers.insert(name);
    } else {
      problems.push_back(fmt::format("Route {} is not served by router {}: {}", kube::name_of(route),
                                     text_of(entry, {"routerName"}), text_of(*admitted, {"message"})));
    }
  }
}

DesiredObject status_object(const Json& ingress, const std::set<std::string>& routers) {
  JsonArray entries;
  for (const std::string& router : routers) entries.push_back(JsonObject{{"hostname", router}});
  JsonObject balancer;
  if (!entries.empty()) balancer["ingress"] = std::move(entries);
  Json object = ingress;
  object.as_object()["status"] = JsonObject{{"loadBalancer", std::move(balancer)}};
  return {kube::types::ingress_objects, std::move(object), DesiredObject::How::status};
}

}  // namespace

std::vector<Watched> watched_for_ingresses() {
  return {{kube::types::ingress_objects},
          {kube::types::ingress_classes},
          {kube::types::routes, "", {}, reduce_route},
          {kube::types::services, "", {}, reduce_service},
          {kube::types::secrets, "", {.fields = "type=kubernetes.io/tls"}, reduce_secret}};
}

Plan plan_ingresses(const Snapshot& seen) {
  Plan plan;
  plan.desired_objects.push_back(class_object(seen));
  std::map<std::string, std::vector<const Json*>> owned;  // by "namespace/ingress"
  for (const Json* route : seen.list(kube::types::routes)) {
    if (const std::string owner = owner_of(*route); !owner.empty()) {
      owned[fmt::format("{}/{}", kube::namespace_of(*route), owner)].push_back(route);
    }
  }
  for (const Json* each : seen.list(kube::types::ingress_objects)) {
    const Json& ingress = *each;
    const Owner owner = owner_of_class(ingress, seen);
    if (owner == Owner::unknown || is_terminating(ingress)) continue;
    Translation translation(ingress, seen);
    if (owner == Owner::ours) translation.run();
    std::set<std::string> routers;
    for (const Json* route : owned[fmt::format("{}/{}", kube::namespace_of(ingress), kube::name_of(ingress))]) {
      if (translation.names.contains(std::string(kube::name_of(*route)))) {
        add_routers(*route, routers, translation.problems);
      } else {
        plan.desired_objects.push_back({kube::types::routes, *route, DesiredObject::How::remove});
      }
    }
    if (owner == Owner::others) continue;
    for (Json& route : translation.routes) plan.desired_objects.push_back({kube::types::routes, std::move(route)});
    for (std::string& problem : translation.problems)
      plan.notices.push_back({ingress, "NotTranslated", std::move(problem), true});
    plan.desired_objects.push_back(status_object(ingress, routers));
  }
  return plan;
}

Result<> keep_ingresses(const sys::Context& context, kube::Api& api) {
  View view;
  return reconcile(context, api,
                   {.manager = std::string(manager),
                    .watched = watched_for_ingresses(),
                    .plan = [](const Snapshot& seen, WallTime) -> Result<Plan> { return plan_ingresses(seen); },
                    .view = view});
}

}  // namespace slipway::components::ingress
