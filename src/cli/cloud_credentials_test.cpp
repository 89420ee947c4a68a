#include "cli/cloud_credentials.h"

#include "support/command_world.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

class CloudCredentialsTest : public testing_support::CommandTest {
 protected:
  Result<> check(std::string platform, std::map<std::string, std::string> variables = {}, Json section = JsonObject()) {
    config::InstallConfig config;
    config.platform.type = std::move(platform);
    config.platform.section = std::move(section);
    variables.emplace("HOME", "/home/me");
    return check_cloud_credentials(environment(), config, [variables](const std::string& name) {
      const auto found = variables.find(name);
      return found == variables.end() ? "" : found->second;
    });
  }
};

TEST_F(CloudCredentialsTest, AreFoundWhereTheToolsOfTheCloudLook) {
  EXPECT_TRUE(check("none").ok());
  EXPECT_TRUE(check("vsphere").ok());
  EXPECT_TRUE(check("aws", {{"AWS_ACCESS_KEY_ID", "a"}, {"AWS_SECRET_ACCESS_KEY", "b"}}).ok());
  EXPECT_FALSE(check("aws", {{"AWS_ACCESS_KEY_ID", "a"}}).ok());
  ASSERT_TRUE(files.write("/home/me/.aws/credentials", "[default]\naws_access_key_id = a\n", 0600).ok());
  EXPECT_TRUE(check("aws").ok());
  EXPECT_FALSE(check("aws", {{"AWS_PROFILE", "other"}}).ok());
  EXPECT_FALSE(check("aws", {{"AWS_SHARED_CREDENTIALS_FILE", "/nowhere"}}).ok());
  EXPECT_TRUE(check("gcp", {{"GOOGLE_CREDENTIALS", "{}"}}).ok());
  EXPECT_FALSE(check("gcp").ok());
  ASSERT_TRUE(files.write("/home/me/.gcp/osServiceAccount.json", "{}", 0600).ok());
  EXPECT_TRUE(check("gcp").ok());
  ASSERT_TRUE(files.write("/etc/openstack/clouds.yaml", "clouds: {acme: {auth: {}}}\n", 0600).ok());
  EXPECT_TRUE(check("openstack", {}, {{"cloud", "acme"}}).ok());
  EXPECT_FALSE(check("openstack", {}, {{"cloud", "other"}}).ok());
}

TEST_F(CloudCredentialsTest, ThatAreMissingAreToldWithAllThatWasTried) {
  struct Case {
    std::string platform;
    ExitStatus status;
    std::vector<std::string> parts;
  };
  const Case cases[] = {
      {"aws",
       ExitStatus::failure,
       {"AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY", "AWS_WEB_IDENTITY_TOKEN_FILE",
        "the file /home/me/.aws/credentials, profile default (or $AWS_SHARED_CREDENTIALS_FILE)"}},
      {"gcp",
       ExitStatus::install_config,
       {"GOOGLE_CREDENTIALS", "GCLOUD_KEYFILE_JSON", "/home/me/.gcp/osServiceAccount.json", "$GOOGLE_APPLICATION_CREDENTIALS"}},
      {"openstack",
       ExitStatus::install_config,
       {"clouds.yaml, cloud openstack (or $OS_CLIENT_CONFIG_FILE)", "/etc/openstack/clouds.yaml", "OS_AUTH_URL"}},
  };
  for (const Case& c : cases) {
    status = 0;
    const Result<> checked = check(c.platform);
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(status, static_cast<int>(c.status));
    for (const std::string& part : c.parts)
      EXPECT_NE(checked.error().message().find(part), std::string::npos) << checked.error().message();
  }
}

}  // namespace
}  // namespace slipway::cli
