#include "kube/machine_table.h"

#include <gtest/gtest.h>

namespace slipway::kube {
namespace {

Json table(std::string rows) {
  return {{"kind", "ConfigMap"},
          {"metadata", {{"name", "machine-addresses"}, {"namespace", "openshift-config"}}},
          {"data", {{"machines", std::move(rows)}}}};
}

TEST(MachineTable, IsWrittenAsItIsRead) {
  const Json as_installed = table(R"([{"name":"master-0","role":"master","addresses":["10.97.77.11"]},)"
                                  R"({"name":"worker-0","role":"worker","addresses":["10.97.77.14","w0"]}])");
  const auto rows = parse_machine_table(as_installed);
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  EXPECT_EQ(rows.value(), (MachineTable{{"master-0", "master", {"10.97.77.11"}}, {"worker-0", "worker", {"10.97.77.14", "w0"}}}));
  EXPECT_EQ(with_machine_table(as_installed, rows.value()), as_installed);
  EXPECT_EQ(names_with_role(rows.value(), "worker"), std::vector<std::string>{"worker-0"});
  EXPECT_EQ(find_string(with_machine_table(as_installed, {}), {"data", "machines"}), "[]");
}

Json node(const char* name, std::vector<const char*> addresses, bool is_labelled = false) {
  JsonArray list = {{{"type", "Hostname"}, {"address", name}}};
  for (const char* address : addresses) list.push_back({{"type", "InternalIP"}, {"address", address}});
  const JsonObject labels = is_labelled ? JsonObject{{"node-role.kubernetes.io/master", ""}} : JsonObject{};
  return {{"metadata", {{"name", name}, {"labels", labels}}}, {"status", {{"addresses", std::move(list)}}}};
}

Json endpoints(const JsonObject& data) { return {{"data", data}}; }

TEST(FirstMachineRows, FollowMembershipOfEtcd) {
  const std::vector<Json> nodes = {node("m1", {"10.0.0.2", "192.0.2.9"}, true), node("m0", {"10.0.0.1"}),
                                   node("w0", {"10.0.0.4"})};
  const InitialRows first =
      first_machine_rows(endpoints({{"8e9e05c52164694d", "10.0.0.2"}, {"91bc3c398fb3c146", "10.0.0.1"}}), nodes);
  EXPECT_EQ(first.rows, (MachineTable{{"m0", "master", {"m0", "10.0.0.1"}},
                                      {"m1", "master", {"m1", "10.0.0.2", "192.0.2.9"}},
                                      {"w0", "worker", {"w0", "10.0.0.4"}}}));
  EXPECT_TRUE(first.problems.empty());
  EXPECT_TRUE(first_machine_rows(Json{{"data", nullptr}}, {}).rows.empty());
}

TEST(FirstMachineRows, BelieveNoNodeThatClaimsToBeAMaster) {
  // w1 claims the address of m1.
  const InitialRows first = first_machine_rows(endpoints({{"a", "10.0.0.1"}, {"b", "10.0.0.2"}, {"c", "10.0.0.3"}}),
                                               {node("m0", {"10.0.0.1"}, true), node("m1", {"10.0.0.2"}),
                                                node("w1", {"10.0.0.2", "10.0.0.5"}), node("w0", {"10.0.0.4"}, true)});
  EXPECT_EQ(first.rows,
            (MachineTable{{"m0", "master", {"m0", "10.0.0.1"}}, {"m1", "worker", {"m1"}}, {"w1", "worker", {"w1", "10.0.0.5"}}}));
  EXPECT_EQ(first.problems, (std::vector<std::string>{
                                "etcd member 10.0.0.2: several nodes claim this address: m1, w1",
                                "etcd member 10.0.0.3: no node has this address",
                                "node w0: has role master, but runs no etcd member",
                            }));
}

TEST(MachineTable, KnowsMachinesThatLeave) {
  const MachineTable rows = {{"master-0", "master", {}}, {"master-1", "removed", {}}};
  EXPECT_FALSE(is_removed(rows, "master-0"));
  EXPECT_TRUE(is_removed(rows, "master-1"));
  EXPECT_FALSE(is_removed(rows, "master-2"));
}

TEST(MachineTable, SaysWhatIsWrongWithIt) {
  for (const char* rows : {"no list", "{}", R"([{"name":"a"}])"}) {
    const auto read = parse_machine_table(table(rows));
    ASSERT_FALSE(read.ok()) << rows;
    EXPECT_EQ(read.error().code(), Code::invalid);
    EXPECT_TRUE(read.error().message().starts_with("ConfigMap openshift-config/machine-addresses:")) << read.error().message();
  }
  EXPECT_FALSE(parse_machine_table({{"kind", "ConfigMap"}}).ok());
}

}  // namespace
}  // namespace slipway::kube
