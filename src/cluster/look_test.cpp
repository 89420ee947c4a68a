#include "cluster/look.h"

#include "net/curl_http.h"
#include "provider/fake/fake_provider.h"
#include "support/fake_kube.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

namespace types = kube::types;

class LookTest : public testing::Test {
 protected:
  LookTest() {
    kube.serve_openshift();
    for (const char* name : {"master-0", "worker-0"}) {
      provider.machines[name].status = {.name = name, .state = "running", .address = "", .is_on = true};
      kube.put({{"apiVersion", "v1"},
                {"kind", "Node"},
                {"metadata", {{"name", name}}},
                {"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
    }
    provider.existing.of = provider::ExistingCluster::Of::this_cluster;
  }

  Result<Look> look_at(const Subject& subject, const diagnosis::Object& object = diagnosis::whole_cluster) {
    const sys::Context context = test.context();
    return look({context, files, runner, random, http}, subject, object);
  }

  testing_support::RealTimeContext test;
  testing_support::FakeKube kube;
  testing_support::SeededRandom random{1};
  provider::fake::FakeProvider provider;
  sys::RealFiles files;
  sys::RealRunner runner;
  net::CurlHttp http;
};

TEST_F(LookTest, AHealthyClusterHasNoChain) {
  const Result<Look> seen = look_at({.api = &kube});
  ASSERT_TRUE(seen.ok()) << seen.error().message();
  EXPECT_EQ(diagnosis::to_text(seen->chains, seen->snapshot.notes.time), "");
  EXPECT_EQ(seen->snapshot.all("nodes").size(), 2u);
}

TEST_F(LookTest, TheApiSaysWhatIsBroken) {
  kube.put({{"apiVersion", "config.openshift.io/v1"},
            {"kind", "ClusterOperator"},
            {"metadata", {{"name", "dns"}}},
            {"status",
             {{"conditions",
               {{{"type", "Degraded"},
                 {"status", "True"},
                 {"message", "login hunter2hunter2 was refused"},
                 {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}}}}});
  const Result<Look> seen = look_at({.api = &kube, .secrets = {Secret("hunter2hunter2")}});
  ASSERT_TRUE(seen.ok()) << seen.error().message();
  ASSERT_EQ(seen->chains.size(), 1u);
  EXPECT_EQ(seen->chains[0].back().name, "operator-degraded");
  EXPECT_EQ(seen->chains[0].back().sentence, "operator dns is Degraded: login *** was refused");
  const Result<Look> of_node = look_at({.api = &kube}, {"node", "master-0"});
  ASSERT_TRUE(of_node.ok());
  EXPECT_TRUE(of_node->chains.empty());
}

TEST_F(LookTest, ASilentApiIsALink) {
  kube.fail_request = [](const kube::ApiRequest&) { return error(Code::unavailable, "no route to host"); };
  const Result<Look> seen = look_at({.api = &kube});
  ASSERT_TRUE(seen.ok()) << seen.error().message();
  ASSERT_EQ(seen->chains.size(), 1u);
  EXPECT_EQ(seen->chains[0].back().sentence, "the API does not answer: no route to host");
}

TEST_F(LookTest, MachinesAreAskedWithoutAnApi) {
  const Result<Look> seen = look_at({.machines = &provider});
  ASSERT_TRUE(seen.ok()) << seen.error().message();
  EXPECT_EQ(seen->snapshot.notes.api, diagnosis::LookNotes::Api::not_asked);
  EXPECT_NE(seen->snapshot.probe("master-0"), nullptr);
}

TEST_F(LookTest, WithoutAnApiAndMachinesThereIsNothingToLookAt) {
  const Result<Look> seen = look_at({});
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().code(), Code::not_found);
}

TEST_F(LookTest, WhatIsReadIsWhatTheWalkReads) {
  for (const ObservedType& each : observed_types()) {
    diagnosis::Bundle bundle;
    bundle.add(std::string(diagnosis::look_file), diagnosis::to_text({.api = diagnosis::LookNotes::Api::answers}));
    bundle.add(fmt::format("resources/{}.json", each.file), R"({"items":[{"metadata":{"name":"x"}}]})");
    const auto snapshot = diagnosis::snapshot_of(bundle);
    ASSERT_TRUE(snapshot);
    EXPECT_NE(snapshot->find(each.file, "x"), nullptr) << each.file;
  }
}

}  // namespace
}  // namespace slipway::cluster
