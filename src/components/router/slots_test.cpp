#include "components/router/slots.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::components::router {
namespace {

Server server(const std::string& address, int weight = 1) { return {{address, 80}, weight}; }

Servers one_service(std::vector<Server> servers) { return {{"be", {std::move(servers)}}}; }

TEST(FirstLayout, HasAFreeSlotForTheNextPod) {
  const std::vector<std::pair<std::size_t, std::size_t>> table = {{0, 2}, {1, 2}, {2, 4}, {3, 4}, {4, 8}, {7, 8}, {8, 16}};
  for (const auto& [servers, places] : table) {
    EXPECT_EQ(first_layout(one_service(std::vector<Server>(servers, server("10.0.0.1")))).at("be")[0].size(), places) << servers;
  }
}

TEST(ChangeSlots, ServersKeepSlotsAndNewServersAreAddedFirst) {
  const Layout running = first_layout(one_service({server("10.0.0.1"), server("10.0.0.2")}));
  const SlotChange change = change_slots(running, one_service({server("10.0.0.2"), server("10.0.0.3")}));
  EXPECT_TRUE(change.is_all);
  EXPECT_EQ(change.commands,
            (std::vector<std::string>{"set server be/b0-s2 addr 10.0.0.3 port 80", "set server be/b0-s2 weight 1",
                                      "set server be/b0-s2 state ready", "set server be/b0-s0 state maint"}));
  EXPECT_EQ(change.layout.at("be")[0], (Slots{std::nullopt, server("10.0.0.2"), server("10.0.0.3"), std::nullopt}));
  EXPECT_TRUE(change_slots(change.layout, one_service({server("10.0.0.2"), server("10.0.0.3")})).commands.empty());
}

TEST(ChangeSlots, AWeightIsOneCommand) {
  const Layout running = first_layout(one_service({server("10.0.0.1")}));
  EXPECT_EQ(change_slots(running, one_service({server("10.0.0.1", 9)})).commands,
            std::vector<std::string>{"set server be/b0-s0 weight 9"});
}

TEST(ChangeSlots, FillsTheSlotsWhenThereAreTooFew) {
  const Layout running = first_layout(one_service({server("10.0.0.1")}));
  const SlotChange change = change_slots(running, one_service({server("10.0.0.2"), server("10.0.0.3"), server("10.0.0.4")}));
  EXPECT_FALSE(change.is_all);
  EXPECT_EQ(change.layout.at("be")[0], (Slots{server("10.0.0.3"), server("10.0.0.2")}));
}

TEST(ChangeSlots, OtherBackendsTakeAnotherProcess) {
  const Layout running = first_layout(one_service({server("10.0.0.1")}));
  EXPECT_FALSE(change_slots(running, {{"other", {{}}}}).is_all);
  EXPECT_FALSE(change_slots(running, {}).is_all);
  EXPECT_FALSE(change_slots(running, {{"be", {{}, {}}}}).is_all);
}

TEST(IsDone, KnowsHaproxysAnswers) {
  EXPECT_TRUE(
      is_done("\n\nIP changed from '127.0.0.1' to '10.0.0.1', port changed from '1' to '80' by 'stats socket command'\n\n"));
  EXPECT_TRUE(is_done("no need to change the addr, port by 'stats socket command'\n"));
  EXPECT_FALSE(is_done("No such server.\n"));
  EXPECT_FALSE(is_done("IP changed from 'a' to 'b' by x\nBackend is using a static LB algorithm\n"));
}

Json slice(const std::string& name, const std::string& family, const std::string& ports, const std::string& endpoints) {
  return parse_yaml(fmt::format("{{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {{namespace: shop, name: {}, "
                                "labels: {{kubernetes.io/service-name: web}}}}, addressType: {}, ports: {}, endpoints: {}}}",
                                name, family, ports, endpoints),
                    "slice")
      .value()
      .value;
}

TEST(Slices, GiveReadyPodsOnceByPort) {
  View view;
  const std::string ports = "[{name: http, port: 8080, protocol: TCP}, {name: admin, port: 9000}]";
  view.put(
      slice("a", "IPv4", ports,
            "[{addresses: [10.0.0.2], conditions: {ready: true}}, {addresses: [10.0.0.3], conditions: {ready: false, serving: "
            "true, terminating: true}}]"));
  view.put(slice("b", "IPv4", ports, "[{addresses: [10.0.0.1]}, {addresses: [10.0.0.2]}]"));
  view.put(slice("c", "IPv6", ports, "[{addresses: ['fd00::1']}]"));
  const Snapshot seen = view.snapshot();
  const Slices slices(seen);
  const auto at = [](int port) { return std::vector<Endpoint>{{"10.0.0.1", port}, {"10.0.0.2", port}}; };
  EXPECT_EQ(slices.of("shop", "web", ""), at(8080));
  EXPECT_EQ(slices.of("shop", "web", "admin"), at(9000));
  EXPECT_EQ(slices.of("shop", "web", "9000"), at(9000));
  EXPECT_TRUE(slices.of("shop", "web", "other").empty());
  EXPECT_TRUE(slices.of("other", "web", "").empty());
}

TEST(Slices, TerminatingPodsServeWhenNoPodIsReady) {
  View view;
  view.put(
      slice("a", "IPv4", "[{port: 80}]",
            "[{addresses: [10.0.0.1], conditions: {ready: false, serving: true, terminating: true}}, {addresses: [10.0.0.2], "
            "conditions: {ready: false, serving: false, terminating: true}}, {addresses: [10.0.0.3], conditions: {ready: "
            "false}}]"));
  const Snapshot seen = view.snapshot();
  EXPECT_EQ(Slices(seen).of("shop", "web", ""), (std::vector<Endpoint>{{"10.0.0.1", 80}}));
}

}  // namespace
}  // namespace slipway::components::router
