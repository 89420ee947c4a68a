#include "cluster/router_authority.h"

#include "base/yaml.h"
#include "net/x509.h"
#include "support/fake_kube.h"
#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

std::string authority(const std::string& name) {
  return net::make_certificate({.subject = {.common_name = name}, .is_ca = true, .valid_for = Seconds(60)}, nullptr).value().pem;
}

class TrustRoutersTest : public testing::Test {
 protected:
  TrustRoutersTest() {
    const kube::Access access{.server = "https://api:6443", .ca = api_authority, .token = Secret("TOKEN")};
    EXPECT_TRUE(files.write(path, emit_yaml(kube::make_kubeconfig(access, "demo", "admin")), 0600).ok());
  }

  void give(const std::string& bundle) {
    kube.put({{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", {{"name", "default-ingress-cert"}, {"namespace", "openshift-config-managed"}}},
              {"data", {{"ca-bundle.crt", bundle}}}});
  }
  Result<> trust() { return trust_routers(test.context(), files, kube, path); }
  std::string trusted() { return kube::read_kubeconfig(files, path).value().ca; }

  const std::string path = "/demo/auth/kubeconfig";
  const std::string api_authority = authority("api"), routers = authority("routers");
  testing_support::FakeKube kube;
  testing_support::MemoryFiles files;
  testing_support::TestContext test;
};

TEST_F(TrustRoutersTest, PutsTheirAuthorityFirstOnce) {
  give(routers);
  ASSERT_TRUE(trust().ok());
  EXPECT_EQ(trusted(), routers + api_authority);
  EXPECT_EQ(files.info(path).value()->mode, 0600u);
  const std::string text = files.read(path).value();
  ASSERT_TRUE(trust().ok());
  EXPECT_EQ(files.read(path).value(), text);
}

TEST_F(TrustRoutersTest, WaitsForAServerThatIsAwayForAMoment) {
  give(routers);
  int asked = 0;
  kube.fail_request = [&](const kube::ApiRequest&) -> std::optional<Error> {
    if (++asked > 2) return std::nullopt;
    return error(Code::unavailable, "no connection");
  };
  ASSERT_TRUE(trust().ok());
  EXPECT_EQ(trusted(), routers + api_authority);
}

TEST_F(TrustRoutersTest, SaysWhatIsMissing) {
  const Result<> without = trust();
  EXPECT_EQ(without.error().code(), Code::not_found);
  EXPECT_EQ(without.error().message(),
            "adding the router CA to /demo/auth/kubeconfig: ConfigMap openshift-config-managed/default-ingress-cert: not found "
            "(the ingress operator creates it)");
  give("no certificate");
  EXPECT_EQ(trust().error().code(), Code::invalid);
  EXPECT_EQ(trusted(), api_authority);
}

}  // namespace
}  // namespace slipway::cluster
