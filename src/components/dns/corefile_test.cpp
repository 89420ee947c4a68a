#include "components/dns/corefile.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::components::dns {
namespace {

Corefile made(std::string_view spec) {
  const Result<YamlDocument> parsed = parse_yaml(fmt::format("spec: {}\n", spec), "test");
  EXPECT_TRUE(parsed.ok()) << parsed.error().message();
  Result<Corefile> corefile = make_corefile(parsed.ok() ? parsed->value : Json());
  EXPECT_TRUE(corefile.ok()) << corefile.error().message();
  return corefile.ok() ? corefile.value() : Corefile{};
}

int count(std::string_view text, std::string_view part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Corefile, ForwardsToTheResolversOfTheNode) {
  for (std::string_view spec :
       {"{}", "{upstreamResolvers: {}}", "{upstreamResolvers: {upstreams: [{type: SystemResolvConf, port: 53}]}}"}) {
    const Corefile corefile = made(spec);
    EXPECT_EQ(corefile.refusals, std::vector<std::string>{});
    EXPECT_NE(corefile.text.find("forward . /etc/resolv.conf {\n        policy sequential\n    }\n"), std::string::npos)
        << corefile.text;
    EXPECT_NE(corefile.text.find("kubernetes cluster.local in-addr.arpa ip6.arpa {"), std::string::npos);
    EXPECT_EQ(count(corefile.text, ":5353 {"), 1);
  }
}

TEST(Corefile, AppliesSettings) {
  const struct {
    std::string spec, part;
  } cases[] = {
      {"{logLevel: Normal}", "class error\n"},
      {"{logLevel: Debug}", "class denial error\n"},
      {"{logLevel: Trace}", "class all\n"},
      {"{cache: {positiveTTL: 1h30m}}", "success 4096 5400\n"},
      {"{cache: {positiveTTL: '0'}}", "success 4096 900\n"},
      {"{cache: {negativeTTL: 1500ms}}", "denial 2048 2\n"},
      {"{cache: {negativeTTL: 0s}}", "denial 2048 30\n"},
      {"{upstreamResolvers: {policy: Random, upstreams: [{type: Network, address: 10.0.0.1}, {type: Network, address: 'fd00::1', "
       "port: 5353}]}}",
       "forward . 10.0.0.1:53 [fd00::1]:5353 {\n        policy random\n    }\n"},
      {"{upstreamResolvers: {policy: RoundRobin, protocolStrategy: TCP}}",
       "forward . /etc/resolv.conf {\n        policy round_robin\n        force_tcp\n    }\n"},
      {"{servers: [{name: a, zones: [Foo.com., bar], forwardPlugin: {upstreams: [1.1.1.1, '2.2.2.2:5353', 'fd00::1', "
       "'[fd00::2]:53']}}]}",
       "# a\nfoo.com:5353 bar:5353 {\n"},
      {"{servers: [{name: a, zones: [foo.com], forwardPlugin: {upstreams: [1.1.1.1, '[fd00::2]:53']}}]}",
       "forward . 1.1.1.1 [fd00::2]:53 {\n        policy random\n    }\n"},
  };
  for (const auto& each : cases) {
    const Corefile corefile = made(each.spec);
    EXPECT_EQ(corefile.refusals, std::vector<std::string>{}) << each.spec;
    EXPECT_NE(corefile.text.find(each.part), std::string::npos) << each.spec << "\n" << corefile.text;
  }
}

TEST(Corefile, RefusesInvalidAndUnsupportedSettings) {
  const std::string upstreams = "forwardPlugin: {upstreams: [1.1.1.1]}";
  const struct {
    std::string spec, refusal;
  } cases[] = {
      {"{servers: [{name: a, zones: ['foo.com {'], " + upstreams + "}, {name: b, zones: [b], " + upstreams + "}]}",
       "spec.servers[a].zones: \"foo.com {\" is not a valid zone name"},
      {"{servers: [{name: a, zones: [foo.com], " + upstreams + "}, {name: b, zones: [b, FOO.com], " + upstreams + "}]}",
       "spec.servers[b].zones: foo.com is a duplicate"},
      {"{servers: [{name: a, zones: [b, svc.cluster.local], " + upstreams + "}]}",
       "spec.servers[a].zones: svc.cluster.local is the zone of the cluster"},
      {"{servers: [{name: a, zones: [b], forwardPlugin: {upstreams: [1.1.1.1, 'dns.example.com']}}]}",
       "spec.servers[a].forwardPlugin.upstreams: \"dns.example.com\" is not an IP address with an optional port"},
      {"{servers: [{name: a, zones: [b], forwardPlugin: {upstreams: [1.1.1.1, '10.0.0.1:']}}]}",
       "spec.servers[a].forwardPlugin.upstreams: \"10.0.0.1:\" is not an IP address with an optional port"},
      {"{servers: [{name: a, zones: [b]}]}", "spec.servers[a] has no upstreams"},
      {"{servers: [{name: a, " + upstreams + "}]}", "spec.servers[a] has no zones"},
      {"{servers: [{name: \"a\\n}\", zones: [b], " + upstreams + "}]}", "spec.servers: \"a\n}\" is not a valid server name"},
      {"{upstreamResolvers: {upstreams: [{type: Network, address: name}]}}",
       "spec.upstreamResolvers.upstreams: \"name\" is not an IP address"},
      {"{upstreamResolvers: {transportConfig: {transport: TLS, tls: {serverName: a}}}}",
       "spec.upstreamResolvers.transportConfig: this release forwards queries only without TLS (remove it)"},
      {"{cache: {positiveTTL: 1.5h}}", "spec.cache.positiveTTL: '1.5h' is not a duration like 10m or 1h30m"},
  };
  for (const auto& each : cases) {
    const Corefile corefile = made(each.spec);
    EXPECT_EQ(corefile.refusals, std::vector<std::string>{each.refusal}) << each.spec;
    EXPECT_EQ(count(corefile.text, "foo.com {"), 0);
  }
}

}  // namespace
}  // namespace slipway::components::dns
