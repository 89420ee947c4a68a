#include "components/static_pod/rollout.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

using namespace std::chrono_literals;

const Operand operand{.name = "etcd",
                      .settings = kube::types::etcds,
                      .operator_space = "openshift-etcd-operator",
                      .space = "openshift-etcd",
                      .pod = "etcd",
                      .revisioned = {},
                      .unversioned = {}};
const WallTime start = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + 9h;

using Names = std::vector<std::string>;

// Three masters, their pods and the settings. The results of plans are stored like the kit stores them.
struct World {
  explicit World(const Names& masters = {"master-0", "master-1", "master-2"}) {
    for (const std::string& name : masters) node(name, "True");
  }

  void node(const std::string& name, std::string_view ready, bool is_master = true) {
    JsonObject labels{{is_master ? "node-role.kubernetes.io/master" : "node-role.kubernetes.io/worker", ""}};
    view.put({{"apiVersion", "v1"},
              {"kind", "Node"},
              {"metadata", {{"name", name}, {"labels", std::move(labels)}}},
              {"status", {{"conditions", JsonArray{{{"type", "Ready"}, {"status", ready}, {"reason", "Because"}}}}}}});
  }
  void pod(const std::string& name, int revision, bool is_ready, JsonArray containers = {}) {
    view.put(
        {{"apiVersion", "v1"},
         {"kind", "Pod"},
         {"metadata",
          {{"name", "etcd-" + name}, {"namespace", operand.space}, {"labels", {{"revision", std::to_string(revision)}}}}},
         {"status",
          {{"conditions",
            JsonArray{{{"type", "Ready"}, {"status", is_ready ? "True" : "False"}, {"lastTransitionTime", to_rfc3339(now)}}}},
           {"containerStatuses", std::move(containers)}}}});
  }
  // All nodes run this revision.
  void at(int revision, const Names& masters = {"master-0", "master-1", "master-2"}) {
    std::vector<NodeStatus> statuses;
    for (const std::string& name : masters) {
      statuses.push_back({.node = name, .current = revision});
      pod(name, revision, true);
    }
    settings = with_node_statuses(settings, statuses);
    settings.at("status").as_object()["latestAvailableRevision"] = revision;
  }
  RolloutState plan(int latest) {
    RolloutState state = plan_rollout(operand, settings, latest, missing, view.snapshot(), rollout_guard, now);
    settings = with_conditions(with_node_statuses(settings, state.nodes), state.conditions, now);
    if (state.published > 0) settings.at("status").as_object()["latestAvailableRevision"] = state.published;
    for (const Notice& notice : state.notices) notices.push_back(notice.reason + ": " + notice.message);
    return state;
  }
  // What the installer on a node writes after a failure.
  void installer_failed(const std::string& name, int revision) {
    std::vector<NodeStatus> statuses = parse_node_statuses(settings);
    for (NodeStatus& status : statuses) {
      if (status.node != name) continue;
      status.last_failed_count = status.last_failed == revision ? status.last_failed_count + 1 : 1;
      status.last_failed = revision;
      status.last_failed_reason = "InstallerFailed";
      status.last_failed_errors = {"no space"};
      status.last_failed_time = to_rfc3339(now);
    }
    settings = with_node_statuses(settings, statuses);
  }
  int wanted(const std::string& name) const { return wanted_revision(settings, name); }
  // "1>2 1 2": current and target of each node.
  std::string revisions() const {
    std::string text;
    for (const NodeStatus& status : parse_node_statuses(settings)) {
      text +=
          fmt::format("{}{}{}", text.empty() ? "" : " ", status.current, status.target ? fmt::format(">{}", status.target) : "");
    }
    return text;
  }

  View view;
  Json settings{{"apiVersion", "operator.openshift.io/v1"},
                {"kind", "Etcd"},
                {"metadata", {{"name", "cluster"}}},
                {"status", JsonObject()}};
  WallTime now = start;
  RolloutGuard rollout_guard;
  Names missing;
  Names notices;
};

Condition condition(const RolloutState& state, std::string_view type) {
  for (const Condition& each : state.conditions) {
    if (each.type == type) return each;
  }
  return {.type = "no such condition"};
}

JsonArray keeps_ending() {
  return {{{"name", "etcd"},
           {"restartCount", 3},
           {"state", {{"waiting", {{"reason", "CrashLoopBackOff"}}}}},
           {"lastState", {{"terminated", {{"exitCode", 7}}}}}}};
}

TEST(Rollout, MakesEntriesOfMastersBeforeThereIsARevision) {
  World world;
  world.node("worker-0", "True", false);
  world.missing = {"Secret openshift-etcd/etcd-all-certs"};
  const RolloutState state = world.plan(0);
  EXPECT_EQ(world.revisions(), "0 0 0");
  EXPECT_EQ(state.nodes.front().node, "master-0");
  EXPECT_EQ(state.published, 0);
  EXPECT_EQ(condition(state, "NodeInstallerProgressing").message,
            "no revision yet; missing: Secret openshift-etcd/etcd-all-certs");
  EXPECT_TRUE(condition(state, "InstallerControllerDegraded").is_true);
  EXPECT_FALSE(condition(state, "StaticPodsAvailable").is_true);
  EXPECT_FALSE(state.is_complete);
}

TEST(Rollout, PublishesTheFirstRevisionToAllAtOnce) {
  World world;
  // The entry is created first, because the CRD refuses a new entry with a revision.
  EXPECT_EQ(world.plan(1).published, 0);
  EXPECT_EQ(world.plan(1).published, 1);
  for (const char* name : {"master-0", "master-1", "master-2"}) EXPECT_EQ(world.wanted(name), 1) << name;
  EXPECT_EQ(world.revisions(), "0 0 0");
  EXPECT_EQ(world.notices, (Names{"NodeTargeted: etcd revision 1 is rolled out to master-0, master-1, master-2"}));
  world.notices.clear();

  world.pod("master-0", 1, true);
  world.pod("master-2", 1, false);
  RolloutState state = world.plan(1);
  EXPECT_EQ(world.revisions(), "1 0 0");
  EXPECT_EQ(condition(state, "NodeInstallerProgressing").message,
            "1 of 3 nodes at revision 1; master-1: no pod of this revision yet; master-2: pod not Ready");
  EXPECT_TRUE(condition(state, "StaticPodsAvailable").is_true);
  EXPECT_EQ(state.ready_replicas, 1);

  world.pod("master-1", 1, true);
  world.pod("master-2", 1, true);
  state = world.plan(1);
  EXPECT_EQ(world.revisions(), "1 1 1");
  EXPECT_TRUE(state.is_complete);
  EXPECT_EQ(condition(state, "NodeInstallerProgressing"),
            (Condition{"NodeInstallerProgressing", false, "AllNodesAtLatestRevision", "3 of 3 nodes at revision 1"}));
  EXPECT_EQ(world.notices, (Names{"NodeRevisionReady: etcd revision 1 is Ready on master-0",
                                  "NodeRevisionReady: etcd revision 1 is Ready on master-1",
                                  "NodeRevisionReady: etcd revision 1 is Ready on master-2"}));
}

TEST(Rollout, DoesNotWaitForNodesWhosePodNetworkIsNotThere) {
  World world;
  for (const char* name : {"master-0", "master-1", "master-2"}) world.node(name, "False");
  world.plan(1);
  const RolloutState state = world.plan(1);
  EXPECT_EQ(state.published, 1);
  EXPECT_TRUE(condition(state, "NodeControllerDegraded").is_true);
}

TEST(Rollout, GivesANewMasterTheLatestAtOnce) {
  World world;
  world.at(2);
  world.node("master-3", "True");
  world.plan(2);
  EXPECT_EQ(world.wanted("master-3"), 2);
  EXPECT_EQ(world.notices, (Names{"NodeTargeted: etcd revision 2 is rolled out to master-3"}));
  world.plan(2);
  // The other nodes wait for it.
  world.plan(3);
  EXPECT_EQ(world.revisions(), "2 2 2 0");
  EXPECT_EQ(world.wanted("master-3"), 3);
  world.pod("master-3", 3, true);
  world.plan(3);
  world.plan(3);
  EXPECT_EQ(world.revisions(), "2>3 2 2 3");
}

TEST(Rollout, GoesOneNodeAfterAnother) {
  World world;
  world.at(1);
  const Names masters = {"master-0", "master-1", "master-2"};
  const Names steps = {"1>2 1 1", "2 1>2 1", "2 2 1>2"};
  for (std::size_t i = 0; i < masters.size(); ++i) {
    world.plan(2);
    EXPECT_EQ(world.revisions(), steps[i]);
    world.pod(masters[i], 1, false);
    world.plan(2);
    world.pod(masters[i], 2, false);
    world.plan(2);
    EXPECT_EQ(world.revisions(), steps[i]);
    world.pod(masters[i], 2, true);
    world.plan(2);
  }
  EXPECT_EQ(world.revisions(), "2 2 2");
  EXPECT_TRUE(world.plan(2).is_complete);
}

TEST(Rollout, BeginsNothingInThePlanInWhichSomethingEnded) {
  World world;
  world.at(1);
  world.plan(2);
  world.pod("master-0", 2, true);
  world.plan(2);
  EXPECT_EQ(world.revisions(), "2 1 1");
  world.plan(2);
  EXPECT_EQ(world.revisions(), "2 1>2 1");
}

TEST(Rollout, IsHeldWhileAnotherPodIsNotReady) {
  World world;
  world.at(1);
  world.plan(2);
  world.pod("master-0", 2, true);
  world.plan(2);
  world.pod("master-0", 2, false);
  const RolloutState state = world.plan(2);
  EXPECT_EQ(world.revisions(), "2 1 1");
  EXPECT_NE(condition(state, "NodeInstallerProgressing").message.find("held: pod etcd-master-0 is not Ready"), std::string::npos);
  EXPECT_TRUE(condition(state, "StaticPodsDegraded").is_true);
}

TEST(Rollout, BeginsWithTheNodeWhosePodIsNotReady) {
  World world;
  world.at(1);
  world.pod("master-2", 1, false);
  world.plan(2);
  EXPECT_EQ(world.revisions(), "1 1 1>2");
}

TEST(Rollout, IsHeldBackByTheOperator) {
  World world;
  world.at(1);
  std::optional<WallTime> until;
  world.rollout_guard = [&](const Snapshot&, const std::string& node, WallTime now) -> std::optional<Objection> {
    until = now + 3s;
    return node == "master-2" ? std::nullopt : std::optional(Objection{"two voters would be left", until});
  };
  RolloutState state = world.plan(2);
  EXPECT_EQ(world.revisions(), "1 1 1>2");
  EXPECT_EQ(state.replan_at, until);
  world.pod("master-2", 2, true);
  world.plan(2);
  state = world.plan(2);
  EXPECT_EQ(world.revisions(), "1 1 2");
  EXPECT_NE(condition(state, "NodeInstallerProgressing").message.find("held: two voters would be left"), std::string::npos);
}

TEST(Rollout, PassesOverNodesWhoseKubeletIsSilent) {
  World world;
  world.at(1);
  world.node("master-0", "Unknown");
  world.pod("master-0", 1, false);
  world.plan(2);
  EXPECT_EQ(world.revisions(), "1 1>2 1");
  for (const char* name : {"master-1", "master-2"}) {
    world.pod(name, 2, true);
    world.plan(2);
    world.plan(2);
  }
  EXPECT_EQ(world.revisions(), "1 2 2");
  world.node("master-0", "True");
  world.plan(2);
  EXPECT_EQ(world.revisions(), "1>2 2 2");
}

TEST(Rollout, GoesBackWhenTheInstallerFailedAndTriesAgainAfterAPause) {
  World world;
  world.at(1);
  world.plan(2);
  world.notices.clear();
  world.installer_failed("master-0", 2);
  RolloutState state = world.plan(2);
  EXPECT_EQ(world.revisions(), "1 1 1");
  EXPECT_EQ(world.wanted("master-0"), 1);
  EXPECT_EQ(state.replan_at, start + 10s);
  EXPECT_TRUE(condition(state, "NodeInstallerDegraded").is_true);
  EXPECT_EQ(condition(state, "NodeInstallerDegraded").message, "master-0: revision 2: no space");
  EXPECT_EQ(world.notices, (Names{"NodeRevisionFailed: etcd revision 2 failed on master-0 at attempt 1: no space; rolling back "
                                  "to revision 1, retrying after 10.0 s"}));

  world.now += 9s;
  state = world.plan(2);
  EXPECT_EQ(world.revisions(), "1 1 1");
  EXPECT_EQ(state.replan_at, start + 10s);
  EXPECT_NE(condition(state, "NodeInstallerProgressing").message.find("held: revision 2 failed on master-0"), std::string::npos);
  world.now += 1s;
  world.plan(2);
  EXPECT_EQ(world.revisions(), "1>2 1 1");

  world.installer_failed("master-0", 2);
  EXPECT_EQ(world.plan(2).replan_at, start + 25s);
  world.now += 15s;
  world.plan(2);
  world.pod("master-0", 2, true);
  state = world.plan(2);
  EXPECT_EQ(world.revisions(), "2 1 1");
  EXPECT_EQ(state.nodes[0], (NodeStatus{.node = "master-0", .current = 2}));
  EXPECT_FALSE(condition(state, "NodeInstallerDegraded").is_true);
}

TEST(Rollout, GoesBackWhenAPodIsNotReadyInTime) {
  const struct {
    JsonArray containers;
    Milliseconds limit;
    std::string error;
  } table[] = {
      {{}, 5min, "pod etcd-master-0 was not Ready for 5 min 0 s"},
      {keeps_ending(), 2min, "pod etcd-master-0 was not Ready for 2 min 0 s: container etcd keeps crashing with exit code 7"}};
  for (const auto& row : table) {
    World world;
    world.at(1);
    world.plan(2);
    world.now += 3s;
    world.pod("master-0", 2, false, row.containers);
    const WallTime end = world.now + row.limit;
    EXPECT_EQ(world.plan(2).replan_at, end);
    EXPECT_EQ(world.revisions(), "1>2 1 1");
    world.now = end;
    RolloutState state = world.plan(2);
    EXPECT_EQ(world.revisions(), "1>1 1 1");
    EXPECT_EQ(state.nodes[0].last_failed_reason, "PodNotReady");
    EXPECT_EQ(state.nodes[0].last_failed_errors, (Names{row.error}));
    // The pause is over, but the previous revision is not Ready yet.
    world.now += 1min;
    world.pod("master-0", 1, false);
    world.plan(2);
    EXPECT_EQ(world.revisions(), "1>1 1 1");
    world.pod("master-0", 1, true);
    world.plan(2);
    EXPECT_EQ(world.revisions(), "1 1 1");
    world.plan(2);
    EXPECT_EQ(world.revisions(), "1>2 1 1");
  }
}

TEST(Rollout, GoesBackWhenAPodDoesNotComeAtAll) {
  World world;
  world.at(1);
  RolloutState state = world.plan(2);
  EXPECT_TRUE(condition(state, "MissingStaticPodControllerDegraded").is_true);
  world.view.remove(kube::types::pods, operand.space, "etcd-master-0");
  world.now += 4min;
  state = world.plan(2);
  EXPECT_EQ(world.revisions(), "1>2 1 1");
  EXPECT_EQ(state.replan_at, start + 5min);
  world.now += 1min;
  state = world.plan(2);
  EXPECT_EQ(world.revisions(), "1>1 1 1");
  EXPECT_EQ(state.nodes[0].last_failed_reason, "PodMissing");
  // The previous revision has the same time, although a pod was missing all the time.
  world.now += 1min;
  EXPECT_EQ(world.plan(2).replan_at, start + 10min);
  EXPECT_EQ(world.revisions(), "1>1 1 1");
}

TEST(Rollout, TriesTheLatestAgainWhenTheOneBeforeDoesNotComeBackEither) {
  World world;
  world.at(1);
  world.plan(2);
  world.pod("master-0", 2, false);
  world.now += 5min;
  world.plan(2);
  EXPECT_EQ(world.revisions(), "1>1 1 1");
  world.pod("master-0", 1, false);
  EXPECT_EQ(world.plan(2).replan_at, start + 5min + 10s);
  world.now += 10s;
  EXPECT_EQ(world.plan(2).replan_at, start + 10min);
  world.now = start + 10min;
  world.plan(2);
  EXPECT_EQ(world.revisions(), "1>2 1 1");
  EXPECT_EQ(world.plan(2).nodes[0].last_failed_count, 1);
}

TEST(Rollout, GivesANewerRevisionAtOnceToTheNodeThatFailed) {
  World world;
  world.at(1);
  world.plan(2);
  world.pod("master-0", 2, true);
  world.plan(2);
  world.plan(2);
  world.installer_failed("master-1", 2);
  world.plan(2);
  EXPECT_EQ(world.revisions(), "2 1 1");
  world.plan(3);
  EXPECT_EQ(world.revisions(), "2 1>3 1");
}

TEST(Rollout, ReplacesTheTargetByANewerRevision) {
  World world;
  world.at(1);
  world.plan(2);
  world.pod("master-0", 2, false);
  world.plan(3);
  EXPECT_EQ(world.revisions(), "1>3 1 1");
  world.pod("master-0", 3, true);
  world.plan(3);
  EXPECT_EQ(world.revisions(), "3 1 1");
}

TEST(Rollout, TellsOnceOfAFirstRevisionThatFails) {
  World world;
  world.plan(1);
  world.plan(1);
  for (const char* name : {"master-0", "master-1", "master-2"}) world.pod(name, 1, std::string_view(name) != "master-1");
  world.plan(1);
  world.now += 5min;
  RolloutState state = world.plan(1);
  EXPECT_EQ(world.revisions(), "1 0 1");
  EXPECT_EQ(world.wanted("master-1"), 1);
  EXPECT_EQ(state.nodes[1].last_failed_count, 1);
  world.now += 1h;
  state = world.plan(1);
  EXPECT_EQ(state.nodes[1].last_failed_count, 1);
  EXPECT_EQ(state.replan_at, std::nullopt);
  world.pod("master-1", 1, true);
  EXPECT_EQ(world.plan(1).nodes[1], (NodeStatus{.node = "master-1", .current = 1}));
}

// The settings were deleted and created again while the pods run.
TEST(Rollout, TakesOverWhatRuns) {
  World world;
  world.at(4);
  world.settings.at("status") = JsonObject();
  EXPECT_EQ(world.plan(5).published, 0);
  world.plan(5);
  EXPECT_EQ(world.revisions(), "4 4 4");
  EXPECT_EQ(world.wanted("master-1"), 4);
  world.plan(5);
  EXPECT_EQ(world.revisions(), "4>5 4 4");
}

TEST(Rollout, ForgetsNodesThatAreGone) {
  World world;
  world.at(1);
  world.view.remove(kube::types::nodes, "", "master-1");
  EXPECT_EQ(world.plan(1).nodes.size(), 2U);
}

TEST(Rollout, PausesLongerAfterEachFailureUpToTenMinutes) {
  const struct {
    int failures;
    Milliseconds pause;
  } table[] = {{1, 10s}, {2, 15s}, {3, 22'500ms}, {11, 9min + 36'650ms}, {12, 10min}, {500, 10min}};
  for (const auto& row : table) {
    World world;
    world.at(1);
    world.plan(2);
    std::vector<NodeStatus> statuses = parse_node_statuses(world.settings);
    statuses[0] = {.node = "master-0",
                   .current = 1,
                   .target = 2,
                   .last_failed = 2,
                   .last_failed_count = row.failures,
                   .last_failed_time = to_rfc3339(start)};
    world.settings = with_node_statuses(world.settings, statuses);
    EXPECT_EQ(std::chrono::floor<Seconds>(*world.plan(2).replan_at - start), std::chrono::floor<Seconds>(row.pause))
        << row.failures;
  }
}

}  // namespace
}  // namespace slipway::components
