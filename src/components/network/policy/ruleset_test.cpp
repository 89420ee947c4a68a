#include "components/network/policy/ruleset.h"

#include <gtest/gtest.h>

namespace slipway::components::network {
namespace {

net::IpAddress ip(std::string_view text) { return net::parse_ip(text).value(); }

Ruleset sample() {
  Ruleset it;
  it.sets["pods-1"] = {
      .kind = Set::Kind::addresses, .is_v4 = true, .elements = {{ip("10.0.0.2")}, {ip("10.0.0.3")}}, .ranges = {}};
  it.sets["blocks-1"] = {
      .kind = Set::Kind::ranges,
      .is_v4 = false,
      .elements = {},
      .ranges = {{number_of(ip("fd00::")), number_of(ip("fd00::ffff"))}, {number_of(ip("fe00::")), number_of(ip("fe00::"))}}};
  it.sets["own-1"] = {.kind = Set::Kind::endpoints, .is_v4 = true, .elements = {{ip("10.0.0.2"), 8080}}, .ranges = {}};
  it.chains["in-1"] = {Direction::ingress,
                       {{.is_v4 = true, .peers = "pods-1", .protocol = Protocol::tcp, .ports = {{80, 80}, {90, 99}}},
                        {.is_v4 = false, .peers = "blocks-1", .protocol = Protocol::sctp},
                        {.is_v4 = true, .peers = "pods-1", .protocol = Protocol::tcp, .endpoints = "own-1"},
                        {.is_v4 = false}}};
  it.chains["out-1"] = {Direction::egress,
                        {{.is_v4 = true, .peers = "pods-1"}, {.is_v4 = true, .protocol = Protocol::tcp, .endpoints = "own-1"}}};
  it.ingress.chains = {{ip("10.0.0.2"), "in-1"}};
  it.egress.chains = {{ip("10.0.0.2"), "out-1"}};
  it.pods = {ip("10.0.0.2")};
  return it;
}

TEST(NetworkPolicyRuleset, RulesOfAChain) {
  const Ruleset it = sample();
  EXPECT_EQ(text_of_rules(it.chains.at("in-1")),
            "ip saddr @pods-1 tcp dport { 80, 90-99 } return\n"
            "ip6 saddr @blocks-1 meta l4proto sctp return\n"
            "ip saddr @pods-1 ip daddr . tcp dport @own-1 return\n"
            "meta nfproto ipv6 return\n"
            "drop\n");
  EXPECT_EQ(text_of_rules(it.chains.at("out-1")),
            "ip daddr @pods-1 return\n"
            "ip daddr . tcp dport @own-1 return\n"
            "drop\n");
}

TEST(NetworkPolicyRuleset, FromNothingEverythingIsAdded) {
  const std::string change = differences({}, sample()).change;
  for (const char* line : {
           "add set inet slipway-network-policy pods-1 { type ipv4_addr; }\n",
           "add element inet slipway-network-policy pods-1 { 10.0.0.2, 10.0.0.3 }\n",
           "add set inet slipway-network-policy blocks-1 { type ipv6_addr; flags interval; }\n",
           "add element inet slipway-network-policy blocks-1 { fd00:0:0:0:0:0:0:0-fd00:0:0:0:0:0:0:ffff, fe00:0:0:0:0:0:0:0 }\n",
           "add set inet slipway-network-policy own-1 { type ipv4_addr . inet_service; }\n",
           "add element inet slipway-network-policy own-1 { 10.0.0.2 . 8080 }\n",
           "add chain inet slipway-network-policy in-1\n",
           "add rule inet slipway-network-policy in-1 drop\n",
           "add element inet slipway-network-policy ingress-v4 { 10.0.0.2 : jump in-1 }\n",
           "add element inet slipway-network-policy self-v4 { 10.0.0.2 . 10.0.0.2 }\n",
           "add element inet slipway-network-policy pods-v4 { 10.0.0.2 }\n",
       }) {
    EXPECT_NE(change.find(line), std::string::npos) << line << "is not in\n" << change;
  }
}

TEST(NetworkPolicyRuleset, AChangeWritesWhatDiffers) {
  Ruleset to = sample();
  to.sets["pods-1"].elements = {{ip("10.0.0.3")}, {ip("10.0.0.4")}};
  EXPECT_EQ(differences(sample(), to).change,
            "delete element inet slipway-network-policy pods-1 { 10.0.0.2 }\n"
            "add element inet slipway-network-policy pods-1 { 10.0.0.4 }\n");
  EXPECT_EQ(differences(sample(), to).cleanup, "");
}

TEST(NetworkPolicyRuleset, WhatIsNotUsedAnyMoreIsRemovedAfterwards) {
  Ruleset to = sample();
  to.chains.erase("out-1");
  to.chains["out-2"] = {Direction::egress, {{}}};
  to.egress.chains = {{ip("10.0.0.2"), "out-2"}};
  to.egress.starting = {"out-2"};
  to.sets.erase("own-1");
  const Transactions done = differences(sample(), to);
  EXPECT_EQ(done.change,
            "add chain inet slipway-network-policy out-2\n"
            "add rule inet slipway-network-policy out-2 return\n"
            "add rule inet slipway-network-policy out-2 drop\n"
            "delete element inet slipway-network-policy egress-v4 { 10.0.0.2 }\n"
            "add element inet slipway-network-policy egress-v4 { 10.0.0.2 : jump out-2 }\n"
            "flush chain inet slipway-network-policy starting-egress\n"
            "add rule inet slipway-network-policy starting-egress jump out-2\n");
  EXPECT_EQ(done.cleanup,
            "flush chain inet slipway-network-policy out-1\n"
            "delete chain inet slipway-network-policy out-1\n"
            "delete set inet slipway-network-policy own-1\n");
}

TEST(NetworkPolicyRuleset, TheWholeTableReplacesWhatIsThere) {
  const std::string text = whole_table(sample(), "cni0");
  EXPECT_EQ(text.find(no_table()), 0u);
  EXPECT_NE(text.find("iifname \"cni0\""), std::string::npos);
}

}  // namespace
}  // namespace slipway::components::network
