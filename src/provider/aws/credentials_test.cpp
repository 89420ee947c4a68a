#include "provider/aws/credentials.h"

#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::provider::aws {
namespace {

class FindCredentials : public testing::Test {
 protected:
  Result<FoundCredentials> find(std::map<std::string, std::string> variables = {}) {
    variables.emplace("HOME", "/home/me");
    return find_credentials(files, [variables](const std::string& name) {
      const auto found = variables.find(name);
      return found == variables.end() ? "" : found->second;
    });
  }
  void put(const std::string& path, std::string_view text) { ASSERT_TRUE(files.write(path, text, 0600).ok()); }
  std::string failure(std::map<std::string, std::string> variables = {}) {
    const auto found = find(std::move(variables));
    return found.ok() ? "" : found.error().message();
  }

  testing_support::MemoryFiles files;
};

TEST(Profiles, AreReadAsTheToolsOfAwsWriteThem) {
  EXPECT_EQ(parse_profiles("# comment\n[default]\nregion=us-east-1\ns3 =\n  max_concurrent_requests = 20\n\n[profile  lab ]\r\n"
                           "Region = eu-west-1 \r\n; comment\n[sso-session x]\nsso_region = us-east-1\n"),
            (Profiles{{"default", {{"region", "us-east-1"}, {"s3", ""}}},
                      {"lab", {{"region", "eu-west-1"}}},
                      {"sso-session x", {{"sso_region", "us-east-1"}}}}));
}

TEST_F(FindCredentials, VariablesCountFirst) {
  put("/home/me/.aws/credentials", "[default]\naws_access_key_id = file\naws_secret_access_key = s\n");
  const auto found = find({{"AWS_ACCESS_KEY_ID", "key"}, {"AWS_SECRET_ACCESS_KEY", "secret"}, {"AWS_SESSION_TOKEN", "token"}});
  ASSERT_TRUE(found.ok() && found->keys);
  EXPECT_EQ(found->keys->access_key, "key");
  EXPECT_EQ(found->keys->secret_key.reveal(), "secret");
  EXPECT_EQ(found->keys->session_token.reveal(), "token");
}

TEST_F(FindCredentials, ProfilesOfBothFilesAreMerged) {
  put("/home/me/.aws/credentials",
      "[default]\naws_access_key_id = d\naws_secret_access_key = s\n"
      "[lab]\naws_access_key_id = l\naws_secret_access_key = s\n");
  put("/home/me/.aws/config", "[default]\nregion = us-east-1\n[profile lab]\nregion = eu-west-1\n");
  EXPECT_EQ(find()->keys->access_key, "d");
  EXPECT_EQ(find()->region, "us-east-1");
  const auto lab = find({{"AWS_PROFILE", "lab"}});
  EXPECT_EQ(lab->keys->access_key, "l");
  EXPECT_EQ(lab->keys->source, "profile lab");
  EXPECT_EQ(lab->region, "eu-west-1");
  EXPECT_EQ(find({{"AWS_PROFILE", "lab"}, {"AWS_REGION", "x"}})->region, "x");
  EXPECT_EQ(failure({{"AWS_PROFILE", "other"}}),
            "AWS profile other: not found in /home/me/.aws/credentials and /home/me/.aws/config");
}

TEST_F(FindCredentials, RolesAreAssumed) {
  put("/home/me/.aws/config",
      "[profile base]\naws_access_key_id = b\naws_secret_access_key = s\n"
      "[profile role]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\nexternal_id = e\n"
      "[profile lost]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = none\n");
  const auto role = find({{"AWS_PROFILE", "role"}});
  ASSERT_TRUE(role.ok() && role->role);
  EXPECT_EQ(role->role->arn, "arn:aws:iam::1:role/r");
  EXPECT_EQ(role->role->external_id, "e");
  EXPECT_EQ(role->role->base.access_key, "b");
  EXPECT_EQ(failure({{"AWS_PROFILE", "lost"}}), "AWS profile lost: its source_profile 'none' has no access key");
  const auto web = find({{"AWS_ROLE_ARN", "arn:aws:iam::1:role/w"}, {"AWS_WEB_IDENTITY_TOKEN_FILE", "/token"}});
  ASSERT_TRUE(web.ok() && web->role);
  EXPECT_EQ(web->role->token_file, "/token");
}

TEST_F(FindCredentials, WhatIsNotSupportedIsNamed) {
  put("/home/me/.aws/config", "[profile sso]\nsso_session = x\n[profile program]\ncredential_process = /bin/x\n");
  EXPECT_NE(failure({{"AWS_PROFILE", "sso"}}).find("sso_session is not supported"), std::string::npos);
  EXPECT_NE(failure({{"AWS_PROFILE", "program"}}).find("credential_process is not supported"), std::string::npos);
}

TEST_F(FindCredentials, TheInstanceIsAskedLast) {
  EXPECT_TRUE(find()->asks_instance);
  EXPECT_EQ(find()->tried.size(), 3u);
  EXPECT_FALSE(find({{"AWS_EC2_METADATA_DISABLED", "true"}})->asks_instance);
  put("/home/me/.aws/credentials", "[default]\naws_access_key_id = d\naws_secret_access_key = s\n");
  EXPECT_FALSE(find()->asks_instance);
}

}  // namespace
}  // namespace slipway::provider::aws
