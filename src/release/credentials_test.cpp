#include "release/credentials.h"

#include "base/digest.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

std::string entry(const std::string& key, const std::string& login) {
  return fmt::format("\"{}\": {{\"auth\": \"{}\", \"email\": \"x\"}}", key, base64_encode(login));
}

std::string user_for(const Credentials& credentials, const std::string& repository) {
  const auto login = credentials.find(parse_repository(repository).value());
  return login ? login->user + " " + login->password.reveal() : "";
}

TEST(Credentials, TheLongestPrefixWins) {
  const std::string text = "{\"auths\": {" + entry("example.com", "host:p:w") + "," + entry("example.com/a/b", "deep:1") + "," +
                           entry("https://other.example/v1/", "old:2") + "," + entry("empty.example", "u:") +
                           ", \"helper.example\": {}}}";
  auto credentials = Credentials::parse(text, "config.json");
  ASSERT_TRUE(credentials.ok()) << credentials.error().message();
  EXPECT_EQ(user_for(credentials.value(), "example.com/x"), "host p:w");
  EXPECT_EQ(user_for(credentials.value(), "example.com/a/b"), "deep 1");
  EXPECT_EQ(user_for(credentials.value(), "example.com/a/b/c"), "deep 1");
  EXPECT_EQ(user_for(credentials.value(), "example.com/a/bc"), "host p:w");
  EXPECT_EQ(user_for(credentials.value(), "other.example/x"), "old 2");
  EXPECT_EQ(user_for(credentials.value(), "empty.example/x"), "u ");
  EXPECT_EQ(user_for(credentials.value(), "helper.example/x"), "");
  EXPECT_EQ(user_for(credentials.value(), "example.com:5000/x"), "");
}

TEST(Credentials, NameEveryProblemAndNoSecret) {
  auto wrong = Credentials::parse(R"({"auths": {"a.example": {"auth": "c2VjcmV0"}, "b.example": {"auth": "%%"}, "c.example": 1,
                                     "d.example": {"auth": 7}}})",
                                  "pull-secret");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message(),
            "pull-secret: error: auths.\"a.example\".auth: must be base64 of USER:PASSWORD, has no colon\n"
            "pull-secret: error: auths.\"b.example\".auth: must be base64 of USER:PASSWORD\n"
            "pull-secret: error: auths.\"c.example\": must be an object\n"
            "pull-secret: error: auths.\"d.example\".auth: must be a string");
  EXPECT_EQ(Credentials::parse("{}", "f").error().message(),
            "f: error: auths: must be an object (for example {\"auths\": {\"registry.example.com\": {\"auth\": \"...\"}}})");
  EXPECT_FALSE(Credentials::parse("", "f").ok());
}

}  // namespace
}  // namespace slipway::release
