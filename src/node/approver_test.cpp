#include "node/approver.h"

#include "base/digest.h"
#include "net/x509.h"
#include "support/fake_kube.h"
#include "support/node_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

namespace slipway::node {
namespace {

using testing_support::FakeKube;
using testing_support::RealTimeNodeWorld;

constexpr const char* until = "/opt/openshift/.bootkube.done";

Json client_request(const std::string& object_name, const std::string& node) {
  const Secret key = net::make_key().value();
  const std::string pem =
      net::make_request(key, {.common_name = "system:node:" + node, .organizations = {"system:nodes"}}, {}, {}).value();
  return {{"apiVersion", "certificates.k8s.io/v1"},
          {"kind", "CertificateSigningRequest"},
          {"metadata", {{"name", object_name}}},
          {"spec",
           {{"request", base64_encode(pem)},
            {"signerName", "kubernetes.io/kube-apiserver-client-kubelet"},
            {"username", "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"},
            {"groups",
             {"system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator", "system:authenticated"}},
            {"usages", {"digital signature", "client auth"}}}}};
}

Json node(const std::string& name) { return {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", name}}}}; }

class ApproverTest : public testing::Test {
 protected:
  // Lets the approver run until it wrote so many times.
  Result<> run_until_writes(int count) {
    kube.after_write = [this, count](const Json&) {
      if (++written == count) world.put(until, "");
    };
    return approve_requests(world.environment(), kube, input);
  }
  std::string approval(const std::string& name) {
    const auto request = kube.look(kube::types::certificate_requests, "", name);
    return request ? std::string(kube::condition_status(*request, "Approved")) : "none";
  }

  RealTimeNodeWorld world;
  FakeKube kube;
  ApproverInput input = {.machines = MachineTable{{"master-0", "master", {"10.0.0.1"}}, {"master-1", "master", {"10.0.0.2"}}},
                         .until = until};
  std::atomic<int> written = 0;
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
  for (const Json& event : kube.look_all(kube::types::events)) reasons.emplace_back(*find_string(event, {"reason"}));
  std::ranges::sort(reasons);
  EXPECT_EQ(reasons, (std::vector<std::string>{"NameAlreadyRegistered", "UnknownMachine"}));
  const auto labelled = kube.look(kube::types::nodes, "", "master-1");
  EXPECT_TRUE(find(*labelled, {"metadata", "labels", "node-role.kubernetes.io/master"}));
  EXPECT_EQ(find_array(*labelled, {"spec", "taints"}).size(), 1u);
}

TEST_F(ApproverTest, SurvivesAnApiThatIsNotUpYet) {
  kube.put(client_request("known", "master-0"));
  std::atomic<int> failures = 3;
  kube.spoil = [&](const kube::ApiRequest&) -> std::optional<Error> {
    if (failures-- > 0) return error(Code::unavailable, "no connection");
    return std::nullopt;
  };
  ASSERT_TRUE(run_until_writes(1).ok());
  EXPECT_EQ(approval("known"), "True");
}

TEST_F(ApproverTest, EndsWhenTheBootstrapIsComplete) {
  world.put(until, "");
  EXPECT_TRUE(approve_requests(world.environment(), kube, input).ok());
  EXPECT_EQ(kube.writes(), 0);
}

TEST_F(ApproverTest, EndsWithTheFailureOfAPart) {
  kube.spoil = [](const kube::ApiRequest&) { return std::optional(error(Code::denied, "no")); };
  const Result<> done = approve_requests(world.environment(), kube, input);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::denied);
}

}  // namespace
}  // namespace slipway::node
