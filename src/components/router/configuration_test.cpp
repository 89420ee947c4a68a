#include "components/router/configuration.h"

#include "base/yaml.h"
#include "components/router/admission.h"
#include "components/router/culprits.h"
#include "support/golden.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::router {
namespace {

Options options() {
  Options options{.name = "default", .domain = "apps.demo.example.com"};
  options.user = 65534;
  return options;
}

const Material material{Secret("the router's own"), "authority of services"};

Route route(const std::string& name, Termination termination = Termination::none) {
  Route route;
  route.space = "shop";
  route.name = name;
  route.uid = "uid-" + name;
  route.host = name + ".example.com";
  route.termination = termination;
  route.insecure = termination == Termination::none ? Insecure::allow : Insecure::refuse;
  route.targets = {{name, 100}};
  return route;
}

// One route of each kind.
std::vector<Route> all_kinds() {
  Route plain = route("plain");
  plain.path = "/shop";
  plain.rewrite = "/";
  plain.timeout = "5m";
  plain.sources = {"10.0.0.0/8", "fd00::1"};
  Route edge = route("edge", Termination::edge);
  edge.insecure = Insecure::redirect;
  edge.certificate = Secret("certificate of edge");
  edge.hsts = "max-age=60";
  edge.targets = {{"new", 10}, {"old", 90}};
  Route reencrypt = route("reencrypt", Termination::reencrypt);
  reencrypt.destination_ca = "authority of pods";
  reencrypt.has_cookie = false;
  Route service = route("service", Termination::reencrypt);
  service.insecure = Insecure::allow;
  service.balance = "source";
  service.rewrite = "/new";
  service.path = "/old";
  Route pass = route("pass", Termination::passthrough);
  pass.insecure = Insecure::redirect;
  return {plain, edge, reencrypt, service, pass};
}

TEST(Configure, ExactPathsComeFirst) {
  Route all = route("all"), exact = route("exact", Termination::edge);
  all.host = exact.host = "a.example.com";
  all.path = exact.path = "/x";
  exact.is_exact = true;
  exact.insecure = Insecure::redirect;
  const Configuration configuration = configure({all, exact}, material, options()).value();
  EXPECT_EQ(configuration.lists.at("http.map"), "a.example.com/x/ be_http:shop:all\n");
  EXPECT_EQ(configuration.lists.at("exact_http.map"), "a.example.com/x redirect\n");
  EXPECT_EQ(configuration.lists.at("exact_https.map"), "a.example.com/x be_edge_http:shop:exact\n");
  for (const std::string_view scheme : {"http", "https"}) {
    const std::size_t first = configuration.frontends.find(fmt::format("/exact_{}.map", scheme));
    ASSERT_NE(first, std::string::npos);
    EXPECT_LT(first, configuration.frontends.find(fmt::format("/{}.map", scheme)));
  }
  EXPECT_EQ(configure({all}, material, options())->frontends.find("exact"), std::string::npos);
}

Snapshot pods() {
  View view;
  for (const std::string_view service : {"plain", "new", "old", "reencrypt", "pass"}) {
    view.put(
        parse_yaml(fmt::format("{{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {{namespace: shop, name: {0}, "
                               "labels: {{kubernetes.io/service-name: {0}}}}}, addressType: IPv4, ports: [{{port: 8080}}], "
                               "endpoints: [{{addresses: [10.128.0.{1}]}}, {{addresses: [10.129.0.{1}]}}]}}",
                               service, service.size()),
                   "slice")
            .value()
            .value);
  }
  return view.snapshot();
}

std::string rendered(const std::vector<Route>& routes, const Options& with) {
  const Snapshot seen = pods();
  const Configuration configuration = configure(routes, material, with).value();
  std::string text;
  const Layout layout = first_layout(find_servers(routes, Slices(seen)));
  const RenderedFiles files = render(configuration, layout, with).value();
  for (const RenderedFile& file : files) {
    EXPECT_EQ(file.mode, 0600u);
    if (file.path != "no-application.html") text += fmt::format("--- {}\n{}", file.path, file.content);
  }
  return text;
}

TEST(Configure, EachKindOfRoute) { testing_support::expect_golden("components/router.cfg", rendered(all_kinds(), options())); }

TEST(Configure, WithoutPassthroughConnectionsEndAtOnce) {
  std::vector<Route> routes = all_kinds();
  routes.pop_back();
  const std::string text = rendered(routes, options());
  EXPECT_EQ(text.find("tls.sock"), std::string::npos);
  EXPECT_NE(text.find("bind :443,:::443 v6only ssl"), std::string::npos);
}

TEST(Configure, KeysAreFilesNamedByTheirContent) {
  const Configuration configuration = configure(all_kinds(), material, options()).value();
  std::vector<std::string> contents;
  for (const auto& [name, content] : configuration.keys) contents.push_back(content.reveal());
  std::ranges::sort(contents);
  EXPECT_EQ(contents,
            (std::vector<std::string>{"authority of pods", "authority of services", "certificate of edge", "the router's own"}));
  EXPECT_EQ(rendered(all_kinds(), options()).find("certificate of edge"), std::string::npos);
}

TEST(Configure, PodsMakeNoDifference) {
  EXPECT_EQ(configure(all_kinds(), material, options()).value(), configure(all_kinds(), material, options()).value());
  std::vector<Route> other = all_kinds();
  other[1].certificate = Secret("a new certificate of edge");
  EXPECT_NE(configure(other, material, options()).value(), configure(all_kinds(), material, options()).value());
}

TEST(Configure, OfSeveralCertificatesOfAHostTheOldestCounts) {
  Route one = route("one", Termination::edge), two = route("two", Termination::edge);
  two.host = one.host;
  two.path = "/two";
  one.certificate = Secret("1");
  two.certificate = Secret("2");
  const std::string list = configure({one, two}, material, options()).value().lists.at("certificates.list");
  EXPECT_EQ(std::ranges::count(list, '\n'), 1);
}

TEST(FindServers, ShareTheWeightOfTheirService) {
  const Snapshot seen = pods();
  const auto weights = [&](std::vector<Target> targets) {
    Route it = route("plain");
    it.targets = std::move(targets);
    std::vector<std::vector<int>> found;
    const Servers servers = find_servers({it}, Slices(seen));
    for (const auto& service : servers.at("be_http:shop:plain")) {
      auto& list = found.emplace_back();
      for (const Server& server : service) list.push_back(server.weight);
    }
    return found;
  };
  using Weights = std::vector<std::vector<int>>;
  EXPECT_EQ(weights({{"plain", 7}}), (Weights{{1, 1}}));
  EXPECT_EQ(weights({{"plain", 0}}), (Weights{{0, 0}}));
  EXPECT_EQ(weights({{"new", 10}, {"old", 90}}), (Weights{{28, 28}, {256, 256}}));
  EXPECT_EQ(weights({{"new", 0}, {"old", 1}}), (Weights{{0, 0}, {256, 256}}));
  EXPECT_EQ(weights({{"new", 1}, {"gone", 255}}), (Weights{{256, 256}, {}}));
  EXPECT_EQ(weights({{"new", 1}, {"old", 256}, {"plain", 256}}), (Weights{{1, 1}, {256, 256}, {256, 256}}));
}

TEST(FindCulprits, FindsEachBadRouteAndNothingElse) {
  std::vector<Route> routes;
  for (int i = 0; i < 100; ++i) routes.push_back(route(fmt::format("r{}", i)));
  int checks = 0;
  const auto check = [&](const std::vector<Route>& some) -> Result<> {
    ++checks;
    for (const Route& it : some) {
      if (it.name == "r13" || it.name == "r99") return error(Code::invalid, "{} is bad", it.name);
    }
    return Ok{};
  };
  const auto found = find_culprits(routes, check);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ(found->at(0), std::pair(routes[13], std::string("r13 is bad")));
  EXPECT_EQ(found->at(1), std::pair(routes[99], std::string("r99 is bad")));
  EXPECT_LE(checks, 2 * 9 + 1);
}

TEST(FindCulprits, ReportsProblemsThatNoRouteCauses) {
  const auto broken = [](const std::vector<Route>&) -> Result<> { return error(Code::invalid, "no such keyword"); };
  EXPECT_EQ(find_culprits({route("a")}, broken).error().code(), Code::invalid);
  const auto away = [](const std::vector<Route>&) -> Result<> { return error(Code::not_found, "no haproxy"); };
  EXPECT_EQ(find_culprits({route("a")}, away).error().code(), Code::not_found);
  EXPECT_TRUE(find_culprits({route("a")}, [](const auto&) -> Result<> { return Ok{}; })->empty());
}

}  // namespace
}  // namespace slipway::components::router
