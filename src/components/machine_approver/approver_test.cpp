#include "components/machine_approver/approver.h"

#include "base/digest.h"
#include "kube/conditions.h"
#include "net/x509.h"
#include "support/client_request.h"
#include "support/fake_kube.h"
#include "support/test_context.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>

namespace slipway::components::machine_approver {
namespace {

using testing_support::FakeKube;
using testing_support::RealTimeContext;

Json client_request(const std::string& object_name, const std::string& node, const Secret& key = net::make_key().value()) {
  const std::string pem =
      net::make_request(key, {.common_name = "system:node:" + node, .organizations = {"system:nodes"}}, {}, {}).value();
  return {{"apiVersion", "certificates.k8s.io/v1"},
          {"kind", "CertificateSigningRequest"},
          {"metadata", {{"name", object_name}}},
          {"spec", testing_support::client_request_spec(base64_encode(pem))}};
}

Json node(const std::string& name) { return {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", name}}}}; }

Json table_of(const std::string& rows) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", "machine-addresses"}, {"namespace", "openshift-config"}}},
          {"data", {{"machines", rows}}}};
}

class ApproverTest : public testing::Test {
 protected:
  // Counts writes and calls `meanwhile` after each.
  void count_writes(const std::function<void(int)>& meanwhile = {}) {
    kube.after_write = [this, meanwhile](const Json&) {
      const int now = ++written;
      if (meanwhile) meanwhile(now);
      for (sys::Wakeup& wakeup : over) wakeup.notify();
    };
  }
  std::function<Result<>(const sys::Context&)> until_writes(int count, sys::Wakeup& wakeup) {
    return [this, count, &wakeup](const sys::Context& context) {
      return sys::wait_for(
          context, "writes", Seconds(60),
          [&]() -> Result<sys::Observation> {
            return written >= count ? sys::Observation::done()
                                    : sys::Observation::not_yet("{} of {} writes", written.load(), count);
          },
          &wakeup);
    };
  }
  // Runs the approver until it has written this many times.
  Result<> run_until_writes(int count, const std::function<void(int)>& meanwhile = {}) {
    count_writes(meanwhile);
    input.end = until_writes(count, over[0]);
    return approve_requests(test.context(), kube, input);
  }
  std::string approval(const std::string& name) {
    const auto request = kube.stored(kube::types::certificate_requests, "", name);
    return request ? std::string(kube::condition_status(*request, "Approved")) : "none";
  }

  RealTimeContext test;
  FakeKube kube;
  ApproverInput input = {.machines =
                             kube::MachineTable{{"master-0", "master", {"10.0.0.1"}}, {"master-1", "master", {"10.0.0.2"}}}};
  std::atomic<int> written = 0;
  std::array<sys::Wakeup, 2> over;
};

TEST_F(ApproverTest, ApprovesLabelsAndExplains) {
  kube.put(client_request("known", "master-0"));
  kube.put(client_request("registered", "master-1"));
  kube.put(client_request("unknown", "stranger"));
  kube.put(node("master-1"));
  const Result<> done = run_until_writes(4);  // a role, an approval, two Events
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(approval("known"), "True");
  EXPECT_EQ(approval("registered"), "");
  EXPECT_EQ(approval("unknown"), "");
  std::vector<std::string> reasons;
  for (const Json& event : kube.stored_all(kube::types::events)) reasons.emplace_back(*find_string(event, {"reason"}));
  std::ranges::sort(reasons);
  EXPECT_EQ(reasons, (std::vector<std::string>{"NameAlreadyRegistered", "UnknownMachine"}));
  const auto labelled = kube.stored(kube::types::nodes, "", "master-1");
  EXPECT_TRUE(find(*labelled, {"metadata", "labels", "node-role.kubernetes.io/master"}));
  EXPECT_EQ(find_array(*labelled, {"spec", "taints"}).size(), 1u);
}

TEST_F(ApproverTest, SurvivesAnApiThatIsNotUpYet) {
  kube.put(client_request("known", "master-0"));
  std::atomic<int> failures = 3;
  kube.fail_request = [&](const kube::ApiRequest&) -> std::optional<Error> {
    if (failures-- > 0) return error(Code::unavailable, "no connection");
    return std::nullopt;
  };
  ASSERT_TRUE(run_until_writes(1).ok());
  EXPECT_EQ(approval("known"), "True");
}

// A worker is added to an existing cluster: its request arrives before its row.
TEST_F(ApproverTest, JudgesAgainWhenTheTableChanges) {
  kube.put(client_request("late", "worker-1"));
  kube.put(table_of("[]"));
  input = {.follows_table = true};
  const Result<> done = run_until_writes(2, [&](int now) {
    if (now == 1) kube.put(table_of(R"([{"name":"worker-1","role":"worker","addresses":["10.0.0.9"]}])"));
  });
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(kube.stored_all(kube::types::events).size(), 1u);
  EXPECT_EQ(approval("late"), "True");
}

// A machine joined, was off until its certificate expired, and returns.
TEST_F(ApproverTest, ANodeComesBackWithTheKeyThatItHad) {
  const Secret key = net::make_key().value();
  Json first = client_request("first", "master-0", key);
  first.as_object()["status"] = {{"conditions", JsonArray{JsonObject{{"type", "Approved"}, {"status", "True"}}}},
                                 {"certificate", "c29tZQ=="}};
  kube.put(first);
  kube.put(node("master-0"));
  kube.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "openshift-cluster-machine-approver"}}}});
  const Result<> learned = run_until_writes(2);  // role and key
  ASSERT_TRUE(learned.ok()) << learned.error().message();
  kube.drop(kube::types::certificate_requests, "", "first");  // as Kubernetes does after an hour
  kube.put(client_request("again", "master-0", key));
  kube.put(client_request("another", "master-0"));
  written = 0;
  const Result<> answered = run_until_writes(2);  // an approval and an Event
  ASSERT_TRUE(answered.ok()) << answered.error().message();
  EXPECT_EQ(approval("again"), "True");
  EXPECT_EQ(approval("another"), "");
}

// Annotations of nodes are read once, if no records are stored yet.
TEST_F(ApproverTest, KeysOfAnnotationsAreTakenOverOnce) {
  const Secret key = net::make_key().value();
  const Json request = client_request("again", "master-0", key);
  const std::string pem = base64_decode(*find_string(request, {"spec", "request"})).value();
  Json old = node("master-0");
  old.at("metadata").as_object()["labels"] = {{"node-role.kubernetes.io/master", ""},
                                              {"node-role.kubernetes.io/control-plane", ""}};
  old.at("metadata").as_object()["annotations"] = {
      {"slipway.internal/kubelet-keys", sha256_hex(net::parse_request(pem)->public_key)}};
  kube.put(old);
  kube.put(table_of(R"([{"name":"master-0","role":"master"}])"));
  kube.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "openshift-cluster-machine-approver"}}}});
  for (const bool is_first : {true, false}) {
    kube.put(request);
    input = {.follows_table = true};
    written = 0;
    ASSERT_TRUE(run_until_writes(is_first ? 2 : 1).ok());
    EXPECT_EQ(approval("again"), is_first ? "True" : "");
    kube.drop(kube::types::certificate_requests, "", "again");
    kube.put(with_records(*kube.stored(kube::types::config_maps, "openshift-cluster-machine-approver", "node-identities"), {}));
  }
}

TEST_F(ApproverTest, TheSecondKeyForANameWaitsUntilTheFirstMachineHasRegistered) {
  kube.put(client_request("a-first", "master-0"));
  kube.put(client_request("b-second", "master-0"));
  ASSERT_TRUE(run_until_writes(2).ok());  // an approval and an Event
  EXPECT_EQ(approval("a-first"), "True");
  EXPECT_EQ(approval("b-second"), "");
  EXPECT_EQ(find_string(kube.stored_all(kube::types::events).at(0), {"reason"}), "NameAlreadyApproved");
}

// A renewal that is not approved is reported after it has been pending for a minute.
TEST_F(ApproverTest, ARenewalThatIsNotApprovedIsTold) {
  const auto renewal = [&](const std::string& name, Seconds age) {
    Json request = client_request(name, "master-0");
    request.at("spec").as_object()["username"] = "system:node:master-0";
    request.at("metadata").as_object()["creationTimestamp"] = to_rfc3339(std::chrono::floor<Seconds>(test.clock.now()) - age);
    kube.put(request);
  };
  kube.put(node("master-0"));
  renewal("young", Seconds(50));
  renewal("old", Seconds(70));
  ASSERT_TRUE(run_until_writes(2).ok());  // a role and an Event
  ASSERT_EQ(kube.stored_all(kube::types::events).size(), 1u);
  const Json event = kube.stored_all(kube::types::events)[0];
  EXPECT_EQ(find_string(event, {"reason"}), "RenewalNotApproved");
  EXPECT_EQ(find_string(event, {"involvedObject", "name"}), "old");
  for (const char* name : {"old", "young"}) kube.drop(kube::types::certificate_requests, "", name);
  renewal("young", Seconds(61));
  written = 0;
  ASSERT_TRUE(run_until_writes(1).ok());
  EXPECT_EQ(kube.stored_all(kube::types::events).size(), 2u);
}

// On the bootstrap machine of a platform without a table: the first masters join before the table's namespace exists.
TEST_F(ApproverTest, MachinesWithoutATableGetRows) {
  input = {};
  kube.put(client_request("first", "m0"));
  count_writes([&](int now) {
    if (now != 1) return;
    for (const char* name : {"openshift-config", "openshift-cluster-machine-approver"}) {
      kube.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
    }
    kube.put(node("m0"));
  });
  input.end = until_writes(4, over[0]);  // approval, role, table, records
  ASSERT_TRUE(approve_requests(test.context(), kube, input).ok());
  EXPECT_EQ(approval("first"), "True");
  const auto table = kube.stored(kube::types::config_maps, "openshift-config", "machine-addresses");
  ASSERT_TRUE(table);
  EXPECT_EQ(kube::parse_machine_table(*table).value(), (kube::MachineTable{{"m0", "master", {}}}));
  EXPECT_TRUE(find(*kube.stored(kube::types::nodes, "", "m0"), {"metadata", "labels", "node-role.kubernetes.io/master"}));
}

// An administrator approved a machine without a row.
TEST_F(ApproverTest, AMachineThatAPersonApprovedGetsARow) {
  Json approved = client_request("by-hand", "worker-7");
  approved.at("spec").as_object()["extra"] = nullptr;
  approved.as_object()["status"] = {{"conditions", JsonArray{JsonObject{{"type", "Approved"}, {"status", "True"}}}}};
  kube.put(approved);
  kube.put(table_of(R"([{"name":"master-0","role":"master","addresses":["10.0.0.1"]}])"));
  input = {.follows_table = true};
  ASSERT_TRUE(run_until_writes(1).ok());
  const auto table = kube.stored(kube::types::config_maps, "openshift-config", "machine-addresses");
  EXPECT_EQ(kube::parse_machine_table(*table).value(),
            (kube::MachineTable{{"master-0", "master", {"10.0.0.1"}}, {"worker-7", "worker", {}}}));
}

TEST_F(ApproverTest, LetsNobodyInWithoutTheTableOfTheCluster) {
  for (const bool is_there : {false, true}) {
    kube.put(client_request(is_there ? "second" : "first", "master-0"));
    if (is_there) kube.put(table_of("no rows"));
    input = {.follows_table = true};
    ASSERT_TRUE(run_until_writes(is_there ? 3 : 1).ok());
    EXPECT_EQ(approval("first"), "");
  }
  EXPECT_EQ(approval("second"), "");
}

// The approvers of the bootstrap machine and of the cluster run together: the request is approved once, and neither approver
// reports a problem.
TEST_F(ApproverTest, TwoDoNotFight) {
  kube.put(client_request("known", "master-0"));
  kube.put(table_of(R"([{"name":"master-0","role":"master"}])"));
  kube.put(node("master-1"));
  count_writes();
  input.end = until_writes(2, over[0]);
  const ApproverInput second{.follows_table = true, .end = until_writes(2, over[1])};
  sys::TaskGroup both(test.context());
  both.run("on the bootstrap machine", [&](const sys::Context& context) { return approve_requests(context, kube, input); });
  both.run("in the cluster", [&](const sys::Context& context) { return approve_requests(context, kube, second); });
  EXPECT_TRUE(both.wait().ok());
  EXPECT_EQ(approval("known"), "True");
  EXPECT_EQ(find_array(*kube.stored(kube::types::certificate_requests, "", "known"), {"status", "conditions"}).size(), 1u);
}

TEST_F(ApproverTest, EndsWithTheEndOfItsWork) {
  input.end = [](const sys::Context&) -> Result<> { return Ok{}; };
  EXPECT_TRUE(approve_requests(test.context(), kube, input).ok());
  EXPECT_EQ(kube.writes(), 0);
}

TEST_F(ApproverTest, EndsWithTheFailureOfAPart) {
  kube.fail_request = [](const kube::ApiRequest&) { return std::optional(error(Code::denied, "no")); };
  const Result<> done = approve_requests(test.context(), kube, input);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::denied);
}

}  // namespace
}  // namespace slipway::components::machine_approver
