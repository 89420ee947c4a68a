#include "components/runtimecfg/monitor.h"

#include "base/text.h"
#include "components/program/socket_command.h"
#include "components/runtimecfg/proxy_slots.h"

#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::runtimecfg {
namespace {

using testing_support::MemoryFiles;
using testing_support::TestContext;

// Output of haproxy 3.0.11: up; enabled and not checked yet; refusing; never used; disabled again; up and being checked.
constexpr std::string_view state = R"(1
# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight srv_time_since_last_change srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state bk_f_forced_id srv_f_forced_id srv_fqdn srv_port srvrecord srv_use_ssl srv_check_port srv_check_addr srv_agent_addr srv_agent_port
3 masters 1 master1 10.0.0.10 2 4 1 1 1 15 3 2 6 0 0 0 - 6443 - 0 0 - - 0
3 masters 2 master2 10.0.0.11 2 4 1 1 0 1 0 1 6 0 0 0 - 6443 - 0 0 - - 0
3 masters 3 master3 10.0.0.12 0 4 1 1 0 8 2 0 6 0 0 0 - 6443 - 0 0 - - 0
3 masters 4 master4 127.0.0.1 0 5 1 1 0 1 0 0 14 0 0 0 - 6443 - 0 0 - - 0
3 masters 5 master5 10.0.0.13 0 5 1 1 0 15 3 0 14 0 0 0 - 6443 - 0 0 - - 0
3 masters 6 master6 10.0.0.14 2 4 1 1 0 15 0 2 7 0 0 0 - 6443 - 0 0 - - 0

)";

TEST(ProxySlots, AreReadFromHaproxysState) {
  const std::vector<ProxySlot> expected = {{"master1", "10.0.0.10", true, true},   {"master2", "10.0.0.11", true, false},
                                           {"master3", "10.0.0.12", true, false},  {"master4", "127.0.0.1", false, false},
                                           {"master5", "10.0.0.13", false, false}, {"master6", "10.0.0.14", true, true}};
  EXPECT_EQ(parse_proxy_slots(state).value(), expected);
  for (const char* other : {"", "Can't find backend.\n", "2\n# something new\n"}) {
    EXPECT_EQ(parse_proxy_slots(other).error().code(), Code::invalid) << other;
  }
}

TEST(SlotCommands, MakeTheSlotsEqualToTheAddresses) {
  const ProxySlot free_1{"master1", "127.0.0.1"}, free_2{"master2", "127.0.0.1"};
  const ProxySlot a{"master1", "10.0.0.10", true, true}, b{"master2", "10.0.0.11", true}, again{"master3", "10.0.0.10", true};
  const std::string into_2 = "set server masters/master2 addr 10.0.0.11 port 6443";
  using Commands = std::vector<std::string>;
  struct Case {
    std::vector<ProxySlot> slots;
    std::set<std::string> addresses;
    Commands expected;
  };
  const Case cases[] = {
      {{a, b}, {"10.0.0.10", "10.0.0.11"}, {}},
      {{a, free_2}, {"10.0.0.10", "10.0.0.11"}, {into_2, "set server masters/master2 state ready"}},
      {{a, b}, {"10.0.0.10"}, {"set server masters/master2 state maint"}},
      {{a, b, again}, {"10.0.0.10", "10.0.0.11"}, {"set server masters/master3 state maint"}},
      // An address without a free slot is left out.
      {{free_1},
       {"10.0.0.10", "10.0.0.11"},
       {"set server masters/master1 addr 10.0.0.10 port 6443", "set server masters/master1 state ready"}},
      {{free_1, free_2}, {}, {}},
      {{free_1}, {"fd00::10"}, {"set server masters/master1 addr fd00::10 port 6443", "set server masters/master1 state ready"}},
  };
  for (const Case& one : cases) EXPECT_EQ(slot_commands(one.slots, one.addresses), one.expected);
}

TEST(PriorityChange, IsHighWithEnoughAndForbidsTheAddressWithNone) {
  EXPECT_EQ(priority_change(3, 2, true, 150), 150);
  EXPECT_EQ(priority_change(1, 1, true, 150), 150);
  EXPECT_EQ(priority_change(1, 2, true, 150), 0);
  EXPECT_EQ(priority_change(0, 2, true, 150), -254);
  EXPECT_EQ(priority_change(3, 2, false, 150), -254);
}

TEST(FullPriority, TheHolderComesFirstAndNeighboursAreFarApart) {
  for (const char* network : {"10.0.0.0/24", "fd00::/64"}) {
    const auto machine = [network](std::uint64_t n) { return net::parse_cidr(network)->host(n).value(); };
    EXPECT_EQ(full_priority(machine(10), true), 190);
    for (std::uint64_t first = 1; first < 250; ++first) {
      // Three masters, and a machine that replaces one.
      std::vector<int> values;
      for (std::uint64_t n = first; n < first + 4; ++n) values.push_back(full_priority(machine(n), false));
      std::ranges::sort(values);
      EXPECT_GE(values.front(), 100);
      EXPECT_LT(values.back(), 190);
      // 10 of 256 of the half second between advertisements are 20 ms.
      for (int i = 0; i < 3; ++i) EXPECT_GE(values[i + 1] - values[i], 10) << network << ", from " << first;
    }
  }
}

Json node(std::string_view v4, std::string_view v6) {
  return {{"kind", "Node"},
          {"metadata", {{"name", v4}}},
          {"status",
           {{"addresses",
             JsonArray{Json{{"type", "Hostname"}, {"address", "10.9.9.9"}}, Json{{"type", "InternalIP"}, {"address", v4}},
                       Json{{"type", "InternalIP"}, {"address", v6}}, Json{{"type", "ExternalIP"}, {"address", "192.0.2.1"}}}}}}};
}

TEST(NodeAddresses, AreTheInternalOnesOfTheFamily) {
  const std::vector<Json> nodes = {node("10.0.0.10", "fd00::10"), node("10.0.0.11", "fd00::11"), Json{{"kind", "Node"}}};
  EXPECT_EQ(node_addresses(nodes, true), (std::set<std::string>{"10.0.0.10", "10.0.0.11"}));
  EXPECT_EQ(node_addresses(nodes, false), (std::set<std::string>{"fd00::10", "fd00::11"}));
}

// A fake proxy that answers with `haproxy_state` and records its commands.
class ProxyMonitorTest : public testing::Test {
 protected:
  std::string proxy_file() { return files.read("/run/vrrp/proxy").value(); }

  TestContext test;
  MemoryFiles files;
  Result<std::string> haproxy_state = error(Code::unavailable, "connecting to haproxy.sock: No such file or directory");
  Result<bool> answers = false;
  int requests = 0;
  std::vector<std::string> sent_commands;
  ProxyMonitor monitor{files,
                       {.own_address = "10.0.0.10",
                        .needed = 2,
                        .track_file = "/run/vrrp/proxy",
                        .ask_proxy = [this](std::string_view command) -> Result<std::string> {
                          if (command == "show servers state masters") return haproxy_state;
                          sent_commands.emplace_back(command);
                          return std::string();
                        },
                        .answers = [this] { return ++requests, answers; },
                        .full_priority = [] { return 150; }}};
};

std::string slots(std::string_view rows) {
  return fmt::format("1\n# be_name srv_name srv_addr srv_op_state srv_admin_state srv_check_status\n{}\n", rows);
}

TEST_F(ProxyMonitorTest, WithoutHaproxyThisMachineMustNotHoldTheVirtualIp) {
  EXPECT_FALSE(monitor.update(test.context()).value());
  EXPECT_EQ(proxy_file(), "-254\n");
  ASSERT_TRUE(monitor.update(test.context()).ok());
  EXPECT_EQ(std::ranges::count_if(test.logged(), [](const std::string& line) { return line.starts_with("warn"); }), 1);
}

TEST_F(ProxyMonitorTest, BeginsWithItsOwnApiServerAndAddsOthersLater) {
  haproxy_state = slots("masters master1 127.0.0.1 0 5 1\nmasters master2 127.0.0.1 0 5 1");
  EXPECT_FALSE(monitor.update(test.context()).value());
  EXPECT_EQ(sent_commands, std::vector<std::string>{
                               "set server masters/master1 addr 10.0.0.10 port 6443; set server masters/master1 state ready"});
  EXPECT_EQ(requests, 0);

  sent_commands.clear();
  answers = true;
  haproxy_state = slots("masters master1 10.0.0.10 2 4 15\nmasters master2 127.0.0.1 0 5 1");
  EXPECT_TRUE(monitor.update(test.context()).value());
  EXPECT_EQ(proxy_file(), "0\n");
  EXPECT_TRUE(sent_commands.empty());

  // The list of nodes may lack this machine.
  const std::uint64_t before = monitor.changed().count();
  monitor.set_masters({"10.0.0.11"});
  EXPECT_GT(monitor.changed().count(), before);
  ASSERT_TRUE(monitor.update(test.context()).ok());
  EXPECT_EQ(sent_commands, std::vector<std::string>{
                               "set server masters/master2 addr 10.0.0.11 port 6443; set server masters/master2 state ready"});

  haproxy_state = slots("masters master1 10.0.0.10 2 4 15\nmasters master2 10.0.0.11 2 4 15");
  ASSERT_TRUE(monitor.update(test.context()).ok());
  EXPECT_EQ(proxy_file(), "150\n");
  answers = false;
  ASSERT_TRUE(monitor.update(test.context()).ok());
  EXPECT_EQ(proxy_file(), "-254\n");
}

TEST_F(ProxyMonitorTest, RewritesTheFileAfterKeepalivedChangedIt) {
  answers = true;
  haproxy_state = slots("masters master1 10.0.0.10 2 4 15\nmasters master2 10.0.0.11 2 4 15");
  monitor.set_masters({"10.0.0.11"});
  ASSERT_TRUE(monitor.update(test.context()).ok());
  ASSERT_TRUE(files.write("/run/vrrp/proxy", "-254", 0644).ok());
  ASSERT_TRUE(monitor.update(test.context()).ok());
  EXPECT_EQ(proxy_file(), "150\n");
}

TEST_F(ProxyMonitorTest, AStopThatInterruptsARequestSaysNothingAboutTheProxy) {
  answers = true;
  haproxy_state = slots("masters master1 10.0.0.10 2 4 15\nmasters master2 10.0.0.11 2 4 15");
  monitor.set_masters({"10.0.0.11"});
  ASSERT_TRUE(monitor.update(test.context()).ok());
  answers = error(Code::cancelled, "stopped");
  EXPECT_EQ(monitor.update(test.context()).error().code(), Code::cancelled);
  EXPECT_EQ(proxy_file(), "150\n");
}

TEST(RouterMonitor, PrefersReadyRoutersAndForbidsTheAddressWithoutOne) {
  TestContext test;
  MemoryFiles files;
  Result<RouterHealth> health = RouterHealth::absent;
  std::vector<std::string> left;
  int full = 150;
  RouterMonitor monitor(files, {.track_file = "/run/vrrp/ingress",
                                .ask = [&] { return health; },
                                .leave = [&](const sys::Context&, int change) -> Result<> {
                                  left.push_back(fmt::format("{} at {}", change, trim(files.read("/run/vrrp/ingress").value())));
                                  return Ok{};
                                },
                                .full_priority = [&] { return full; }});
  const auto after_update = [&] {
    EXPECT_TRUE(monitor.update(test.context()).ok());
    return files.read("/run/vrrp/ingress").value();
  };
  EXPECT_EQ(after_update(), "-254\n");
  health = RouterHealth::not_ready;
  EXPECT_EQ(after_update(), "0\n");
  health = RouterHealth::ready;
  EXPECT_EQ(after_update(), "150\n");
  EXPECT_EQ(after_update(), "150\n");
  EXPECT_EQ(test.logged().size(), 3u);
  full = 190;
  EXPECT_EQ(after_update(), "190\n");
  // It starts while it is not ready, and calls cannot end well without a router: nothing to leave carefully.
  EXPECT_EQ(left, std::vector<std::string>{});
  health = RouterHealth::not_ready;
  EXPECT_EQ(after_update(), "0\n");
  EXPECT_EQ(after_update(), "0\n");
  EXPECT_EQ(left, std::vector<std::string>{"1 at 190"});
  health = RouterHealth::ready;
  EXPECT_EQ(after_update(), "190\n");
  // keepalived writes this value when it starts.
  ASSERT_TRUE(files.write("/run/vrrp/ingress", "-254", 0644).ok());
  EXPECT_EQ(after_update(), "190\n");
  health = error(Code::cancelled, "stopped");
  EXPECT_FALSE(monitor.update(test.context()).ok());
  EXPECT_EQ(files.read("/run/vrrp/ingress").value(), "190\n");
  health = RouterHealth::absent;
  EXPECT_EQ(after_update(), "-254\n");
  EXPECT_EQ(left.size(), 1u);
}

TEST(AskOverSocket, ReportsASocketWithoutAListener) {
  const Result<std::string> nobody = send_socket_command("/nonexistent/haproxy.sock", "show info", Milliseconds(100));
  EXPECT_EQ(nobody.error().code(), Code::unavailable);
  EXPECT_NE(nobody.error().message().find("/nonexistent/haproxy.sock"), std::string::npos);
  EXPECT_EQ(send_socket_command("/" + std::string(200, 'x'), "", Milliseconds(100)).error().code(), Code::invalid);
}

}  // namespace
}  // namespace slipway::components::runtimecfg
