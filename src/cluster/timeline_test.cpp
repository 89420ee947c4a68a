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
      ended("operator", "Etcd MemberPromoted", 15),
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
  EXPECT_EQ(timeline.items[*timeline.items[3].waited_for].key, "operator Etcd MemberPromoted");
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
      assets_begin(10),
      stage,
      failed,
      from("other", ended("stage", "a", 5, 1)),
      from("bootstrap", ended("boot", "a", 5, 1)),
      from("bootstrap", ended("stage", "b", 5, 1)),
      from("bootstrap", ended("stage", "a", 6, 1)),
  });
  EXPECT_EQ(timeline.items.size(), 6u) << to_text(timeline);
}

TEST(TimelineText, NamesRevisionsBehindTheFirst) {
  const std::vector<sys::Event> once = {
      assets_begin(0), ended("operator", "Etcd RevisionCreated", 1000, {}, {{"description", "etcd revision 1: first"}})};
  EXPECT_EQ(to_text(make_timeline(once)),
            "    end   took\n"
            "*  1.00   0.00  etcd revision 1: first\n"
            "\nThe critical path, marked with * above; what each item added to it:\n"
            "   1.00 + 1.00  etcd revision 1: first\n"
            "\nOne revision of each operator.\n");
  std::vector<sys::Event> twice = once;
  twice.push_back(
      ended("operator", "Etcd RevisionCreated", 2000, {}, {{"description", "etcd revision 2: ConfigMap etcd-pod changed"}}));
  const std::string text = to_text(make_timeline(twice));
  EXPECT_NE(text.find("\nRevisions behind the first, and why:\n   2.00  etcd revision 2: ConfigMap etcd-pod changed\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace slipway::cluster
