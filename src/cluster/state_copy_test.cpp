#include "cluster/state_copy.h"

#include "assets/store.h"
#include "base/digest.h"
#include "support/fake_kube.h"
#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

class StateCopy : public testing::Test {
 protected:
  StateCopy() {
    put("/old/metadata.json", R"({"clusterName":"demo","infraID":"demo-x7k2p","aws":{"region":"us-east-1"}})");
    put("/old/install-config.yaml", "apiVersion: v1\n");
    put("/old/.slipway/resources.jsonl", "{\"resource\":\"vpc/demo-x7k2p-vpc\",\"state\":\"created\"}\n");
    put("/old/auth/kubeconfig", "secret");
  }

  void put(const std::string& path, const std::string& text) { ASSERT_TRUE(files.write(path, text, 0600).ok()); }
  Result<std::vector<std::string>> restore(const std::string& folder) {
    return restore_state_copy(test.context(), files, kube, folder);
  }

  testing_support::MemoryFiles files;
  testing_support::TestContext test;
  testing_support::FakeKube kube;
};

TEST_F(StateCopy, ComesBackInAnotherDirectory) {
  ASSERT_TRUE(write_state_copy(test.context(), files, kube, "/old").ok());
  const Json secret = *kube.stored(kube::types::secrets, "slipway-state", "cluster-state");
  EXPECT_EQ(secret.at("data").as_object().size(), 3u);
  EXPECT_EQ(emit_json(secret, JsonStyle::compact).find(base64_encode("secret")), std::string::npos) << "no kubeconfig in it";
  const auto written = restore("/new");
  ASSERT_TRUE(written.ok()) << written.error().message();
  EXPECT_EQ(written.value(), (std::vector<std::string>{".slipway/resources.jsonl", "install-config.yaml", "metadata.json"}));
  EXPECT_EQ(files.read("/new/.slipway/resources.jsonl").value(), files.read("/old/.slipway/resources.jsonl").value());
  EXPECT_TRUE(restore("/new").value().empty()) << "files that exist stay";
  // The next copy replaces the first.
  put("/old/.slipway/resources.jsonl", "");
  ASSERT_TRUE(write_state_copy(test.context(), files, kube, "/old").ok());
  EXPECT_EQ(text_of(*kube.stored(kube::types::secrets, "slipway-state", "cluster-state"), {"data", "resources.jsonl"}), "");
}

TEST_F(StateCopy, HasNoPasswordOfThePlatform) {
  put("/old/metadata.json",
      R"({"clusterName":"demo","infraID":"demo-x7k2p","vsphere":{"VCenters":[{"username":"u","password":"pw1"}]}})");
  put("/old/install-config.yaml", "platform:\n  vsphere:\n    vcenters:\n    - user: u\n      password: pw2\npullSecret: kept\n");
  ASSERT_TRUE(write_state_copy(test.context(), files, kube, "/old").ok());
  ASSERT_TRUE(restore("/new").ok());
  const Json metadata = parse_json(files.read("/new/metadata.json").value(), "metadata.json").value();
  EXPECT_EQ(
      metadata,
      parse_json(R"({"clusterName":"demo","infraID":"demo-x7k2p","vsphere":{"VCenters":[{"username":"u","password":""}]}})", "m")
          .value());
  EXPECT_EQ(files.read("/new/install-config.yaml").value(),
            "platform:\n  vsphere:\n    vcenters:\n    - user: u\n      password: not-copied\npullSecret: kept\n");
}

TEST_F(StateCopy, IsNotMixedWithAnotherCluster) {
  EXPECT_EQ(restore("/new").error().message(),
            "Secret slipway-state/cluster-state: not found, so the cluster has no copy of its state");
  ASSERT_TRUE(write_state_copy(test.context(), files, kube, "/old").ok());
  put("/new/metadata.json", R"({"clusterName":"demo","infraID":"demo-bcdfg"})");
  EXPECT_EQ(restore("/new").error().message(),
            "/new: belongs to cluster demo-bcdfg, but the kubeconfig to demo-x7k2p (name another directory with --dir)");
  EXPECT_FALSE(files.info("/new/install-config.yaml").value());
  EXPECT_EQ(write_state_copy(test.context(), files, kube, "/none").error().code(), Code::not_found);
}

}  // namespace
}  // namespace slipway::cluster
