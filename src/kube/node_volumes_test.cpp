#include "kube/node_volumes.h"

#include <gtest/gtest.h>

#include <limits>

namespace slipway::kube {
namespace {

constexpr std::int64_t gib = 1'073'741'824;

TEST(NodeVolumes, OrdersSurviveARoundTrip) {
  const VolumeOrders orders = {{"pvc-1", {VolumeOrder::Kind::make, gib}},
                               {"pvc-2", {VolumeOrder::Kind::keep, 5 * gib}},
                               {"pvc-3", {VolumeOrder::Kind::remove, 1}}};
  const Json object = orders_object("worker-0.example.com", orders);
  EXPECT_EQ(text_of(object, {"metadata", "name"}), "wanted-worker-0.example.com");
  EXPECT_EQ(parse_orders(object).value(), orders);
  EXPECT_EQ(parse_orders(orders_object("worker-0", {})).value(), VolumeOrders());
}

TEST(NodeVolumes, StorageSurvivesARoundTrip) {
  const NodeStorage storage{.size = 100 * gib,
                            .free = 50 * gib,
                            .is_shared = true,
                            .volumes = {{"pvc-1", {VolumeState::Kind::ready}},
                                        {"pvc-2", {VolumeState::Kind::refused, "no room"}}},
                            .unclaimed = {"pvc-9"}};
  const Json object = storage_object("worker-0", storage);
  EXPECT_EQ(text_of(object, {"metadata", "name"}), "state-worker-0");
  EXPECT_EQ(parse_storage(object).value(), storage);
}

Json config_map(const std::string& key, const std::string& text) {
  return {{"metadata", {{"name", "state-worker-0"}}}, {"data", {{key, text}}}};
}

// These become names of folders and parts of objects.
TEST(NodeVolumes, RefusesNamesThatArePaths) {
  for (const char* name : {"", ".", "..", "../etc", "a/b", ".removing-pvc-1", "A", "a b"}) {
    const std::string orders = fmt::format(R"({{"{}":{{"order":"remove"}}}})", name);
    const std::string volumes = fmt::format(R"({{"volumes":{{"{}":{{"state":"ready"}}}}}})", name);
    EXPECT_FALSE(parse_orders(config_map("volumes", orders)).ok()) << name;
    EXPECT_FALSE(parse_storage(config_map("state", volumes)).ok()) << name;
    EXPECT_FALSE(parse_storage(config_map("state", fmt::format(R"({{"unclaimed":["{}"]}})", name))).ok()) << name;
  }
}

TEST(NodeVolumes, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(parse_orders(config_map("volumes", R"({"a":{"order":"erase"}})")).error().message(),
            "state-worker-0: a: 'erase' is not an order");
  EXPECT_FALSE(parse_orders(config_map("volumes", "[]")).ok());
  EXPECT_FALSE(parse_orders(config_map("other", "{}")).ok());
  EXPECT_FALSE(parse_storage(config_map("state", R"({"volumes":{"a":{"state":"gone"}}})")).ok());
  EXPECT_FALSE(parse_storage(config_map("state", "{")).ok());
}

TEST(NodeVolumes, LimitsWhatANodeReports) {
  std::string many = "{\"volumes\":{";
  for (std::size_t i = 0; i <= max_volumes; ++i) many += fmt::format(R"({}"v{}":{{"state":"ready"}})", i ? "," : "", i);
  EXPECT_FALSE(parse_storage(config_map("state", many + "}}")).ok());
  const std::string loud = fmt::format(R"({{"volumes":{{"a":{{"state":"refused","reason":"{}"}}}}}})", std::string(5000, 'x'));
  EXPECT_EQ(parse_storage(config_map("state", loud))->volumes.at("a").reason.size(), 300u);
  const NodeStorage odd = parse_storage(config_map("state", R"({"size":-5,"free":"much"})")).value();
  EXPECT_EQ(odd.size, 0);
  EXPECT_EQ(odd.free, 0);
}

Json volume(const std::string& name, const std::string& node, const std::string& phase, const std::string& policy,
            const std::string& claim) {
  JsonObject spec{{"persistentVolumeReclaimPolicy", policy}};
  if (!claim.empty()) spec["claimRef"] = JsonObject{{"namespace", "shop"}, {"name", claim}};
  return JsonObject{{"metadata", JsonObject{{"name", name}, {"annotations", JsonObject{{volume_node, node}}}}},
                    {"spec", std::move(spec)},
                    {"status", JsonObject{{"phase", phase}}}};
}

TEST(NodeVolumes, KnowsWhoseDataAreOnANode) {
  const std::vector<Json> volumes = {volume("pvc-1", "worker-0", "Bound", "Delete", "data"),
                                     volume("pvc-2", "worker-0", "Released", "Delete", "gone"),
                                     volume("pvc-3", "worker-0", "Released", "Retain", "retained"),
                                     volume("pvc-4", "worker-0", "Available", "Retain", ""),
                                     volume("pvc-5", "worker-1", "Bound", "Delete", "other"),
                                     volume("pvc-6", "", "Bound", "Delete", "foreign")};
  EXPECT_EQ(wanted_volumes(volumes, "worker-0"), (std::vector<std::string>{"shop/data", "shop/retained", "pvc-4"}));
}

TEST(NodeVolumes, LeavesAReserve) {
  EXPECT_EQ(free_for_volumes(50, 100, true), 40);
  EXPECT_EQ(free_for_volumes(5, 100, true), 0);
  EXPECT_EQ(free_for_volumes(50, 100, false), 50);
  EXPECT_EQ(capacity_for_volumes({.size = 1000, .is_shared = true}), 800);
  EXPECT_EQ(capacity_for_volumes({.size = 1000, .is_shared = false}), 950);
  EXPECT_GT(capacity_for_volumes({.size = std::numeric_limits<std::int64_t>::max(), .is_shared = true}), 0);
}

}  // namespace
}  // namespace slipway::kube
