#include "provider/openstack/credentials.h"

#include "support/memory_files.h"

#include <gtest/gtest.h>

#include <map>

namespace slipway::provider::openstack {
namespace {

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() { variables = {{"HOME", "/home/me"}, {"OS_CLIENT_CONFIG_FILE", "/cloud/clouds.yaml"}}; }

  Result<Login> find(const std::string& cloud = "demo") {
    return find_login(
        files, [this](const std::string& name) { return variables.contains(name) ? variables.at(name) : ""; }, cloud);
  }
  void write(const std::string& path, std::string_view text) { ASSERT_TRUE(files.write(path, text, 0600).ok()); }
  std::string message() {
    const Result<Login> found = find();
    return found.ok() ? "" : found.error().message();
  }

  testing_support::MemoryFiles files;
  std::map<std::string, std::string> variables;
};

constexpr std::string_view with_password = R"(clouds:
  other: {auth: {auth_url: http://other}}
  demo:
    auth:
      auth_url: https://cloud.example.com:5000
      username: me
      password: hunter2
      project_name: team
      user_domain_name: people
      project_domain_id: default
    region_name: north
    interface: internal
    network_endpoint_override: https://neutron.example.com
)";

TEST_F(CredentialsTest, ReadsACloud) {
  write("/home/me/.config/openstack/clouds.yaml", with_password);
  const Result<Login> found = find();
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->auth_url, "https://cloud.example.com:5000/v3");
  EXPECT_EQ(found->user.name, "me");
  EXPECT_EQ(found->user.domain_name, "people");
  EXPECT_EQ(found->project.domain_id, "default");
  EXPECT_EQ(found->secret.reveal(), "hunter2");
  EXPECT_EQ(found->region, "north");
  EXPECT_EQ(found->interface, "internal");
  EXPECT_EQ(found->endpoints.at("network"), "https://neutron.example.com");
  EXPECT_FALSE(found->tls.plain_http);
  EXPECT_EQ(found->source, "cloud demo in /home/me/.config/openstack/clouds.yaml");
}

TEST_F(CredentialsTest, TheFirstFileWithTheCloudCounts) {
  write("/cloud/clouds.yaml", "clouds: {other: {}}");
  write("/etc/openstack/clouds.yaml", with_password);
  ASSERT_TRUE(find().ok());
  EXPECT_EQ(find()->source, "cloud demo in /etc/openstack/clouds.yaml");
  write("/cloud/clouds.yaml", "clouds: {demo: {auth: {auth_url: http://x/identity/v2.0/, token: t, project_id: p}}}");
  const Result<Login> found = find();
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->auth_url, "http://x/identity/v3");
  EXPECT_EQ(found->method, Login::Method::token);
  EXPECT_FALSE(found->can_renew());
  EXPECT_TRUE(found->tls.plain_http);
}

TEST_F(CredentialsTest, SecretsMayBeInAFileOfTheirOwn) {
  write("/cloud/clouds.yaml",
        "clouds: {demo: {auth_type: v3applicationcredential, auth: {auth_url: 'https://c/v3', application_credential_id: ac}, "
        "cacert: ~/ca.pem}}");
  EXPECT_NE(message().find("application_credential_secret is missing"), std::string::npos) << message();
  write("/etc/openstack/secure.yaml", "clouds: {demo: {auth: {application_credential_secret: s3cret}}}");
  EXPECT_NE(message().find("cacert"), std::string::npos) << message();
  write("/home/me/ca.pem", "PEM");
  const Result<Login> found = find();
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->method, Login::Method::application_credential);
  EXPECT_EQ(found->credential.id, "ac");
  EXPECT_EQ(found->secret.reveal(), "s3cret");
  EXPECT_EQ(found->tls.ca_pem, "PEM");
}

TEST_F(CredentialsTest, VariablesCountIfNoFileHasTheCloud) {
  variables["OS_AUTH_URL"] = "https://c:5000/v3";
  variables["OS_USERNAME"] = "me";
  variables["OS_PASSWORD"] = "pw";
  variables["OS_TENANT_NAME"] = "team";
  variables["OS_ENDPOINT_TYPE"] = "internalURL";
  const Result<Login> found = find();
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->project.name, "team");
  EXPECT_EQ(found->project.domain_id, "default");
  EXPECT_EQ(found->interface, "internal");
  write("/cloud/clouds.yaml", with_password);
  EXPECT_EQ(find()->source, "cloud demo in /cloud/clouds.yaml");
}

TEST_F(CredentialsTest, SaysWhatIsMissingOrNotSupported) {
  EXPECT_EQ(message(),
            "platform openstack: no credentials found (looked in: cloud demo in /cloud/clouds.yaml, "
            "/home/me/.config/openstack/clouds.yaml, /etc/openstack/clouds.yaml; OS_AUTH_URL)");
  const auto refuses = [&](std::string_view entry, std::string_view part) {
    write("/cloud/clouds.yaml", fmt::format("clouds: {{demo: {}}}", entry));
    EXPECT_NE(message().find(part), std::string::npos) << entry << ": " << message();
    EXPECT_EQ(message().find("hunter2"), std::string::npos);
  };
  refuses("{auth: {}}", "auth_url is missing");
  refuses("{profile: somewhere, auth: {username: me}}", "profile 'somewhere' is not supported");
  refuses("{auth: {auth_url: 'https://c', password: hunter2, project_name: p}}", "username is missing");
  refuses("{auth: {auth_url: 'https://c', username: me, project_name: p}}", "password is missing");
  refuses("{auth: {auth_url: 'https://c', username: me, password: hunter2}}", "project_name is missing");
  refuses("{auth_type: v3oidcpassword, auth: {auth_url: 'https://c'}}", "auth_type 'v3oidcpassword' is not supported");
  refuses("{verify: false, auth: {auth_url: 'https://c', username: me, password: hunter2, project_name: p}}",
          "verify: false is not supported");
  refuses("[", "clouds.yaml");
}

}  // namespace
}  // namespace slipway::provider::openstack
