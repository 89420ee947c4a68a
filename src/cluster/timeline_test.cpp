#include "cluster/timeline.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

sys::Event ended(std::string kind, std::string name, int at, std::optional<int> took = {}, JsonObject fields = {}) {
  sys::Event event{.kind = std::move(kind), .name = std::move(name), .phase = sys::Phase::finished, .fields = std::move(fields)};
  event.time = WallTime(Milliseconds(at));
  if (took) event.duration = Milliseconds(*took);
  return event;
}

sys::Event assets_begin(int at) {
  sys::Event event{.kind = "step", .name = "assets", .phase = sys::Phase::started};
  event.time = WallTime(Milliseconds(at));
  return event;
}

std::vector<std::string> path_of(const Timeline& timeline) {
  std::vector<std::string> keys;
  for (const std::size_t i : timeline.critical_path()) keys.push_back(timeline.items[i].key);
  return keys;
}

TEST(Timeline, StagesWaitForWhatTheyNeedAndTheSlowestOfItIsCritical) {
  const Timeline timeline = make_timeline({
      assets_begin(1000),
      ended("step", "assets", 1100, 100),
      ended("stage", "a", 1500, 400),
      ended("stage", "b", 1900, 300),
      ended("stage", "c", 2500, 600, {{"needs", {"a", "b"}}}),
  });
  EXPECT_EQ(path_of(timeline), (std::vector<std::string>{"stage b", "stage c"}));
  EXPECT_TRUE(timeline.items[2].is_critical);
  EXPECT_FALSE(timeline.items[1].is_critical);
}

TEST(Timeline, OperatorsWaitForEachOtherByTheTable) {
  const std::string etcd = "Etcd ", apiserver = "KubeAPIServer ";
  const Timeline timeline = make_timeline({
      assets_begin(0),
      ended("certificate-request", "csr-1", 10, 0),
      ended("operator", etcd + "RevisionCreated", 20),
      ended("operator", etcd + "InstallCompleted", 30),
      ended("operator", etcd + "MemberPromoted", 50),
      ended("operator", etcd + "NodeRevisionReady", 60),
      ended("operator", "KubeScheduler NodeRevisionReady", 65),
      ended("operator", apiserver + "NodeRevisionReady", 90),
  });
  EXPECT_EQ(path_of(timeline),
            (std::vector<std::string>{"certificate-request csr-1", "operator " + etcd + "RevisionCreated",
                                      "operator " + etcd + "InstallCompleted", "operator " + etcd + "MemberPromoted",
                                      "operator " + apiserver + "NodeRevisionReady"}));
}

TEST(Timeline, TheOperatorThatWasLastIsNamed) {
  const Timeline timeline = make_timeline({
      assets_begin(0),
      ended("report-progress", "bootstrap", 10, 0),
      ended("operator", "Etcd NodeRevisionReady", 15),
      ended("node", "worker-0", 20),
      ended("cluster-operator", "etcd", 25),
      ended("cluster-operator", "dns", 30),
      ended("step", "worker-nodes", 31, 5),
      ended("cluster-operator", "ingress", 40),
      ended("step", "cluster-operators", 41, 10),
      ended("step", "cluster-version", 42, 1),
  });
  EXPECT_EQ(path_of(timeline),
            (std::vector<std::string>{"report-progress bootstrap", "node worker-0", "cluster-operator dns",
                                      "cluster-operator ingress", "step cluster-operators", "step cluster-version"}));
  EXPECT_EQ(timeline.items[*timeline.items[3].waited_for].key, "operator Etcd NodeRevisionReady");
}

TEST(Timeline, GoesOnAfterAKillAndEndsWithTheInstallation) {
  const Timeline timeline =
      make_timeline({assets_begin(0), ended("stage", "a", 5, 1), assets_begin(1000), ended("stage", "b", 1005, 1),
                     ended("step", "cluster-version", 1010, 2), assets_begin(9000), ended("step", "assets", 9001, 1)});
  std::vector<std::string> keys;
  for (const TimelineItem& item : timeline.items) keys.push_back(item.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"stage a", "stage b", "step cluster-version"}));
  EXPECT_EQ(timeline.start, WallTime(Milliseconds(0)));
  EXPECT_TRUE(make_timeline({}).items.empty());
}

TEST(Timeline, HasOnceWhatAContinuedRunToldAgain) {
  const auto from = [](std::string source, sys::Event event) {
    event.source = std::move(source);
    return event;
  };
  const sys::Event stage = from("bootstrap", ended("stage", "a", 5, 1));
  sys::Event failed = stage;
  failed.phase = sys::Phase::failed;
  const Timeline timeline = make_timeline({
      assets_begin(0),
      stage,
      assets_begin(1),
      stage,
      failed,
      from("other", ended("stage", "a", 5, 1)),
      from("bootstrap", ended("boot", "a", 5, 1)),
      from("bootstrap", ended("stage", "b", 5, 1)),
      from("bootstrap", ended("stage", "a", 6, 1)),
  });
  const auto open = std::ranges::count_if(timeline.items, &TimelineItem::is_open);
  EXPECT_EQ(timeline.items.size() - static_cast<std::size_t>(open), 6u) << to_text(timeline);
}

// A worker that joined during the installation. The events of its machine are in another stream.
TEST(Timeline, AWorkerWaitsForItsMachineAndThatForTheClustersConfig) {
  const Timeline timeline = make_timeline({
      assets_begin(0),
      ended("step", "assets", 1, 1),
      ended("step", "machines", 5, 4),
      ended("report-progress", "bootstrap", 800, 0),
      ended("step", "worker-nodes", 1300, 400),
      ended("node", "worker-0", 1320),
      ended("cluster-operator", "ingress", 1400),
      ended("step", "cluster-operators", 1401, 100),
      ended("step", "cluster-version", 1402, 1),
      ended("stage", "worker-0-ignition", 900, 880, {{"needs", {"worker-0-disk"}}}),
      ended("stage", "worker-0-turn", 950, 50, {{"needs", {"worker-0-ignition"}}}),
      ended("boot", "worker-0", 1100, 150),
      ended("boot", "worker-1", 1150, 150),
  });
  EXPECT_TRUE(timeline.is_complete);
  EXPECT_EQ(
      path_of(timeline),
      (std::vector<std::string>{"report-progress bootstrap", "stage worker-0-ignition", "stage worker-0-turn", "boot worker-0",
                                "node worker-0", "cluster-operator ingress", "step cluster-operators", "step cluster-version"}));
}

TEST(Timeline, WhatAWatchTellsAMomentLateHappenedBeforeWhatFollowsFromIt) {
  const Timeline timeline = make_timeline({
      assets_begin(0),
      ended("node", "master-1", 1000),
      ended("step", "control-plane-nodes", 2000, 1500),
      ended("node", "master-2", 2030),
      ended("operator", "Etcd InstallCompleted", 3000),
      ended("operator", "Etcd RevisionCreated", 3100),
      ended("operator", "KubeScheduler InstallCompleted", 4000),
      ended("operator", "KubeScheduler RevisionCreated", 4700),
  });
  const auto item = [&](const std::string& key) {
    const auto found = std::ranges::find(timeline.items, key, &TimelineItem::key);
    EXPECT_NE(found, timeline.items.end()) << key;
    return *found;
  };
  const auto cause = [&](const std::string& key) {
    const std::optional<std::size_t> before = item(key).waited_for;
    return before ? timeline.items[*before].key : "";
  };
  EXPECT_EQ(cause("step control-plane-nodes"), "node master-2");
  EXPECT_EQ(item("node master-2").end, WallTime(Milliseconds(2000)));
  EXPECT_EQ(cause("operator Etcd InstallCompleted"), "operator Etcd RevisionCreated");
  EXPECT_EQ(cause("operator KubeScheduler InstallCompleted"), "") << "that was too long after it";
}

TEST(Timeline, OfAnInstallationThatIsNotCompleteTellsWhatIsNotOver) {
  const auto began = [](std::string kind, std::string name, int at) {
    sys::Event event{.kind = std::move(kind), .name = std::move(name), .phase = sys::Phase::started};
    event.time = WallTime(Milliseconds(at));
    return event;
  };
  sys::Event failed = ended("stage", "b", 900, 100);
  failed.phase = sys::Phase::failed;
  failed.error = Error(Code::timeout, "no answer");
  std::vector<sys::Event> events = {assets_begin(0),         ended("step", "assets", 1, 1), began("stage", "a", 10),
                                    ended("stage", "a", 20), began("stage", "b", 800),      failed,
                                    began("stage", "b", 950)};
  events.push_back(began("stage", "b", 960));
  events.back().phase = sys::Phase::progress;
  const Timeline timeline = make_timeline(events);
  EXPECT_FALSE(timeline.is_complete);
  ASSERT_EQ(timeline.items.size(), 4u);
  EXPECT_TRUE(timeline.items[2].has_failed);
  EXPECT_EQ(timeline.items[2].detail, "no answer");
  EXPECT_TRUE(timeline.items[3].is_open);
  EXPECT_EQ(path_of(timeline).back(), "stage b");
  EXPECT_NE(to_text(timeline).find("stage b, not finished"), std::string::npos) << to_text(timeline);
  // A complete timeline has no open spans, for example of a removed machine.
  events.push_back(ended("step", "cluster-version", 1000, 1));
  EXPECT_EQ(std::ranges::count_if(make_timeline(events).items, &TimelineItem::is_open), 0);
}

TEST(TimelineJson, HasTheMembersOfItsFormat) {
  const Json json = to_json(make_timeline({assets_begin(1000), ended("step", "assets", 1500, 400),
                                           ended("certificate-request", "node-csr-1", 1600, {}, {{"node", "master-0"}}),
                                           ended("node", "master-0", 1700, {}, {{"description", "node master-0 is Ready"}})}),
                            "demo");
  EXPECT_EQ(emit_json(json, JsonStyle::compact),
            R"({"cluster":"demo","start":"1970-01-01T00:00:01Z","took_ms":700,"is_complete":false,"items":[)"
            R"({"key":"step assets","label":"step assets","group":"slipway: steps","begin_ms":100,"end_ms":500},)"
            R"({"key":"certificate-request master-0","label":"the certificate of master-0 is approved","group":"nodes",)"
            R"("begin_ms":600,"end_ms":600,"detail":"node-csr-1","critical":true},)"
            R"({"key":"node master-0","label":"node master-0 is Ready","group":"nodes","begin_ms":700,"end_ms":700,)"
            R"("waited_for":1,"critical":true}],"critical_path":[1,2]})");
}

TEST(TimelineText, NamesRevisionsBehindTheFirst) {
  const std::vector<sys::Event> once = {
      assets_begin(0), ended("step", "assets", 10, 10),
      ended("operator", "Etcd RevisionCreated", 1000, {}, {{"description", "etcd revision 1: first"}})};
  EXPECT_EQ(to_text(make_timeline(once)),
            "    end   took\n"
            "   0.01   0.01  step assets\n"
            "*  1.00   0.00  etcd revision 1: first\n"
            "\nCritical path (marked with * above) and the time that each item adds:\n"
            "   1.00 + 1.00  etcd revision 1: first\n"
            "\nOne revision of each operator.\n");
  std::vector<sys::Event> twice = once;
  twice.push_back(
      ended("operator", "Etcd RevisionCreated", 2000, {}, {{"description", "etcd revision 2: ConfigMap etcd-pod changed"}}));
  const std::string text = to_text(make_timeline(twice));
  EXPECT_NE(text.find("\nFurther revisions and their reasons:\n   2.00  etcd revision 2: ConfigMap etcd-pod changed\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace slipway::cluster
