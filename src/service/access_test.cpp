#include "service/access.h"

#include "service/test_records.h"

#include <gtest/gtest.h>

namespace slipway::service {
namespace {

class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    edit.put(test_cluster_record("c"));
    edit.put(test_cluster_record("other"));
    edit.put(InfraEnvRecord{.id = "e", .name = "e", .cluster = "c"});
    edit.put(InfraEnvRecord{.id = "f", .name = "f", .cluster = "other"});
    edit.put(test_host_record("h", "c"));
  }

  std::string check(const Caller& caller, const Audience& audience, const Target& target) {
    const Result<> result = check_access(world, caller, audience, target);
    return result.ok() ? "yes" : std::string(to_string(result.error().code()));
  }

  World world;
  Edit edit{world, assist::test_now};
};

TEST_F(AccessTest, EachTokenOpensItsOwnObject) {
  const Caller admin{}, user{.kind = TokenKind::user, .cluster = "c"}, user_of_env{.kind = TokenKind::user, .infra_env = "e"},
      agent{.kind = TokenKind::agent, .infra_env = "e"}, host{.kind = TokenKind::host, .infra_env = "e", .host = "h"},
      controller{.kind = TokenKind::controller, .cluster = "c"};
  const Audience all{.user = true, .agent = true, .host = true, .controller = true};
  struct Case {
    const Caller& caller;
    Audience audience;
    Target target;
    const char* answer;
  };
  for (const Case& each : {
           Case{admin, {}, {.cluster = "other"}, "yes"},
           Case{user, all, {.cluster = "c"}, "yes"},
           Case{user, all, {.infra_env = "e"}, "yes"},
           Case{user, all, {.cluster = "other"}, "not_found"},
           Case{user, all, {.infra_env = "f"}, "not_found"},
           Case{user, {}, {.cluster = "c"}, "denied"},
           Case{user_of_env, all, {.cluster = "c"}, "yes"},
           Case{user_of_env, all, {.cluster = "other"}, "not_found"},
           Case{user_of_env, all, {.infra_env = "e", .host = "h"}, "yes"},
           Case{agent, all, {.infra_env = "e"}, "yes"},
           Case{agent, all, {.infra_env = "f"}, "not_found"},
           Case{agent, {.user = true, .host = true}, {.infra_env = "e"}, "denied"},
           Case{host, all, {.infra_env = "e", .host = "h"}, "yes"},
           Case{host, all, {.infra_env = "e", .host = "i"}, "not_found"},
           Case{host, all, {.infra_env = "f", .host = "h"}, "not_found"},
           Case{host, all, {.cluster = "c"}, "yes"},
           Case{host, all, {.cluster = "other"}, "not_found"},
           Case{host, {.user = true}, {.cluster = "c"}, "denied"},
           Case{controller, all, {.cluster = "c"}, "yes"},
           Case{controller, all, {.cluster = "other"}, "not_found"},
           Case{controller, all, {.infra_env = "e", .host = "h"}, "yes"},
           Case{controller, all, {.infra_env = "f", .host = "h"}, "not_found"},
       }) {
    EXPECT_EQ(check(each.caller, each.audience, each.target), each.answer)
        << to_string(each.caller.kind) << " " << each.target.cluster << each.target.infra_env << each.target.host;
  }
}

TEST_F(AccessTest, TokensEndAndAreNotKept) {
  sys::RealRandom random;
  const std::string token =
      issue_token(edit, random, {.kind = TokenKind::user, .cluster = "c", .expires = assist::test_now + Seconds(60)}).value();
  EXPECT_EQ(caller_of(world, token, assist::test_now)->cluster, "c");
  EXPECT_FALSE(caller_of(world, token, assist::test_now + Seconds(60)).ok());
  EXPECT_FALSE(caller_of(world, token + "x", assist::test_now).ok());
  EXPECT_FALSE(caller_of(world, token.substr(0, 36), assist::test_now).ok());
  EXPECT_FALSE(caller_of(world, "", assist::test_now).ok());
  const std::string kept = emit_json(to_json(*world.tokens.begin()->second), JsonStyle::compact);
  EXPECT_EQ(kept.find(token.substr(37)), std::string::npos);
  edit.remove(Kind::token, token.substr(0, 36));
  EXPECT_FALSE(caller_of(world, token, assist::test_now).ok());
}

}  // namespace
}  // namespace slipway::service
