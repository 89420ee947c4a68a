#include "cluster/cluster_events.h"

#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

TEST(OperatorEvent, HasWhoWhatAndTheWords) {
  const Json event = {{"source", {{"component", "cluster-etcd-operator"}}},
                      {"involvedObject", {{"kind", "Etcd"}, {"name", "cluster"}}},
                      {"reason", "MemberPromoted"},
                      {"message", "master-0 votes"},
                      {"type", "Normal"}};
  const sys::Event told = operator_event(event, WallTime(Milliseconds(1500)));
  EXPECT_EQ(told.to_line(), R"({"time":"1970-01-01T00:00:01.500Z","source":"cluster-etcd-operator","kind":"operator",)"
                            R"("name":"Etcd MemberPromoted","phase":"finished","description":"master-0 votes"})");
  Json warning = event;
  warning.at("type") = "Warning";
  EXPECT_EQ(operator_event(warning, {}).fields.at("is_warning"), true);
}

Json told_about(std::string kind, std::string name, std::string words) {
  const bool is_operators = kind == "Etcd";
  return {
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", {{"name", name}, {"namespace", "default"}}},
      {"involvedObject", {{"apiVersion", is_operators ? "operator.openshift.io/v1" : "v1"}, {"kind", kind}, {"name", "cluster"}}},
      {"source", {{"component", "cluster-etcd-operator"}}},
      {"reason", "MemberAdded"},
      {"message", words}};
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
  const Result<> followed = ClusterEvents().follow({context.clock, context.log, events, context.stop}, kube);
  EXPECT_EQ(followed.error().code(), Code::cancelled);
  EXPECT_EQ(words, (std::vector<std::string>{"master-0 learns", "master-1 learns", "master-2 learns"}));
}

}  // namespace
}  // namespace slipway::cluster
