#include "cluster/cluster_events.h"

#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

TEST(OperatorEvent, HasWhoWhatAndTheWords) {
  const Json event = {{"metadata", {{"uid", "u-1"}, {"resourceVersion", "7"}}},
                      {"source", {{"component", "cluster-etcd-operator"}}},
                      {"involvedObject", {{"kind", "Etcd"}, {"name", "cluster"}}},
                      {"reason", "MemberPromoted"},
                      {"message", "master-0 votes"},
                      {"type", "Normal"}};
  const sys::Event relayed = operator_event(event, WallTime(Milliseconds(1500)));
  EXPECT_EQ(relayed.to_line(), R"({"time":"1970-01-01T00:00:01.500Z","source":"cluster-etcd-operator","kind":"operator",)"
                               R"("name":"Etcd MemberPromoted","phase":"finished","description":"master-0 votes","id":"u-1/7"})");
  Json warning = event;
  warning.at("type") = "Warning";
  EXPECT_EQ(operator_event(warning, {}).fields.at("is_warning"), true);
}

Json told_about(std::string kind, std::string name, std::string words, std::string time = "") {
  const bool is_operators = kind == "Etcd";
  return {
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", {{"name", name}, {"namespace", "default"}}},
      {"involvedObject", {{"apiVersion", is_operators ? "operator.openshift.io/v1" : "v1"}, {"kind", kind}, {"name", "cluster"}}},
      {"source", {{"component", "cluster-etcd-operator"}}},
      {"reason", "MemberAdded"},
      {"message", words},
      {"lastTimestamp", time}};
}

TEST(ClusterEvents, AreHandedOnOnceForEachChange) {
  testing_support::FakeKube kube;
  testing_support::TestContext test;
  kube.put(told_about("Node", "other", "not ours"));
  kube.put(told_about("Etcd", "first", "master-0 learns"));
  std::vector<std::string> words;
  sys::Events events(test.clock, "test");
  events.add_sink([&](const sys::Event& event) {
    words.emplace_back(event.fields.at("description").as_string());
    if (words.size() == 1) kube.put(told_about("Etcd", "first", "master-1 learns"));
    if (words.size() == 2) kube.put(told_about("Etcd", "second", "master-2 learns"));
    if (words.size() == 3) test.stop.request_stop();
  });
  const sys::Context context = test.context();
  const Result<> followed = ClusterEvents({}).follow({context.clock, context.log, events, context.stop}, kube);
  EXPECT_EQ(followed.error().code(), Code::cancelled);
  EXPECT_EQ(words, (std::vector<std::string>{"master-0 learns", "master-1 learns", "master-2 learns"}));
}

// The events of a run at 09:30:00. The run is stopped after `count` events.
std::vector<sys::Event> follow_until(std::size_t count, testing_support::FakeKube& kube, const std::vector<sys::Event>& earlier) {
  testing_support::TestContext test;
  std::vector<sys::Event> events_of_run;
  sys::Events events(test.clock, "test");
  events.add_sink([&](const sys::Event& event) {
    events_of_run.push_back(event);
    if (events_of_run.size() == count) test.stop.request_stop();
  });
  const sys::Context context = test.context();
  const Result<> followed = ClusterEvents(earlier).follow({context.clock, context.log, events, context.stop}, kube);
  EXPECT_EQ(followed.error().code(), Code::cancelled);
  return events_of_run;
}

TEST(ClusterEvents, OfAnEarlierRunAreNotToldAgainAndThoseThatNobodyHeardAreTold) {
  testing_support::FakeKube kube;
  kube.put(told_about("Etcd", "a", "of this second", "2026-11-21T09:30:00Z"));
  kube.put(told_about("Etcd", "b", "once", "2026-11-21T09:29:00Z"));
  std::vector<sys::Event> earlier = follow_until(2, kube, {});
  for (sys::Event& event : earlier) event = sys::parse_event(event.to_line()).value();  // as the next run reads them
  kube.put(told_about("Etcd", "b", "twice", "2026-11-21T09:29:10Z"));
  kube.put(told_about("Etcd", "c", "missed", "2026-11-21T09:29:20Z"));
  kube.put(told_about("Etcd", "d", "fresh", "2026-11-21T09:30:05Z"));
  std::vector<std::string> relayed;
  for (const sys::Event& event : follow_until(3, kube, earlier))
    relayed.push_back(to_rfc3339(event.time) + " " + std::string(event.fields.at("description").as_string()));
  EXPECT_EQ(relayed, (std::vector<std::string>{"2026-11-21T09:29:10Z twice", "2026-11-21T09:29:20Z missed",
                                               "2026-11-21T09:30:00Z fresh"}));
}

Json of_condition(std::string kind, std::string name, std::string type, std::string status, std::string since) {
  return {{"apiVersion", kind == "Node" ? "v1" : "config.openshift.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}}},
          {"status", {{"conditions", JsonArray{{{"type", type}, {"status", status}, {"lastTransitionTime", since}}}}}}};
}

TEST(ConditionEvent, IsOfTheMomentAtWhichItBecameTrue) {
  const Json node = of_condition("Node", "worker-0", "Ready", "True", "2026-11-21T09:30:07Z");
  const auto relayed = condition_event(node, "Ready", "node", "node worker-0 is Ready", WallTime(Milliseconds(1500)));
  ASSERT_TRUE(relayed);
  EXPECT_EQ(relayed->to_line(),
            R"({"time":"1970-01-01T00:00:01.500Z","source":"kubernetes","kind":"node","name":"worker-0",)"
            R"("phase":"finished","description":"node worker-0 is Ready","id":"node/worker-0/2026-11-21T09:30:07Z"})");
  EXPECT_FALSE(condition_event(of_condition("Node", "a", "Ready", "False", ""), "Ready", "node", "", {}));
  EXPECT_FALSE(condition_event(node, "Available", "node", "", {}));
}

TEST(SettledEvent, IsOfTheMomentFromWhichOnAnOperatorHasNoWorkLeft) {
  const auto with = [](const char* available, const char* progressing, const char* degraded) {
    const auto condition = [](const char* type, const char* status, const char* since) {
      return Json{{"type", type}, {"status", status}, {"lastTransitionTime", since}};
    };
    return Json{{"metadata", {{"name", "dns"}}},
                {"status",
                 {{"conditions", JsonArray{condition("Available", available, "2026-11-21T09:30:07Z"),
                                           condition("Progressing", progressing, "2026-11-21T09:30:09Z"),
                                           condition("Degraded", degraded, "2026-11-21T09:40:00Z")}}}}};
  };
  const auto relayed = settled_event(with("True", "False", "False"), {});
  ASSERT_TRUE(relayed);
  EXPECT_EQ(relayed->fields.at("id").as_string(), "cluster-operator/dns/settled/2026-11-21T09:30:09Z");
  EXPECT_EQ(relayed->fields.at("description").as_string(), "clusteroperator dns: Available, not Progressing");
  EXPECT_FALSE(settled_event(with("True", "True", "False"), {}));
  EXPECT_FALSE(settled_event(with("False", "False", "False"), {}));
  EXPECT_FALSE(settled_event(with("True", "False", "True"), {}));
}

TEST(ClusterEvents, TellOnceThatAnOperatorIsAvailable) {
  testing_support::FakeKube kube;
  kube.serve_openshift();
  testing_support::TestContext test;  // at 09:30:00
  const auto dns = [](std::string status, std::string since) {
    return of_condition("ClusterOperator", "dns", "Available", status, since);
  };
  kube.put(dns("False", "2026-11-21T09:29:00Z"));
  kube.put(of_condition("ClusterOperator", "etcd", "Available", "True", "2026-11-21T09:29:10Z"));
  std::vector<std::string> relayed;
  std::vector<sys::Event> events_of_run;
  sys::Events events(test.clock, "test");
  events.add_sink([&](const sys::Event& event) {
    relayed.push_back(to_rfc3339(event.time) + " " + event.kind + " " + std::string(event.fields.at("description").as_string()));
    events_of_run.push_back(event);
    if (relayed.size() == 1) {
      kube.put(of_condition("ClusterOperator", "etcd", "Available", "True", "2026-11-21T09:29:10Z"));  // something else changed
      kube.put(dns("True", "2026-11-21T09:30:05Z"));
    } else {
      test.stop.request_stop();
    }
  });
  const sys::Context context = test.context();
  const Result<> followed = ClusterEvents({}).follow_operators({context.clock, context.log, events, context.stop}, kube);
  EXPECT_EQ(followed.error().code(), Code::cancelled);
  const std::vector<std::string> expected = {"2026-11-21T09:29:10Z cluster-operator operator etcd is Available",
                                             "2026-11-21T09:30:00Z cluster-operator operator dns is Available"};
  EXPECT_EQ(relayed, expected);
  // The next run does not repeat them.
  kube.put(of_condition("ClusterOperator", "network", "Available", "True", "2026-11-21T09:29:30Z"));
  testing_support::TestContext next;
  std::vector<std::string> names;
  sys::Events again(next.clock, "test");
  again.add_sink([&](const sys::Event& event) {
    names.push_back(event.name);
    next.stop.request_stop();
  });
  const sys::Context later = next.context();
  (void)ClusterEvents(events_of_run).follow_operators({later.clock, later.log, again, later.stop}, kube);
  EXPECT_EQ(names, std::vector<std::string>{"network"});
}

}  // namespace
}  // namespace slipway::cluster
