#include "components/machine_config_operator/pools.h"

#include "components/machine_config_operator/inputs.h"
#include "components/render/manifest.h"
#include "kube/conditions.h"
#include "machineconfig/node_annotations.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::components::machine_config_operator {
namespace {

namespace mc = machineconfig;
namespace types = kube::types;

constexpr WallTime now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21};

struct NodeOptions {
  std::string role = "worker";
  std::string current = "rendered-worker-1";
  std::string desired = "rendered-worker-1";
  std::string state = "Done";
  std::string reason{};
  bool is_ready = true;
  bool is_cordoned = false;
  std::string created = "2026-11-21T00:00:00Z";
  JsonObject labels{};
  std::string drain{}, drained{};  // desiredDrain, lastAppliedDrain
  std::string current_image{}, desired_image{};
  std::string coming{};
};

class World {
 public:
  World() {
    put(config_map({"kube-system", "bootstrap"}, {{"status", "complete"}}));
    pool("master", "rendered-master-1");
    pool("worker", "rendered-worker-1");
  }

  void put(Json object) {
    object.as_object()["metadata"].as_object()["resourceVersion"] = std::to_string(++version_);
    view.put(std::move(object));
  }

  void pool(std::string_view role, std::string_view target, JsonObject more = {}) {
    Json object = built_in_pool(role);
    JsonObject& spec = object.as_object()["spec"].as_object();
    if (!target.empty()) spec["configuration"] = JsonObject{{"name", target}};
    for (const auto& [key, value] : more) spec[key] = value;
    object.as_object()["metadata"].as_object()["generation"] = 7;
    put(std::move(object));
  }

  void node(const std::string& name, const NodeOptions& options = {}) {
    JsonObject labels = options.labels;
    labels["node-role.kubernetes.io/" + options.role] = "";
    JsonObject notes = {{mc::daemon_state, options.state}, {mc::daemon_reason, options.reason}};
    if (!options.current.empty()) notes[mc::current_config] = options.current;
    if (!options.desired.empty()) notes[mc::desired_config] = options.desired;
    if (!options.current_image.empty()) notes[mc::current_image] = options.current_image;
    if (!options.desired_image.empty()) notes[mc::desired_image] = options.desired_image;
    if (!options.coming.empty()) notes[mc::coming_config] = options.coming;
    if (!options.drain.empty()) notes[mc::desired_drain] = options.drain;
    if (!options.drained.empty()) notes[mc::last_applied_drain] = options.drained;
    JsonArray conditions = {JsonObject{{"type", "Ready"}, {"status", options.is_ready ? "True" : "Unknown"}}};
    put({{"apiVersion", "v1"},
         {"kind", "Node"},
         {"metadata",
          {{"name", name},
           {"creationTimestamp", options.created},
           {"labels", std::move(labels)},
           {"annotations", std::move(notes)}}},
         {"spec", {{"unschedulable", options.is_cordoned}}},
         {"status", {{"conditions", std::move(conditions)}}}});
  }

  // A master with its control plane pods.
  void master(const std::string& name, NodeOptions options = {}, bool has_etcd = true) {
    options.role = "master";
    for (std::string* config : {&options.current, &options.desired}) {
      if (*config == "rendered-worker-1") *config = "rendered-master-1";
    }
    node(name, options);
    control_plane_pod("openshift-etcd", "etcd-" + name, has_etcd);
    control_plane_pod("openshift-kube-apiserver", "kube-apiserver-" + name, true);
  }

  PoolsPlan plan(std::map<std::string, PoolRender, std::less<>> renders = {}, std::string_view own_node = "") const {
    return plan_pools(view.snapshot(), renders, images, own_node, now);
  }

  // Not an announcement.
  static bool is_target(const NodeChange& change) {
    return find(change.patch, {"metadata", "annotations", mc::desired_config}) != nullptr;
  }

  // "worker-1 CONFIG" of every announcement, "worker-1 null" where one is removed.
  std::vector<std::string> announcements() const {
    std::vector<std::string> found;
    for (const NodeChange& change : plan().changes) {
      const Json* config = find(change.patch, {"metadata", "annotations", mc::coming_config});
      const Json* image = find(change.patch, {"metadata", "annotations", mc::coming_image});
      if (!config || !image) continue;
      found.push_back(fmt::format("{} {}", change.node, config->is_null() ? "null" : std::string(config->as_string())));
      if (!image->is_null()) found.back() += fmt::format(" {}", std::string(image->as_string()));
    }
    return found;
  }

  // "worker-0 CONFIG" of every node that gets its target, in order.
  std::vector<std::string> targets(std::string_view own_node = "") const {
    std::vector<std::string> found;
    for (const NodeChange& change : plan({}, own_node).changes) {
      if (!is_target(change)) continue;
      found.push_back(fmt::format("{} {}", change.node,
                                  find_string(change.patch, {"metadata", "annotations", mc::desired_config}).value_or("")));
    }
    return found;
  }

  Json status(std::string_view pool, std::map<std::string, PoolRender, std::less<>> renders = {}) const {
    for (const DesiredObject& desired : plan(std::move(renders)).plan.desired_objects) {
      if (desired.type == types::machine_config_pools && kube::name_of(desired.object) == pool) return desired.object;
    }
    return Json();
  }

  View view;
  PoolImages images;

 private:
  void control_plane_pod(std::string_view space, std::string_view name, bool is_ready) {
    JsonArray conditions = {JsonObject{{"type", "Ready"}, {"status", is_ready ? "True" : "False"}}};
    put({{"apiVersion", "v1"},
         {"kind", "Pod"},
         {"metadata", {{"name", name}, {"namespace", space}}},
         {"status", {{"conditions", std::move(conditions)}}}});
  }

  int version_ = 0;
};

using Lines = std::vector<std::string>;
const NodeOptions failing{.desired = "rendered-worker-2", .state = "Degraded", .reason = "no space left"};

std::string message_of(const Json& pool, std::string_view type) {
  for (const Json& condition : find_array(pool, {"status", "conditions"})) {
    if (find_string(condition, {"type"}) == type) return text_of(condition, {"message"});
  }
  return "";
}

TEST(MaxUnavailable, IsANumberOrAPercentage) {
  const struct {
    Json value;
    int nodes, result;
  } cases[] = {{nullptr, 5, 1}, {0, 5, 1}, {3, 5, 3}, {"40%", 5, 2}, {"10%", 5, 1}, {"2", 5, 2}, {"x", 5, 1}};
  for (const auto& each : cases) {
    const Json pool = {{"metadata", {{"name", "worker"}}}, {"spec", {{"maxUnavailable", each.value}}}};
    EXPECT_EQ(max_unavailable(pool, each.nodes), each.result) << emit_json(each.value, JsonStyle::compact);
  }
  EXPECT_EQ(max_unavailable({{"metadata", {{"name", "master"}}}, {"spec", {{"maxUnavailable", 3}}}}, 3), 1);
}

TEST(PoolNodes, AreInOnePool) {
  World world;
  Json infra = built_in_pool("worker");
  infra.as_object()["metadata"] = JsonObject{{"name", "infra"}};
  infra.as_object()["spec"].as_object()["nodeSelector"] = JsonObject{
      {"matchExpressions", JsonArray{JsonObject{{"key", "kind"}, {"operator", "In"}, {"values", JsonArray{"infra"}}}}}};
  world.put(infra);
  infra.as_object()["metadata"] = JsonObject{{"name", "infra-too"}};
  infra.as_object()["spec"].as_object()["nodeSelector"] = JsonObject{{"matchLabels", {{"twice", ""}}}};
  world.put(infra);
  world.master("both", {.labels = {{"node-role.kubernetes.io/worker", ""}}});
  world.node("plain");
  world.node("infra", {.labels = {{"kind", "infra"}}});
  world.node("torn", {.labels = {{"kind", "infra"}, {"twice", ""}}});
  world.node("other", {.role = "other"});
  std::vector<Notice> notices;
  std::map<std::string, std::string> pools;
  for (const PoolNode& node : pool_nodes(world.view.snapshot(), notices)) pools[node.name] = node.pool;
  EXPECT_EQ(pools, (std::map<std::string, std::string>{
                       {"both", "master"}, {"plain", "worker"}, {"infra", "infra"}, {"torn", ""}, {"other", ""}}));
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].message.find("torn is selected by pools infra, infra-too"), std::string::npos) << notices[0].message;
}

TEST(Pools, RollOutTheConfigOneNodeAfterAnother) {
  World world;
  world.node("worker-0", {.created = "2026-11-21T00:00:02Z"});
  world.node("worker-1", {.created = "2026-11-21T00:00:01Z"});
  world.node("worker-2", {.created = "2026-11-21T00:00:00Z", .labels = {{"topology.kubernetes.io/zone", "b"}}});
  EXPECT_EQ(world.targets(), Lines{});
  world.pool("worker", "rendered-worker-2");
  EXPECT_EQ(world.targets(), Lines{"worker-1 rendered-worker-2"}) << "no zone, and older than worker-0";
  world.node("worker-1", {.desired = "rendered-worker-2"});
  EXPECT_EQ(world.targets(), Lines{}) << "it has not begun yet";
  world.node("worker-1", {.desired = "rendered-worker-2", .state = "Rebooting", .is_ready = false, .is_cordoned = true});
  EXPECT_EQ(world.targets(), Lines{});
  world.node("worker-1", {.current = "rendered-worker-2", .desired = "rendered-worker-2", .is_cordoned = true});
  EXPECT_EQ(world.targets(), Lines{}) << "it takes no pods yet";
  world.node("worker-1", {.current = "rendered-worker-2", .desired = "rendered-worker-2"});
  EXPECT_EQ(world.targets(), Lines{"worker-0 rendered-worker-2"});
}

TEST(Pools, HonourMaxUnavailable) {
  World world;
  for (int i = 0; i < 5; ++i) world.node(fmt::format("worker-{}", i));
  world.pool("worker", "rendered-worker-2", {{"maxUnavailable", 2}});
  EXPECT_EQ(world.targets(), (Lines{"worker-0 rendered-worker-2", "worker-1 rendered-worker-2"}));
  // A node that is not Ready counts as unavailable.
  world.node("worker-4", {.is_ready = false});
  EXPECT_EQ(world.targets(), Lines{"worker-0 rendered-worker-2"});
  world.node("worker-3", {.is_cordoned = true});
  EXPECT_EQ(world.targets(), Lines{});
}

TEST(Pools, TellTheNextNodesWhatTheyWillGet) {
  World world;
  for (int i = 0; i < 4; ++i) world.node(fmt::format("worker-{}", i));
  EXPECT_EQ(world.announcements(), Lines{});
  world.pool("worker", "rendered-worker-2");
  EXPECT_EQ(world.targets(), Lines{"worker-0 rendered-worker-2"});
  EXPECT_EQ(world.announcements(), Lines{"worker-1 rendered-worker-2"}) << "as many as may be unavailable";
  world.node("worker-0", {.desired = "rendered-worker-2", .state = "Rebooting", .is_ready = false});
  EXPECT_EQ(world.announcements(), Lines{"worker-1 rendered-worker-2"});
  world.node("worker-1", {.coming = "rendered-worker-2"});
  EXPECT_EQ(world.announcements(), Lines{});
  world.node("worker-0", {.coming = "rendered-worker-2"});
  EXPECT_EQ(world.targets(), Lines{"worker-0 rendered-worker-2"});
  EXPECT_EQ(world.announcements(), Lines{"worker-0 null"}) << "with the target, in one patch";
  world.node("worker-0", {.desired = "rendered-worker-2", .state = "Rebooting", .is_ready = false});
  world.pool("worker", "rendered-worker-3");
  EXPECT_EQ(world.announcements(), Lines{"worker-1 rendered-worker-3"});
  world.pool("worker", "rendered-worker-2", {{"paused", true}});
  EXPECT_EQ(world.announcements(), Lines{"worker-1 null"});
  world.node("worker-0", {.current = "rendered-worker-2", .desired = "rendered-worker-2"});
  world.node("worker-1", {.desired = "rendered-worker-2", .state = "Working", .coming = "rendered-worker-2"});
  world.pool("worker", "rendered-worker-2");
  EXPECT_EQ(world.announcements(), (Lines{"worker-1 null", "worker-2 rendered-worker-2"}));
}

TEST(Pools, TellTheNextMasterWhileAnotherOneRestarts) {
  World world;
  for (const char* name : {"master-0", "master-1", "master-2"}) world.master(name);
  world.pool("master", "rendered-master-2");
  world.master("master-0", {.desired = "rendered-master-2", .state = "Rebooting", .is_ready = false});
  EXPECT_EQ(world.targets(), Lines{});
  EXPECT_EQ(world.announcements(), Lines{"master-1 rendered-master-2"});
}

TEST(Pools, APatchNamesTheVersionOfTheNode) {
  World world;
  world.node("worker-0");
  world.pool("worker", "rendered-worker-2");
  const std::vector<NodeChange> changes = world.plan().changes;
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(find_string(changes[0].patch, {"metadata", "resourceVersion"}),
            find_string(*world.view.snapshot().find(types::nodes, "", "worker-0"), {"metadata", "resourceVersion"}));
}

TEST(Pools, ABadConfigStopsAtTheFirstNodeAndThePoolReportsWhy) {
  World world;
  world.node("worker-0", failing);
  world.node("worker-1");
  world.node("worker-2");
  world.pool("worker", "rendered-worker-2", {{"maxUnavailable", 1}});
  EXPECT_EQ(world.targets(), Lines{});
  const Json pool = world.status("worker");
  EXPECT_EQ(kube::condition_status(pool, "NodeDegraded"), "True");
  EXPECT_EQ(kube::condition_status(pool, "Degraded"), "True");
  EXPECT_EQ(message_of(pool, "NodeDegraded"), "Node worker-0 is Degraded: no space left");
  EXPECT_EQ(pool.at("status").at("degradedMachineCount"), Json(1));
  // After the config is fixed, only the failed node gets it at first.
  world.pool("worker", "rendered-worker-3");
  EXPECT_EQ(world.targets(), Lines{"worker-0 rendered-worker-3"});
  world.pool("worker", "rendered-worker-1");
  EXPECT_EQ(world.targets(), Lines{"worker-0 rendered-worker-1"});
}

TEST(Pools, ANodeThatWaitsForItsDrainCanGetAnotherConfig) {
  const struct {
    const char* what;
    NodeOptions node;
    bool changes;
  } cases[] = {
      {"it waits",
       {.desired = "rendered-worker-2", .state = "Working", .is_cordoned = true, .drain = "drain-rendered-worker-2"},
       true},
      {"it is empty and changes",
       {.desired = "rendered-worker-2",
        .state = "Working",
        .is_cordoned = true,
        .drain = "drain-rendered-worker-2",
        .drained = "drain-rendered-worker-2"},
       false},
      {"it boots",
       {.desired = "rendered-worker-2",
        .state = "Rebooting",
        .is_ready = false,
        .is_cordoned = true,
        .drain = "drain-rendered-worker-2"},
       false},
  };
  for (const auto& each : cases) {
    World world;
    world.node("worker-0", each.node);
    world.node("worker-1");
    world.pool("worker", "rendered-worker-1");
    EXPECT_EQ(world.targets(), each.changes ? Lines{"worker-0 rendered-worker-1"} : Lines{}) << each.what;
  }
}

TEST(Pools, ChangeNothingWhenPausedOrBeforeTheBootstrapIsComplete) {
  World world;
  world.node("worker-0");
  world.pool("worker", "rendered-worker-2", {{"paused", true}});
  EXPECT_EQ(world.targets(), Lines{});
  const Json pool = world.status("worker");
  EXPECT_EQ(kube::condition_status(pool, "Updated"), "False");
  EXPECT_EQ(kube::condition_status(pool, "Updating"), "False");
  EXPECT_NE(message_of(pool, "Updating").find("the pool is paused"), std::string::npos);

  world.pool("worker", "rendered-worker-2");
  EXPECT_EQ(world.targets().size(), 1u);
  world.view.remove(types::config_maps, "kube-system", "bootstrap");
  EXPECT_EQ(world.targets(), Lines{});
  world.put(config_map({"kube-system", "bootstrap"}, {{"status", "progressing"}}));
  EXPECT_EQ(world.targets(), Lines{});
}

TEST(Pools, WaitForMoreChangesAndForDaemons) {
  World world;
  world.node("worker-0", {.current = "", .desired = "", .state = ""});
  world.pool("worker", "rendered-worker-2", {{"maxUnavailable", 2}});
  EXPECT_EQ(world.targets(), Lines{}) << "its daemon says first what it has";
  world.node("worker-1");
  EXPECT_EQ(world.targets().size(), 1u);
  EXPECT_TRUE(world.plan({{"worker", {.is_settling = true}}}).changes.empty());
}

struct MasterCase {
  const char* what;
  NodeOptions second{};
  bool second_has_etcd = true;
  Lines targets{};
};

TEST(Pools, NeverChangeASecondMaster) {
  const MasterCase cases[] = {
      {.what = "all is well", .targets = {"master-0 rendered-master-2"}},
      {.what = "one is away", .second = {.is_ready = false}},
      {.what = "one is cordoned", .second = {.is_cordoned = true}},
      {.what = "one is on its way", .second = {.desired = "rendered-master-2", .state = "Working"}},
      {.what = "one has no etcd", .second_has_etcd = false},
      {.what = "one failed", .second = {.desired = "rendered-master-2", .state = "Degraded"}},
      {.what = "one failed at another config",
       .second = {.desired = "rendered-master-0", .state = "Degraded"},
       .targets = {"master-1 rendered-master-2"}},
      {.what = "one failed and is away", .second = {.desired = "rendered-master-0", .state = "Degraded", .is_ready = false}},
  };
  for (const MasterCase& each : cases) {
    World world;
    world.master("master-0");
    world.master("master-1", each.second, each.second_has_etcd);
    world.master("master-2");
    world.pool("master", "rendered-master-2", {{"maxUnavailable", 3}});
    EXPECT_EQ(world.targets(), each.targets) << each.what;
    // The condition says what the pool waits for.
    const bool is_reported = message_of(world.status("master"), "Updating").find("master-1") != std::string::npos;
    EXPECT_EQ(is_reported, each.what != std::string_view("all is well")) << message_of(world.status("master"), "Updating");
  }
}

TEST(Pools, AFailedMasterWaitsWhileAnotherIsUnavailable) {
  World world;
  world.master("master-0", {.desired = "rendered-master-0", .state = "Degraded"});
  world.master("master-1", {.is_ready = false});
  world.master("master-2");
  world.pool("master", "rendered-master-2");
  EXPECT_EQ(world.targets(), Lines{});
}

TEST(Pools, TheMasterThatRunsTheControllerComesLast) {
  World world;
  for (const char* name : {"master-0", "master-1", "master-2"}) world.master(name);
  world.pool("master", "rendered-master-2");
  EXPECT_EQ(world.targets("master-0"), Lines{"master-1 rendered-master-2"});
}

TEST(Pools, ASingleMasterMayChange) {
  World world;
  world.master("master-0");
  world.pool("master", "rendered-master-2");
  EXPECT_EQ(world.targets("master-0"), Lines{"master-0 rendered-master-2"});
}

TEST(Pools, Count) {
  World world;
  world.node("old");
  world.node("new", {.current = "rendered-worker-2", .desired = "rendered-worker-2"});
  world.node("away", {.current = "rendered-worker-2", .desired = "rendered-worker-2", .is_ready = false});
  world.node("busy", {.desired = "rendered-worker-2", .state = "Working"});
  world.node("joining", {.current = "", .desired = "", .state = ""});
  world.pool("worker", "rendered-worker-2");
  const Json pool = world.status("worker");
  const JsonObject& status = find_object(pool, {"status"});
  const std::map<std::string, int> counts = {{"machineCount", 5},         {"updatedMachineCount", 2},
                                             {"readyMachineCount", 1},    {"unavailableMachineCount", 3},
                                             {"degradedMachineCount", 0}, {"observedGeneration", 7}};
  for (const auto& [key, count] : counts) EXPECT_EQ(status.at(key), Json(count)) << key;
  EXPECT_EQ(kube::condition_status(pool, "Updated"), "False");
  EXPECT_EQ(kube::condition_status(pool, "Updating"), "True");
  EXPECT_EQ(kube::condition_status(pool, "Degraded"), "False");
  EXPECT_FALSE(status.contains("configuration"));
  EXPECT_EQ(message_of(pool, "Updating"),
            "2 of 5 machines have rendered-worker-2; away is not Ready; busy is updating to rendered-worker-2 (Working); joining "
            "has not reported its config yet");
}

TEST(Pools, ReportTheConfigThatAllNodesHave) {
  World world;
  EXPECT_EQ(find_string(world.status("worker"), {"status", "configuration", "name"}), "rendered-worker-1")
      << "a pool without machines reports its config";
  world.node("worker-0");
  const Json pool = world.status("worker");
  EXPECT_EQ(kube::condition_status(pool, "Updated"), "True");
  EXPECT_EQ(find_string(pool, {"status", "configuration", "name"}), "rendered-worker-1");
  // An unchanged status is not written again.
  world.put(pool);
  EXPECT_EQ(world.status("worker"), Json());
  // A failure of rendering changes no machine, but the pool reports it.
  const Json refused = world.status("worker", {{"worker", {.problem = "MachineConfig 99-x: no"}}});
  EXPECT_EQ(kube::condition_status(refused, "Updated"), "True");
  EXPECT_EQ(kube::condition_status(refused, "RenderDegraded"), "True");
  EXPECT_EQ(kube::condition_status(refused, "Degraded"), "True");
  EXPECT_EQ(message_of(refused, "Degraded"), "MachineConfig 99-x: no");
}

// ---- image mode

const std::string image_a = "registry.example.com/os@sha256:a", image_b = "registry.example.com/os@sha256:b";

// The annotations of every patch: "worker-0 CONFIG IMAGE", "null" where the image is removed, "-" where it stays.
Lines patches(const World& world) {
  Lines found;
  for (const NodeChange& change : world.plan().changes) {
    if (!World::is_target(change)) continue;
    const Json* image = find(change.patch, {"metadata", "annotations", mc::desired_image});
    found.push_back(fmt::format("{} {} {}", change.node, text_of(change.patch, {"metadata", "annotations", mc::desired_config}),
                                !image             ? "-"
                                : image->is_null() ? "null"
                                                   : std::string(image->as_string())));
  }
  return found;
}

struct ImageCase {
  const char* what;
  std::optional<PoolImage> image;  // of the pool, in image mode
  const char* config;              // of the pool
  NodeOptions node{};
  Lines patches{};
  bool is_updated = false, is_updating = false;
};

TEST(PoolsInImageMode, ConfigAndImageAreSetInOnePatchWhenTheImageExists) {
  const PoolImage building{.waits_for = "MachineOSBuild worker-1, which is Building"};
  const NodeOptions with_a{.current_image = image_a, .desired_image = image_a};
  const std::vector<ImageCase> cases = {
      {.what = "no image mode", .image = {}, .config = "rendered-worker-1", .is_updated = true},
      {.what = "no image mode, another config",
       .image = {},
       .config = "rendered-worker-2",
       .patches = {"worker-0 rendered-worker-2 -"},
       .is_updating = true},
      {.what = "opt in, no image yet", .image = building, .config = "rendered-worker-1"},
      {.what = "opt in",
       .image = PoolImage{.image = image_a},
       .config = "rendered-worker-1",
       .patches = {"worker-0 rendered-worker-1 " + image_a},
       .is_updating = true},
      {.what = "the image is there",
       .image = PoolImage{.image = image_a},
       .config = "rendered-worker-1",
       .node = with_a,
       .is_updated = true},
      {.what = "it moves to the image",
       .image = PoolImage{.image = image_a},
       .config = "rendered-worker-1",
       .node = {.state = "Working", .desired_image = image_a},
       .is_updating = true},
      {.what = "it has not begun to move to the image",
       .image = PoolImage{.image = image_a},
       .config = "rendered-worker-1",
       .node = {.desired_image = image_a},
       .is_updating = true},
      {.what = "another config waits for its image", .image = building, .config = "rendered-worker-2", .node = with_a},
      {.what = "another config with another image",
       .image = PoolImage{.image = image_b},
       .config = "rendered-worker-2",
       .node = with_a,
       .patches = {"worker-0 rendered-worker-2 " + image_b},
       .is_updating = true},
      {.what = "another config with the same image",
       .image = PoolImage{.image = image_a},
       .config = "rendered-worker-2",
       .node = with_a,
       .patches = {"worker-0 rendered-worker-2 -"},
       .is_updating = true},
      {.what = "opt out",
       .image = {},
       .config = "rendered-worker-1",
       .node = with_a,
       .patches = {"worker-0 rendered-worker-1 null"},
       .is_updating = true},
      {.what = "it leaves the image",
       .image = {},
       .config = "rendered-worker-1",
       .node = {.state = "Rebooting", .is_ready = false, .current_image = image_a},
       .is_updating = true},
      {.what = "a bad image is replaced at once",
       .image = PoolImage{.image = image_b},
       .config = "rendered-worker-1",
       .node = {.state = "Degraded", .desired_image = image_a},
       .patches = {"worker-0 rendered-worker-1 " + image_b},
       .is_updating = true},
  };
  for (const ImageCase& each : cases) {
    SCOPED_TRACE(each.what);
    World world;
    world.node("worker-0", each.node);
    world.pool("worker", each.config);
    if (each.image) world.images["worker"] = *each.image;
    EXPECT_EQ(patches(world), each.patches);
    const Json pool = world.status("worker");
    EXPECT_EQ(kube::condition_status(pool, "Updated"), each.is_updated ? "True" : "False");
    EXPECT_EQ(kube::condition_status(pool, "Updating"), each.is_updating ? "True" : "False");
    EXPECT_EQ(kube::condition_status(pool, "ImageBuildDegraded"), each.image ? "False" : "") << "unknown without image mode";
    const bool waits = each.image && each.image->image.empty();
    EXPECT_EQ(kube::condition_text(pool, "Updated", "reason") == waits_for_image_reason, waits);
    EXPECT_EQ(message_of(pool, "Updating").find("MachineOSBuild worker-1, which is Building") != std::string::npos, waits);
  }
}

TEST(PoolsInImageMode, NodesChangeOneAfterAnotherInBothDirections) {
  for (const bool is_opt_out : {false, true}) {
    const std::string from = is_opt_out ? image_a : "", to = is_opt_out ? "" : image_a;
    World world;
    if (!is_opt_out) world.images["worker"] = {.image = image_a};
    for (const char* name : {"worker-0", "worker-1"}) world.node(name, {.current_image = from, .desired_image = from});
    ASSERT_EQ(patches(world).size(), 1u);
    world.node("worker-0", {.current_image = from, .desired_image = to});
    EXPECT_EQ(patches(world), Lines{});
    world.node("worker-0", {.current_image = to, .desired_image = to});
    EXPECT_EQ(patches(world), Lines{fmt::format("worker-1 rendered-worker-1 {}", is_opt_out ? "null" : image_a)});
    world.node("worker-1", {.current_image = to, .desired_image = to});
    EXPECT_EQ(patches(world), Lines{});
    EXPECT_EQ(kube::condition_status(world.status("worker"), "Updated"), "True");
  }
}

TEST(PoolsInImageMode, ABuildThatFailedDegradesThePoolAndItsNodesStay) {
  World world;
  world.node("worker-0", {.current_image = image_a, .desired_image = image_a});
  world.pool("worker", "rendered-worker-2");
  world.images["worker"] = {.problem = "MachineOSBuild worker-2 failed: line 2"};
  EXPECT_EQ(patches(world), Lines{});
  Json pool = world.status("worker");
  for (const char* type : {"ImageBuildDegraded", "Degraded"}) {
    EXPECT_EQ(kube::condition_status(pool, type), "True") << type;
    EXPECT_EQ(message_of(pool, type), "MachineOSBuild worker-2 failed: line 2");
  }
  EXPECT_EQ(kube::condition_status(pool, "Updating"), "False");
  // Without its MachineOSConfig the pool forgets the failure.
  world.put(pool);
  world.images.clear();
  pool = world.status("worker");
  EXPECT_EQ(kube::condition_status(pool, "ImageBuildDegraded"), "False");
  EXPECT_EQ(kube::condition_status(pool, "Degraded"), "False");
  EXPECT_EQ(patches(world), Lines{"worker-0 rendered-worker-2 null"});
}

TEST(Pools, NameThePodThatBlocksADrain) {
  World world;
  world.node("worker-0", {.desired = "rendered-worker-2", .state = "Working", .is_cordoned = true});
  world.pool("worker", "rendered-worker-2");
  world.view.put({{"apiVersion", node_drains.api_version()},
                  {"kind", node_drains.kind},
                  {"metadata", {{"name", "worker-0"}}},
                  {"message", "draining, waiting for pods: Pod a/b is held by PodDisruptionBudget c"}});
  EXPECT_NE(message_of(world.status("worker"), "Updating")
                .find("worker-0 draining, waiting for pods: Pod a/b is held by PodDisruptionBudget c"),
            std::string::npos);
}

TEST(SchedulableMasters, GetTheWorkersLabelAndLoseTheTaint) {
  const Json taint = JsonObject{{"key", "node-role.kubernetes.io/master"}, {"effect", "NoSchedule"}};
  const Json other = JsonObject{{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoExecute"}};
  const struct {
    const char* what;
    bool wanted, has_label, has_taint;
    std::optional<Json> labels;
    std::optional<JsonArray> taints;
  } cases[] = {{"as wished", true, true, false, {}, {}},
               {"as wished", false, false, true, {}, {}},
               {"at first", true, false, true, Json{{"node-role.kubernetes.io/worker", ""}}, JsonArray{other}},
               {"back", false, true, false, Json{{"node-role.kubernetes.io/worker", nullptr}}, JsonArray{other, taint}},
               {"half", true, true, true, {}, JsonArray{other}}};
  for (const auto& each : cases) {
    World world;
    world.put({{"apiVersion", "config.openshift.io/v1"},
               {"kind", "Scheduler"},
               {"metadata", {{"name", "cluster"}}},
               {"spec", {{"mastersSchedulable", each.wanted}}}});
    world.node("worker-0");
    JsonObject labels;
    if (each.has_label) labels["node-role.kubernetes.io/worker"] = "";
    world.master("master-0", {.labels = labels});
    Json node = *world.view.snapshot().find(types::nodes, "", "master-0");
    JsonArray taints = {other};
    if (each.has_taint) taints.push_back(taint);
    node.as_object()["spec"].as_object()["taints"] = std::move(taints);
    world.put(node);
    const std::vector<NodeChange> changes = plan_schedulable_masters(world.view.snapshot());
    const bool is_so = !each.labels && !each.taints;
    ASSERT_EQ(changes.size(), is_so ? 0u : 1u) << each.what;
    if (is_so) continue;
    EXPECT_EQ(changes[0].node, "master-0");
    const Json* patched = find(changes[0].patch, {"metadata", "labels"});
    EXPECT_EQ(patched ? std::optional(*patched) : std::nullopt, each.labels) << each.what;
    EXPECT_EQ(find_array(changes[0].patch, {"spec", "taints"}), *each.taints) << each.what;
  }
}

TEST(MachineConfigNodes, ReportDesiredAndCurrentConfigs) {
  World world;
  world.node("worker-0", failing);
  world.node("joining", {.current = "", .desired = "", .state = ""});
  std::vector<Notice> notices;
  const auto desired_objects = [&] {
    const Snapshot seen = world.view.snapshot();
    return machine_config_nodes(pool_nodes(seen, notices), seen, now);
  };
  std::vector<DesiredObject> first = desired_objects();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(find_string(first[0].object, {"spec", "configVersion", "desired"}), "rendered-worker-2");
  EXPECT_EQ(find_string(first[0].object, {"spec", "pool", "name"}), "worker");
  world.put(first[0].object);
  const std::vector<DesiredObject> second = desired_objects();
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[1].how, DesiredObject::How::status);
  EXPECT_EQ(find_string(second[1].object, {"status", "configVersion", "current"}), "rendered-worker-1");
  EXPECT_EQ(kube::condition_status(second[1].object, "Updated"), "False");
  EXPECT_EQ(kube::condition_status(second[1].object, "NodeDegraded"), "True");
}

}  // namespace
}  // namespace slipway::components::machine_config_operator
