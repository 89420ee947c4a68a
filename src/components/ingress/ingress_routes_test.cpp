#include "components/ingress/ingress_routes.h"

#include "base/digest.h"
#include "base/yaml.h"
#include "components/render/manifest.h"
#include "net/x509.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::ingress {
namespace {

using kube::types::ingress_classes;
using kube::types::ingress_objects;
using kube::types::routes;

const WallTime noon{Milliseconds(1'795'262'400'000)};

class IngressTest : public testing::Test {
 protected:
  IngressTest() {
    put_service("web", "{name: http, port: 80}, {name: admin, port: 8080}");
    put_service("single", "{port: 80}");
  }

  void put(const std::string& text) { put_object(parse_yaml(text, "x").value().value); }
  // As a watch delivers it.
  void put_object(const Json& object) {
    for (const Watched& each : watched_for_ingresses()) {
      if (each.type.kind != text_of(object, {"kind"})) continue;
      view.put(each.reduce ? each.reduce(object) : object);
    }
  }
  void put_service(const std::string& name, const std::string& ports) {
    put(fmt::format("{{apiVersion: v1, kind: Service, metadata: {{namespace: shop, name: {}}}, spec: {{ports: [{}]}}}}", name,
                    ports));
  }
  void put_ingress(const std::string& spec, const std::string& metadata = "labels: {app: web}") {
    put(fmt::format(
        "{{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {{namespace: shop, name: web, uid: u1, {}}}, spec: {}}}",
        metadata, spec));
  }
  static std::string rule(const std::string& path = "/",
                          const std::string& backend = "{service: {name: web, port: {number: 80}}}",
                          const std::string& type = "Prefix", const std::string& host = "shop.example.com") {
    return fmt::format("{{host: '{}', http: {{paths: [{{path: '{}', pathType: {}, backend: {}}}]}}}}", host, path, type, backend);
  }
  Plan plan() { return plan_ingresses(view.snapshot()); }
  // Carries out what a plan wants.
  Plan settle() {
    for (int round = 0; round < 5; ++round) {
      const Snapshot seen = view.snapshot();
      Plan made = plan_ingresses(seen);
      bool is_done = true;
      for (const DesiredObject& desired : made.desired_objects) {
        if (is_fulfilled(desired, seen)) continue;
        is_done = false;
        if (desired.how == DesiredObject::How::remove) {
          view.remove(desired.type, kube::namespace_of(desired.object), kube::name_of(desired.object));
        } else {
          view.put(desired.object);
        }
      }
      if (is_done) return made;
    }
    ADD_FAILURE() << "never settles";
    return {};
  }
  std::vector<Json> owned() {
    const Snapshot seen = view.snapshot();
    std::vector<Json> found;
    for (const Json* route : seen.list(routes, "shop")) found.push_back(*route);
    return found;
  }
  // "HOST PATH SERVICE PORT TERMINATION", sorted.
  std::vector<std::string> served() {
    std::vector<std::string> lines;
    for (const Json& route : owned()) {
      lines.push_back(fmt::format("{}{} {} {} {}", text_of(route, {"spec", "host"}), text_of(route, {"spec", "path"}),
                                  text_of(route, {"spec", "to", "name"}), text_of(route, {"spec", "port", "targetPort"}),
                                  text_of(route, {"spec", "tls", "termination"})));
    }
    std::ranges::sort(lines);
    return lines;
  }
  std::vector<std::string> problems() {
    std::vector<std::string> lines;
    for (const Notice& notice : plan().notices) lines.push_back(notice.message);
    return lines;
  }
  void put_certificate(const std::string& name) {
    const net::Certificate made =
        net::make_certificate(
            {.subject = {.common_name = "shop"}, .server_auth = true, .valid_from = noon, .valid_for = Seconds(60)}, nullptr)
            .value();
    put_object(secret({"shop", name}, "kubernetes.io/tls", {{"tls.crt", made.pem}, {"tls.key", made.key.reveal()}}));
  }

  View view;
};

TEST_F(IngressTest, EveryPathBecomesARoute) {
  put_ingress(
      fmt::format("{{rules: [{}, {}, {}]}}", rule(), rule("/admin", "{service: {name: web, port: {name: admin}}}"),
                  rule("/", "{service: {name: single, port: {number: 80}}}", "ImplementationSpecific", "other.example.com")));
  EXPECT_TRUE(settle().notices.empty());
  EXPECT_EQ(served(), (std::vector<std::string>{"other.example.com/ single  ", "shop.example.com/ web http ",
                                                "shop.example.com/admin web admin "}));
  const Json route = owned()[0];
  EXPECT_TRUE(kube::name_of(route).starts_with("web-"));
  EXPECT_EQ(text_of(route, {"metadata", "labels", "app"}), "web");
  const Json& owner = find_array(route, {"metadata", "ownerReferences"})[0];
  EXPECT_EQ(text_of(owner, {"uid"}), "u1");
  EXPECT_EQ(*find(owner, {"controller"}), Json(true));
}

TEST_F(IngressTest, RoutesFollowTheIngress) {
  put_ingress(fmt::format("{{rules: [{}, {}]}}", rule(), rule("/old")),
              "annotations: {a: b, kubectl.kubernetes.io/last-applied-configuration: x}");
  settle();
  for (const Json& route : owned()) {
    EXPECT_EQ(text_of(route, {"metadata", "annotations", "a"}), "b");
    EXPECT_EQ(find(route, {"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"}), nullptr);
  }
  put_ingress(fmt::format("{{tls: [{{}}], rules: [{}]}}", rule("/", "{service: {name: single, port: {number: 80}}}")));
  settle();
  EXPECT_EQ(served(), std::vector<std::string>{"shop.example.com/ single  edge"});
  const std::string before = emit_json(owned()[0], JsonStyle::compact);
  // Without TLS again: fields that are gone make a difference, too.
  put_ingress(fmt::format("{{rules: [{}]}}", rule("/", "{service: {name: single, port: {number: 80}}}")));
  settle();
  EXPECT_EQ(served(), std::vector<std::string>{"shop.example.com/ single  "});
  EXPECT_NE(emit_json(owned()[0], JsonStyle::compact), before);
}

TEST_F(IngressTest, ChangesOfARouteByUsersStay) {
  put_ingress(fmt::format("{{tls: [{{}}], rules: [{}]}}", rule()));
  settle();
  Json route = owned()[0];
  route.at("spec").at("to").as_object()["weight"] = 7;
  route.at("spec").at("tls").as_object()["insecureEdgeTerminationPolicy"] = "Allow";
  route.at("metadata").at("labels").as_object()["app"] = "mine";
  view.put(route);
  settle();
  EXPECT_EQ(*find(owned()[0], {"spec", "to", "weight"}), Json(7));
  EXPECT_EQ(text_of(owned()[0], {"spec", "tls", "insecureEdgeTerminationPolicy"}), "Allow");
  EXPECT_EQ(text_of(owned()[0], {"metadata", "labels", "app"}), "mine");
}

TEST_F(IngressTest, TlsWithTheCertificateOfASecret) {
  put_ingress(fmt::format("{{tls: [{{hosts: [shop.example.com], secretName: cert}}], rules: [{}, {}]}}", rule(),
                          rule("/", "{service: {name: web, port: {number: 80}}}", "Prefix", "plain.example.com")));
  settle();
  EXPECT_EQ(served(), (std::vector<std::string>{"plain.example.com/ web http ", "shop.example.com/ web http edge"}));
  ASSERT_EQ(problems().size(), 1u);
  EXPECT_NE(problems()[0].find("the router's own certificate is used for shop.example.com: Secret shop/cert does not exist"),
            std::string::npos);
  const auto of_shop = [&] {
    const std::vector<Json> all = owned();
    return *std::ranges::find_if(all, [](const Json& each) { return text_of(each, {"spec", "host"}) == "shop.example.com"; });
  };
  EXPECT_EQ(text_of(of_shop(), {"spec", "tls", "insecureEdgeTerminationPolicy"}), "Redirect");
  EXPECT_EQ(text_of(of_shop(), {"spec", "tls", "key"}), "");
  put_certificate("cert");
  EXPECT_TRUE(settle().notices.empty());
  EXPECT_TRUE(text_of(of_shop(), {"spec", "tls", "certificate"}).starts_with("-----BEGIN CERTIFICATE"));
  EXPECT_NE(text_of(of_shop(), {"spec", "tls", "key"}), "");
  put("{apiVersion: v1, kind: Secret, metadata: {namespace: shop, name: cert}, data: {tls.crt: eA==, tls.key: eA==}}");
  settle();
  ASSERT_EQ(problems().size(), 1u);
  EXPECT_NE(problems()[0].find("Secret shop/cert cannot be used"), std::string::npos);
}

TEST_F(IngressTest, TerminationByAnnotation) {
  put_ingress(fmt::format("{{rules: [{}, {}]}}", rule(), rule("/deep")),
              "annotations: {route.openshift.io/termination: passthrough}");
  settle();
  EXPECT_EQ(served(), std::vector<std::string>{"shop.example.com web http passthrough"});
  ASSERT_EQ(problems().size(), 1u);
  EXPECT_NE(problems()[0].find("'/deep' has no effect"), std::string::npos);

  put_certificate("authority");
  put_ingress(fmt::format("{{rules: [{}]}}", rule()),
              "annotations: {route.openshift.io/termination: reencrypt, route.openshift.io/destination-ca-certificate-secret: "
              "authority}");
  EXPECT_TRUE(settle().notices.empty());
  EXPECT_EQ(served(), std::vector<std::string>{"shop.example.com/ web http reencrypt"});
  EXPECT_TRUE(text_of(owned()[0], {"spec", "tls", "destinationCACertificate"}).starts_with("-----BEGIN CERTIFICATE"));
}

TEST_F(IngressTest, SaysWhatARouteCannotExpress) {
  put_ingress(
      fmt::format("{{defaultBackend: {{service: {{name: web, port: {{number: 80}}}}}}, rules: [{}, {}, {}, {}, {}, {}, {}, {}]}}",
                  rule("/", "{service: {name: web, port: {number: 80}}}", "Prefix", ""),
                  rule("/", "{service: {name: web, port: {number: 80}}}", "Prefix", "*.example.com"),
                  rule("/", "{resource: {kind: Bucket, name: b}}"), rule("/a", "{service: {name: gone, port: {number: 80}}}"),
                  rule("/b", "{service: {name: web, port: {number: 81}}}"), rule("/c"), rule("/c"),
                  rule("/d(/|$)(.*)", "{service: {name: web, port: {number: 80}}}", "ImplementationSpecific")),
      "annotations: {nginx.ingress.kubernetes.io/rewrite-target: /, nginx.ingress.kubernetes.io/ssl-redirect: 'true', "
      "route.openshift.io/termination: magic}");
  EXPECT_EQ(problems(),
            (std::vector<std::string>{
                "annotations nginx.ingress.kubernetes.io/* have no effect (use those of Routes, haproxy.router.openshift.io/*)",
                "annotation route.openshift.io/termination: 'magic' is not edge, passthrough or reencrypt; edge is used",
                "spec.defaultBackend has no effect: a Route needs a host (add a rule with a host)",
                "spec.rules[0]: a rule without a host has no effect (set host)",
                "spec.rules[1].host: '*.example.com' has no effect: the router serves no wildcards (add a rule for each host)",
                "spec.rules[2].http.paths[0].backend: only a Service can be the backend of a Route",
                "spec.rules[3].http.paths[0].backend: Service shop/gone does not exist",
                "spec.rules[4].http.paths[0].backend: Service shop/web has no port 81",
                "spec.rules[6].http.paths[0]: an earlier rule has shop.example.com/c",
                "spec.rules[7].http.paths[0].path: '/d(/|$)(.*)' is compared as it is written; the router has no patterns"}));
  for (const Notice& notice : plan().notices) {
    EXPECT_TRUE(notice.is_warning);
    EXPECT_EQ(kube::describe(notice.regarding), "Ingress shop/web");
  }
}

TEST_F(IngressTest, AnExactPathIsNotTheOneWithAllBelowIt) {
  put_ingress(fmt::format("{{rules: [{}, {}]}}", rule("/x", "{service: {name: web, port: {number: 80}}}", "Exact"), rule("/x")));
  EXPECT_TRUE(settle().notices.empty());
  const std::vector<Json> all = owned();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(
      std::ranges::count_if(all,
                            [](const Json& each) {
                              return text_of(each, {"metadata", "annotations", "router.slipway.internal/path-type"}) == "Exact";
                            }),
      1);
}

TEST_F(IngressTest, ARouteStaysWhileItsServiceIsAway) {
  put_ingress(fmt::format("{{rules: [{}]}}", rule()));
  settle();
  view.remove(kube::types::services, "shop", "web");
  settle();
  EXPECT_EQ(served().size(), 1u);
  EXPECT_EQ(problems(), std::vector<std::string>{"spec.rules[0].http.paths[0].backend: Service shop/web does not exist"});
}

TEST_F(IngressTest, NeverTakesOverARouteOfSomebodyElse) {
  put_ingress(fmt::format("{{rules: [{}]}}", rule()));
  settle();
  Json foreign = owned()[0];
  foreign.at("metadata").as_object().erase("ownerReferences");
  foreign.at("spec").as_object()["host"] = "mine.example.com";
  view.remove(routes, "shop", kube::name_of(foreign));
  put_object(foreign);
  const Plan made = plan();
  EXPECT_TRUE(std::ranges::none_of(made.desired_objects, [](const DesiredObject& each) { return each.type == routes; }));
  ASSERT_EQ(made.notices.size(), 1u);
  EXPECT_NE(made.notices[0].message.find("does not belong to this Ingress"), std::string::npos);
}

TEST_F(IngressTest, OnlyClassesOfThisController) {
  settle();
  const Snapshot seen = view.snapshot();
  const Json* own = seen.find(ingress_classes, "", "openshift-default");
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(text_of(*own, {"metadata", "annotations", "ingressclass.kubernetes.io/is-default-class"}), "true");
  put("{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx}, spec: {controller: "
      "k8s.io/ingress-nginx}}");

  put_ingress(fmt::format("{{ingressClassName: openshift-default, rules: [{}]}}", rule()));
  settle();
  EXPECT_EQ(served().size(), 1u);
  put_ingress(fmt::format("{{ingressClassName: gone, rules: [{}]}}", rule()));
  settle();
  EXPECT_EQ(served().size(), 1u) << "a class that does not exist changes nothing";
  put_ingress(fmt::format("{{ingressClassName: openshift-default, rules: [{}]}}", rule()),
              "annotations: {kubernetes.io/ingress.class: nginx}");
  settle();
  EXPECT_EQ(served().size(), 0u);
  EXPECT_TRUE(plan().notices.empty());
}

TEST_F(IngressTest, ItsClassIsTheDefaultOnlyIfNoOtherIs) {
  put("{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx, annotations: "
      "{ingressclass.kubernetes.io/is-default-class: 'true'}}, spec: {controller: k8s.io/ingress-nginx}}");
  settle();
  const Snapshot seen = view.snapshot();
  EXPECT_EQ(find(*seen.find(ingress_classes, "", "openshift-default"), {"metadata", "annotations"}), nullptr);
}

TEST_F(IngressTest, TheStatusNamesTheRouters) {
  put_ingress(fmt::format("{{rules: [{}, {}]}}", rule(), rule("/x")));
  settle();
  std::vector<Json> all = owned();
  all[0].as_object()["status"] =
      parse_yaml(
          "{ingress: [{routerName: default, routerCanonicalHostname: router-default.apps.demo, conditions: "
          "[{type: Admitted, status: 'True'}]}]}",
          "x")
          .value()
          .value;
  all[1].as_object()["status"] = parse_yaml(
                                     "{ingress: [{routerName: default, conditions: [{type: Admitted, status: 'False', message: "
                                     "taken}]}]}",
                                     "x")
                                     .value()
                                     .value;
  for (const Json& each : all) view.put(each);
  settle();
  const Snapshot seen = view.snapshot();
  EXPECT_EQ(emit_json(*find(*seen.find(ingress_objects, "shop", "web"), {"status"}), JsonStyle::compact),
            R"({"loadBalancer":{"ingress":[{"hostname":"router-default.apps.demo"}]}})");
  EXPECT_EQ(problems(),
            std::vector<std::string>{fmt::format("Route {} is not served by router default: taken", kube::name_of(all[1]))});
}

}  // namespace
}  // namespace slipway::components::ingress
