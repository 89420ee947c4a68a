#include "components/network/policy/agent.h"

#include "components/network/policy/store.h"
#include "support/fake_kube.h"
#include "support/test_context.h"
#include "sys/task_group.h"

#include <gtest/gtest.h>

namespace slipway::components::network {
namespace {

using testing_support::FakeKube;
using testing_support::RealTimeContext;
using testing_support::TestContext;

// An nft that accepts every script, or answers with `status`.
class FakeNft final : public sys::Runner {
 public:
  Result<sys::Output> run(const sys::Context&, const sys::Command& command) override {
    if (command.argv.at(1) == "-f") {
      scripts.push_back(command.input);
      return sys::Output{.status = status, .out = "", .err = status == 0 ? "" : "Error: No buffer space available"};
    }
    return sys::Output{.status = has_table ? 0 : 1, .out = has_table ? "jump enters-pod" : "", .err = ""};
  }

  std::vector<std::string> scripts;
  int status = 0;
  bool has_table = true;
};

Ruleset with_pod(const char* address) {
  Ruleset ruleset;
  ruleset.pods = {net::parse_ip(address).value()};
  return ruleset;
}

TEST(NetworkPolicyKernelTable, TheFirstUpdateReplacesTheTableAndOthersWriteTheDifference) {
  TestContext test;
  FakeNft nft;
  KernelTable table(nft, "cni0");
  EXPECT_TRUE(table.update(test.context(), with_pod("10.0.0.2")).value());
  EXPECT_FALSE(table.update(test.context(), with_pod("10.0.0.2")).value());
  EXPECT_TRUE(table.update(test.context(), with_pod("10.0.0.3")).value());
  ASSERT_EQ(nft.scripts.size(), 2u);
  EXPECT_EQ(nft.scripts[0].find(no_table()), 0u);
  EXPECT_EQ(nft.scripts[1],
            "delete element inet slipway-network-policy pods-v4 { 10.0.0.2 }\n"
            "add element inet slipway-network-policy pods-v4 { 10.0.0.3 }\n");
}

TEST(NetworkPolicyKernelTable, AfterAFailureAndWithoutATableTheWholeTableIsWritten) {
  TestContext test;
  FakeNft nft;
  KernelTable table(nft, "cni0");
  ASSERT_TRUE(table.update(test.context(), with_pod("10.0.0.2")).ok());
  nft.status = 1;
  const Result<bool> refused = table.update(test.context(), with_pod("10.0.0.3"));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("No buffer space available"), std::string::npos) << refused.error().message();
  nft.status = 0;
  ASSERT_TRUE(table.update(test.context(), with_pod("10.0.0.3")).ok());
  EXPECT_EQ(nft.scripts.back().find(no_table()), 0u);
  nft.has_table = false;
  EXPECT_FALSE(table.is_there(test.context()).value());
  ASSERT_TRUE(table.update(test.context(), with_pod("10.0.0.3")).ok());
  EXPECT_EQ(nft.scripts.back().find(no_table()), 0u);
}

Json pod(const char* name, const char* address, const char* message = "") {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "default"}}},
          {"spec", {{"nodeName", "n"}}},
          {"status", {{"phase", "Running"}, {"message", message}, {"podIPs", JsonArray{{{"ip", address}}}}}}};
}

TEST(NetworkPolicyStore, NotifiesWhenAFactChanges) {
  RealTimeContext test;
  FakeKube kube;
  kube.serve(kube::types::network_policies);
  kube.put(pod("one", "10.0.0.2"));
  FactStore store;
  sys::TaskGroup tasks(test.context());
  tasks.run("watching", [&](const sys::Context& own) { return store.follow(own, kube); });
  const auto wait_until = [&](const auto& condition) {
    const SteadyTime limit = test.clock.steady() + std::chrono::seconds(20);
    while (!condition() && test.clock.steady() < limit) {
      const std::uint64_t seen = store.changed().count();
      if (condition()) break;
      test.clock.wait(test.clock.steady() + std::chrono::milliseconds(50), {}, &store.changed(), seen);
    }
    return condition();
  };
  ASSERT_TRUE(wait_until([&] { return store.is_complete(); }));
  EXPECT_EQ(store.facts().pods.size(), 1u);
  EXPECT_EQ(store.facts().namespaces.size(), 4u);

  const std::uint64_t seen = store.changed().count();
  kube.put(pod("one", "10.0.0.2", "another status"));
  kube.put(pod("two", "10.0.0.3"));
  ASSERT_TRUE(wait_until([&] { return store.facts().pods.size() == 2; }));
  EXPECT_EQ(store.changed().count(), seen + 1) << "the status of pod one has no new fact";

  kube.drop(kube::types::pods, "default", "one");
  kube.compact();
  kube.end_watches(error(Code::conflict, "410 Gone"));
  ASSERT_TRUE(wait_until([&] { return store.facts().pods.size() == 1; }));
  EXPECT_EQ(store.facts().pods.front()->name, "two");
  tasks.request_stop();
  EXPECT_TRUE(tasks.wait().ok());
}

}  // namespace
}  // namespace slipway::components::network
