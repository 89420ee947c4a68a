#include "machineconfig/registry_logins.h"

#include <gtest/gtest.h>

namespace slipway::machineconfig {
namespace {

std::string logins(const std::string& pull_secret) { return registry_logins(Secret(pull_secret)).value().reveal(); }

std::string table(const std::string& registry, const std::string& auth) {
  return "\n  [plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"" + registry + "\".auth]\n    auth = \"" + auth + "\"\n";
}

TEST(RegistryLogins, AreTablesOfTheRegistriesThatContainerdAsks) {
  EXPECT_EQ(logins(R"({"auths":{"b.example.com:5000":{"auth":"YTpi"},"a.example.com":{"username":"a","password":"b"}}})"),
            table("a.example.com", "YTpi") + table("b.example.com:5000", "YTpi"));
  EXPECT_EQ(logins(R"({"auths":{"https://index.docker.io/v1/":{"auth":"YTpi"}}})"), table("registry-1.docker.io", "YTpi"));
  EXPECT_EQ(logins(R"({"auths":{"https://r.example.com/":{"auth":"YTpi"}}})"), table("r.example.com", "YTpi"));
}

TEST(RegistryLogins, LeaveOutWhatIsNoLoginOfARegistry) {
  for (const char* text : {"", R"({})", R"({"auths":{}})", R"({"auths":[]})", R"({"auths":{"quay.io/team":{"auth":"YTpi"}}})",
                           R"({"auths":{"r.example.com":{"credsStore":"x"}}})", R"({"auths":{"r.example.com":{"username":"a"}}})",
                           R"({"auths":{"r.example.com":{"auth":"\"\n[x]"}}})", R"({"auths":{"\"]\n[x":{"auth":"YTpi"}}})"}) {
    EXPECT_EQ(logins(text), "") << text;
  }
}

TEST(RegistryLogins, DoNotQuoteADamagedSecret) {
  const Result<Secret> made = registry_logins(Secret("hunter2"));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message().find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace slipway::machineconfig
