#include "cli/bootstrap_inputs.h"

#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

release::Release release_of(std::string_view image) {
  release::Release release{
      .version = {}, .digest = release::Digest::of(""), .created = {}, .metadata = {}, .components = {}, .manifests = {}};
  release.components["etcd"].image = release::parse_reference(image).value();
  return release;
}

const std::string digest = "@sha256:" + std::string(64, '0');

struct Inputs : testing::Test {
  assets::Environment add(std::string_view image, const BootstrapVariables& variables = {}) {
    assets::Environment inputs;
    result = add_bootstrap_inputs(inputs, context.context(), config, release_of(std::string(image) + digest), variables, "1.2.3");
    return inputs;
  }

  testing_support::TestContext context;
  config::InstallConfig config;
  Result<> result = Ok{};
};

TEST_F(Inputs, ReleasesOfSlipwayBringSlipwayNode) {
  const assets::Environment inputs = add("registry.slipway.invalid/slipway/release", {"quay.example.com/slipway:1", ""});
  EXPECT_TRUE(inputs.release_has_slipway_node);
  EXPECT_TRUE(inputs.slipway_images.empty());
}

TEST_F(Inputs, ThePasswordOfKubeadminIsForReleasesWithALogin) {
  EXPECT_FALSE(add("registry.slipway.invalid/slipway/release").release_has_login);
  EXPECT_TRUE(add("quay.io/openshift-release-dev/ocp-v4.0-art-dev").release_has_login);
  release::Release own = release_of("registry.slipway.invalid/slipway/release" + digest);
  own.components["oauth-server"].image = own.components["etcd"].image;
  assets::Environment inputs;
  ASSERT_TRUE(add_bootstrap_inputs(inputs, context.context(), config, own, {}, "1.2.3").ok());
  EXPECT_TRUE(inputs.release_has_login);
}

TEST_F(Inputs, OthersTakeItFromTheImageThatIsNamed) {
  config.image_digest_sources = {{"registry.slipway.invalid/slipway/release", {"m.example.com/slipway"}}};
  const assets::Environment inputs = add("quay.io/openshift-release-dev/ocp-v4.0-art-dev", {"quay.example.com/slipway:1", ""});
  EXPECT_FALSE(inputs.release_has_slipway_node);
  EXPECT_EQ(inputs.slipway_images, std::vector<std::string>{"quay.example.com/slipway:1"});
  add("quay.io/openshift-release-dev/ocp-v4.0-art-dev", {"'no reference'", ""});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Code::invalid);
  EXPECT_NE(result.error().message().find("SLIPWAY_IMAGE"), std::string::npos);
}

TEST_F(Inputs, OrFromMirrorsOfOurReleases) {
  config.image_digest_sources = {
      {"quay.io/other", {"m0.example.com/x"}},
      {"registry.slipway.invalid/slipway/release", {"m1.example.com/slipway", "m2.example.com:5000/s"}}};
  config.image_content_sources = {{"registry.slipway.invalid/slipway/release", {"m3.example.com/slipway"}}};
  const std::vector<std::string> expected = {"m1.example.com/slipway:1.2.3", "m2.example.com:5000/s:1.2.3",
                                             "m3.example.com/slipway:1.2.3"};
  EXPECT_EQ(add("quay.io/openshift-release-dev/ocp-v4.0-art-dev").slipway_images, expected);
  config = {};
  EXPECT_TRUE(add("quay.io/openshift-release-dev/ocp-v4.0-art-dev").slipway_images.empty());
  EXPECT_TRUE(result.ok());
}

TEST_F(Inputs, AnAddressOfTheBootstrapMachineHasToBeOne) {
  EXPECT_EQ(add("registry.slipway.invalid/slipway/release", {"", "fd00::9"}).bootstrap_node_ip, "fd00::9");
  EXPECT_EQ(add("registry.slipway.invalid/slipway/release", {"", "bootstrap.example.com"}).bootstrap_node_ip, "");
  EXPECT_EQ(context.logged(),
            std::vector<std::string>{
                "warning: OPENSHIFT_INSTALL_BOOTSTRAP_NODE_IP: ignored, 'bootstrap.example.com' is not an IP address"});
  EXPECT_TRUE(result.ok());
}

TEST_F(Inputs, ClusterProfilesAreOfOtherReleases) {
  const char* const other = "quay.io/openshift-release-dev/ocp-v4.0-art-dev";
  const char* const own = "registry.slipway.invalid/slipway/release";
  const struct {
    const char* release;
    std::string profile, used, error;
  } rows[] = {
      {other, "", "", ""},
      {other, "self-managed-high-availability", "", ""},
      {other, "ibm-cloud-managed", "ibm-cloud-managed", ""},
      {other, "a b\n", "", "is not a valid name of a cluster profile"},
      {own, "self-managed-high-availability", "", ""},
      {own, "ibm-cloud-managed", "", "releases of slipway have no manifests for cluster profile ibm-cloud-managed"},
  };
  for (const auto& row : rows) {
    BootstrapVariables variables;
    variables.cluster_profile = row.profile;
    EXPECT_EQ(add(row.release, variables).cluster_profile, row.used) << row.profile;
    EXPECT_EQ(result.ok(), row.error.empty()) << row.profile;
    if (!result.ok()) {
      EXPECT_NE(result.error().message().find(row.error), std::string::npos) << result.error().message();
    }
  }
  ASSERT_EQ(context.logged().size(), 1u);
  EXPECT_NE(context.logged()[0].find("OPENSHIFT_INSTALL_EXPERIMENTAL_CLUSTER_PROFILE"), std::string::npos);
}

TEST_F(Inputs, AnImageOfTheOperatingSystemIsNotUsed) {
  config.platform.type = "none";
  BootstrapVariables variables;
  variables.os_image = "https://example.com/os.qcow2";
  add("registry.slipway.invalid/slipway/release", variables);
  ASSERT_EQ(context.logged().size(), 1u);
  EXPECT_NE(context.logged()[0].find("OPENSHIFT_INSTALL_OS_IMAGE_OVERRIDE: ignored, no asset of platform none"),
            std::string::npos);
}

}  // namespace
}  // namespace slipway::cli
