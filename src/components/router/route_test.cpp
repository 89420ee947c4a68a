#include "components/router/route.h"

#include "base/yaml.h"
#include "net/x509.h"

#include <gtest/gtest.h>

namespace slipway::components::router {
namespace {

using namespace std::chrono_literals;

const Options options{.name = "default", .domain = "apps.demo.example.com"};

// A Route of namespace shop with this spec and these annotations, both as YAML in one line.
Json route(const std::string& spec, const std::string& annotations = "{}") {
  Json object = parse_yaml(fmt::format("{{kind: Route, metadata: {{namespace: shop, name: web, uid: u1, creationTimestamp: "
                                       "'2026-01-01T00:00:00Z', annotations: {}}}, spec: {}}}",
                                       annotations, spec),
                           "route")
                    .value()
                    .value;
  return object;
}

RouteResult read(const std::string& spec, const std::string& annotations = "{}") {
  return read_route(route(spec, annotations), options, false);
}

TEST(ReadRoute, ReadsOrGeneratesTheHost) {
  EXPECT_EQ(read("{to: {name: web}}").host, "web-shop.apps.demo.example.com");
  EXPECT_EQ(read("{to: {name: web}, subdomain: Store}").host, "store.apps.demo.example.com");
  EXPECT_EQ(read("{to: {name: web}, subdomain: store, host: WWW.Example.com}").host, "www.example.com");
}

TEST(ReadRoute, ReadsBackends) {
  const RouteResult result = read(
      "{to: {kind: Service, name: a, weight: 20}, alternateBackends: [{kind: Service, name: b}, "
      "{kind: Service, name: c, weight: 0}], port: {targetPort: 8080}, path: /shop//}");
  ASSERT_TRUE(result.route) << result.refusal.message;
  EXPECT_EQ(result.route->targets, (std::vector<Target>{{"a", 20}, {"b", 100}, {"c", 0}}));
  EXPECT_EQ(result.route->port, "8080");
  EXPECT_EQ(result.route->path, "/shop");
  EXPECT_EQ(result.route->termination, Termination::none);
}

TEST(ReadRoute, AnExactPathKeepsItsSlash) {
  const std::string exact = "{router.slipway.internal/path-type: Exact}";
  const RouteResult result = read("{to: {name: web}, path: /shop/}", exact);
  ASSERT_TRUE(result.route) << result.refusal.message;
  EXPECT_TRUE(result.route->is_exact);
  EXPECT_EQ(result.route->path, "/shop/");
  EXPECT_FALSE(read("{to: {name: web}}", exact).route->is_exact) << "no path is all paths";
}

TEST(ReadRoute, RefusesWithAReason) {
  const std::vector<std::tuple<std::string, std::string, std::string>> table = {
      {"{to: {name: web}, wildcardPolicy: Subdomain}", "RouteNotAdmitted", "must be None, got 'Subdomain'"},
      {"{to: {name: web}, host: a_b.example.com}", "ExtendedValidationFailed", "not a host name"},
      {"{to: {name: web}, path: shop}", "ExtendedValidationFailed", "begin with a slash"},
      {"{to: {name: web}, path: '/a b'}", "ExtendedValidationFailed", "blanks"},
      {"{to: {name: 'web x'}}", "ExtendedValidationFailed", "no valid name of a Service"},
      {"{to: {kind: Pod, name: web}}", "ExtendedValidationFailed", "must be Service"},
      {"{host: a.example.com}", "ExtendedValidationFailed", "no Service named"},
      {"{to: {name: web}, tls: {termination: other}}", "ExtendedValidationFailed", "unknown value 'other'"},
      {"{to: {name: web}, path: /a, tls: {termination: passthrough}}", "ExtendedValidationFailed",
       "not supported with passthrough"},
      {"{to: {name: web}, tls: {termination: passthrough, insecureEdgeTerminationPolicy: Allow}}", "ExtendedValidationFailed",
       "None or Redirect"},
      {"{to: {name: web}, tls: {termination: reencrypt}}", "NoServiceCA", "set spec.tls.destinationCACertificate"},
      {"{to: {name: web}, tls: {termination: reencrypt, destinationCACertificate: x}}", "ExtendedValidationFailed",
       "destinationCACertificate:"},
      {"{to: {name: web}, tls: {termination: edge, certificate: x}}", "ExtendedValidationFailed", "key: missing"},
      {"{to: {name: web}, tls: {termination: edge, key: x}}", "ExtendedValidationFailed", "certificate: missing"},
      {"{to: {name: web}, tls: {termination: edge, certificate: x, key: x}}", "ExtendedValidationFailed", "spec.tls: "},
      {"{to: {name: web}, tls: {termination: edge, externalCertificate: {name: x}}}", "ExtendedValidationFailed",
       "does not read Secrets"},
  };
  for (const auto& [spec, reason, words] : table) {
    const RouteResult result = read(spec);
    EXPECT_FALSE(result.route) << spec;
    EXPECT_EQ(result.refusal.reason, reason) << spec;
    EXPECT_NE(result.refusal.message.find(words), std::string::npos) << spec << ": " << result.refusal.message;
  }
}

TEST(ReadRoute, AcceptsACertificateWithItsKey) {
  const net::CertificateSpec spec{.subject = {.common_name = "web"}, .server_auth = true, .valid_for = 24h};
  const net::Certificate one = net::make_certificate(spec, nullptr).value(), other = net::make_certificate(spec, nullptr).value();
  const auto with = [&](const Secret& key) {
    Json object = route("{to: {name: web}, tls: {termination: edge}}");
    JsonObject& tls = object.as_object()["spec"].as_object()["tls"].as_object();
    tls["certificate"] = one.pem;
    tls["key"] = key.reveal();
    tls["caCertificate"] = other.pem;
    return read_route(object, options, false);
  };
  const RouteResult good = with(one.key);
  ASSERT_TRUE(good.route) << good.refusal.message;
  EXPECT_EQ(good.route->certificate.reveal(), one.pem + "\n" + other.pem + "\n" + one.key.reveal() + "\n");
  EXPECT_TRUE(with(one.key).route);  // from the cache
  EXPECT_NE(with(other.key).refusal.message.find("not the key of"), std::string::npos);
}

TEST(ReadRoute, AppliesValidAnnotations) {
  const RouteResult result =
      read("{to: {name: web}}",
           "{haproxy.router.openshift.io/timeout: 5m, haproxy.router.openshift.io/balance: leastconn, "
           "haproxy.router.openshift.io/disable_cookies: 'true', haproxy.router.openshift.io/rewrite-target: /new, "
           "haproxy.router.openshift.io/hsts_header: max-age=60;includeSubDomains, router.openshift.io/cookie_name: mine, "
           "haproxy.router.openshift.io/ip_whitelist: '10.0.0.0/8  fd00::1'}");
  ASSERT_TRUE(result.route) << result.refusal.message;
  EXPECT_EQ(result.route->timeout, "5m");
  EXPECT_EQ(result.route->balance, "leastconn");
  EXPECT_FALSE(result.route->has_cookie);
  EXPECT_EQ(result.route->rewrite, "/new");
  EXPECT_EQ(result.route->hsts, "max-age=60;includeSubDomains");
  EXPECT_EQ(result.route->cookie, "mine");
  EXPECT_EQ(result.route->sources, (std::vector<std::string>{"10.0.0.0/8", "fd00::1"}));
  EXPECT_TRUE(result.route->remarks.empty());
}

// Text of users must not become a line of haproxy's configuration.
TEST(ReadRoute, IgnoresInvalidAnnotations) {
  const RouteResult result = read(
      "{to: {name: web}}",
      "{haproxy.router.openshift.io/timeout: 90d, haproxy.router.openshift.io/balance: uri, "
      "haproxy.router.openshift.io/rewrite-target: '/a %[env(X)]', haproxy.router.openshift.io/hsts_header: 'max-age=1\" x', "
      "router.openshift.io/cookie_name: 'a b'}");
  ASSERT_TRUE(result.route);
  EXPECT_EQ(result.route->remarks.size(), 4u);
  EXPECT_EQ(result.route->timeout + result.route->balance + result.route->rewrite + result.route->hsts + result.route->cookie,
            "");
  EXPECT_EQ(read("{to: {name: web}}", "{haproxy.router.openshift.io/ip_allowlist: '10.0.0.0/8 all'}").refusal.reason,
            "ExtendedValidationFailed");
}

TEST(ReadRoute, RemarksOnSettingsWithoutEffect) {
  const RouteResult result =
      read("{to: {name: web}, httpHeaders: {actions: {request: [{name: A}]}}}",
           "{haproxy.router.openshift.io/rate-limit-connections: 'true', haproxy.router.openshift.io/timeout: 5m, other/one: x}");
  ASSERT_TRUE(result.route);
  EXPECT_EQ(
      result.route->remarks,
      (std::vector<std::string>{"spec.httpHeaders: has no effect in this release",
                                "annotation haproxy.router.openshift.io/rate-limit-connections: has no effect in this release"}));
}

TEST(Options, ReadsTheEnvironment) {
  const std::map<std::string, std::string> set = {
      {"ROUTER_SERVICE_NAME", "default"},   {"ROUTER_DOMAIN", "apps.demo.example.com"},
      {"ROUTER_SERVICE_HTTP_PORT", "8080"}, {"ROUTER_DISABLE_NAMESPACE_OWNERSHIP_CHECK", "true"},
      {"ROUTER_DISABLE_HTTP2", "false"},    {"ROUTER_DEFAULT_SERVER_TIMEOUT", "90s"},
      {"ROUTER_DRAIN_LIMIT", "1m30s"}};
  const Result<Options> read = parse_options([&](const std::string& name) { return set.contains(name) ? set.at(name) : ""; });
  ASSERT_TRUE(read.ok()) << read.error().message();
  Options expected{.name = "default", .domain = "apps.demo.example.com", .http_port = 8080, .shares_hosts = true, .http2 = true};
  expected.timeouts.server = "90s";
  expected.drain_limit = 90s;
  EXPECT_EQ(read.value(), expected);
}

TEST(Options, ReportsAllProblemsTogether) {
  const std::map<std::string, std::string> set = {{"ROUTER_SERVICE_NAME", "default"},
                                                  {"STATS_PORT", "http"},
                                                  {"ROUTER_DEFAULT_TUNNEL_TIMEOUT", "long"},
                                                  {"ROUTER_LOAD_BALANCE_ALGORITHM", "best"}};
  const Result<Options> read = parse_options([&](const std::string& name) { return set.contains(name) ? set.at(name) : ""; });
  ASSERT_FALSE(read.ok());
  for (const std::string_view name :
       {"ROUTER_DOMAIN", "STATS_PORT", "ROUTER_DEFAULT_TUNNEL_TIMEOUT", "ROUTER_LOAD_BALANCE_ALGORITHM"}) {
    EXPECT_NE(read.error().message().find(name), std::string::npos) << name;
  }
}

TEST(IsTime, KnowsHaproxysTimes) {
  for (const std::string_view good : {"1", "30s", "5m", "1h", "24d", "100ms", "10us"}) EXPECT_TRUE(is_time(good)) << good;
  for (const std::string_view bad : {"", "0s", "s", "1w", "25d", "1h30m", "-1s", "30 s", "99999999999"}) {
    EXPECT_FALSE(is_time(bad)) << bad;
  }
}

}  // namespace
}  // namespace slipway::components::router
