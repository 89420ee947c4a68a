#include "provider/openstack/api.h"

#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <mutex>

namespace slipway::provider::openstack {
namespace {

// Answers calls in memory. Requests for a token get one of their own, with a number.
class FakeHttp final : public net::Http {
 public:
  std::function<Result<net::Answer>(const net::Request& request)> answer{};
  std::vector<net::Request> requests{};  // without those for tokens
  int tokens = 0;

  Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
    std::lock_guard lock(mutex_);
    if (request.url.target == "/v3/auth/tokens") {
      ++tokens;
      return net::Answer{
          .status = 201,
          .headers = {{"X-Subject-Token", fmt::format("token-{}", tokens)}},
          .body = R"({"token": {"expires_at": "2100-01-01T00:00:00Z", "project": {"id": "p", "name": "team"}, "catalog": [)"
                  R"({"type": "compute", "endpoints": [{"interface": "public", "region_id": "r", "url": "https://n/v2.1"}]}]}})"};
    }
    requests.push_back(request);
    return answer(request);
  }

  std::string token_of(std::size_t i) const {
    return std::string(net::find_header(requests.at(i).headers, "x-auth-token").value_or(""));
  }

 private:
  std::mutex mutex_;
};

net::Answer good(std::string body = "{}") {
  return {.status = 200, .headers = {{"x-openstack-request-id", "req-1"}}, .body = std::move(body)};
}
net::Answer bad(int status, std::string body = R"({"x": {"message": "no"}})", std::vector<net::Header> headers = {}) {
  headers.push_back({"x-openstack-request-id", "req-2"});
  return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}

class OpenStackApiTest : public testing::Test {
 protected:
  OpenStackApiTest() {
    login.auth_url = "https://k/v3";
    login.user = {.name = "me", .domain_id = "default"};
    login.project = {.name = "team", .domain_id = "default"};
    login.secret = Secret("hunter2");
    login.source = "cloud demo in clouds.yaml";
  }
  Result<Reply> send(const Call& call) { return api().send(test.context(), call); }
  Api& api() {
    if (!api_) {
      context_.emplace(test.context());
      environment_.emplace(net::Environment{*context_, files, runner_, random_, http});
      api_.emplace(*environment_, login);
    }
    return *api_;
  }
  // The answers, in order; the last one is repeated.
  void answer_with(std::vector<Result<net::Answer>> answers) {
    http.answer = [answers, next = std::size_t{0}](const net::Request&) mutable {
      return answers[std::min(next++, answers.size() - 1)];
    };
  }

  Login login;
  testing_support::TestContext test;
  testing_support::MemoryFiles files;
  FakeHttp http;

 private:
  sys::RealRunner runner_;
  testing_support::SeededRandom random_{1};
  std::optional<sys::Context> context_;
  std::optional<net::Environment> environment_;
  std::optional<Api> api_;
};

const Call read_call{.action = "ListServers", .target = "/servers"};
Call create_call() {
  return {.action = "CreateServer", .object = "demo-master-0", .effect = Effect::twice, .method = "POST", .target = "/servers"};
}
Result<net::Answer> lost() { return error(Code::unavailable, "connection lost"); }

TEST_F(OpenStackApiTest, SendsATokenAndReportsChanges) {
  answer_with({good()});
  ASSERT_TRUE(send(read_call).ok());
  EXPECT_EQ(net::to_string(http.requests.at(0).url), "https://n/v2.1/servers");
  EXPECT_EQ(http.token_of(0), "token-1");
  EXPECT_TRUE(test.event_lines().empty()) << "only changes are events";
  ASSERT_TRUE(send(create_call()).ok());
  EXPECT_EQ(http.tokens, 1);
  ASSERT_EQ(test.event_lines(), (std::vector<std::string>{"call Nova CreateServer progress"}));
  const std::string line = test.events().at(0).to_line();
  EXPECT_NE(line.find("req-1"), std::string::npos) << line;
  EXPECT_EQ(line.find("token-1"), std::string::npos);
}

TEST_F(OpenStackApiTest, RenewsATokenThatHasEnded) {
  answer_with({bad(401), good()});
  ASSERT_TRUE(send(create_call()).ok());
  EXPECT_EQ(http.tokens, 2);
  EXPECT_EQ(http.token_of(1), "token-2");
  answer_with({bad(401)});
  const auto refused = send(create_call());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::denied);
  EXPECT_EQ(http.tokens, 3) << "once a call";
  EXPECT_NE(refused.error().message().find("cloud demo in clouds.yaml"), std::string::npos) << refused.error().message();
}

TEST_F(OpenStackApiTest, DoesNotRenewATokenOfTheUser) {
  login.method = Login::Method::token;
  answer_with({bad(401)});
  EXPECT_EQ(send(read_call).error().code(), Code::denied);
  EXPECT_EQ(http.tokens, 1);
}

TEST_F(OpenStackApiTest, RepeatsThrottledCallsOfAllKinds) {
  answer_with({bad(503), bad(429, "", {{"Retry-After", "3"}}), bad(413), good()});
  const SteadyTime begin = test.clock.steady();
  ASSERT_TRUE(send(create_call()).ok());
  EXPECT_EQ(http.requests.size(), 4u);
  EXPECT_GT(test.clock.steady() - begin, Milliseconds(3000)) << "as the service asks";
}

TEST_F(OpenStackApiTest, GivesUpAfterTwoMinutes) {
  answer_with({bad(503)});
  const SteadyTime begin = test.clock.steady();
  EXPECT_EQ(send(read_call).error().code(), Code::unavailable);
  EXPECT_LT(test.clock.steady() - begin, Milliseconds(180'000));
}

TEST_F(OpenStackApiTest, DoesNotRepeatCreationsWithoutAnAnswer) {
  answer_with({lost(), good()});
  EXPECT_EQ(send(create_call()).error().code(), Code::unavailable);
  EXPECT_TRUE(http.requests.at(0).sends_once);
  answer_with({bad(502), good()});
  EXPECT_EQ(send(create_call()).error().code(), Code::unavailable);
  answer_with({lost(), bad(500), good()});
  EXPECT_TRUE(send(read_call).ok());
}

TEST_F(OpenStackApiTest, ReturnsExpectedErrors) {
  answer_with({bad(404)});
  Call call = read_call;
  EXPECT_EQ(send(call).error().code(), Code::not_found);
  call.expected = {Failure::not_found};
  const auto reply = send(call);
  ASSERT_TRUE(reply.ok());
  EXPECT_TRUE(reply->failure.has_value());
}

TEST_F(OpenStackApiTest, FollowsLinksToPages) {
  answer_with(
      {good(R"({"servers": [{"id": "1"}], "servers_links": [{"rel": "next", "href": "http://inside/x?marker=1&name=a"}]})"),
       good(R"({"servers": [{"id": "2"}]})")});
  const auto all = api().list(test.context(), {.action = "ListServers", .target = "/servers/detail?name=a"}, "servers");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), 2u);
  EXPECT_EQ(net::to_string(http.requests.at(1).url), "https://n/v2.1/servers/detail?marker=1&name=a");
}

TEST_F(OpenStackApiTest, SaysWhichServiceIsMissing) {
  answer_with({good()});
  const auto refused = send({.service = Service::swift, .action = "GetInfo"});
  EXPECT_EQ(refused.error().code(), Code::not_found);
  EXPECT_EQ(refused.error().message(), "Swift GetInfo: the catalog of the cloud has no public endpoint for Swift");
  EXPECT_FALSE(api().has_service(test.context(), Service::cinder).value());
}

TEST_F(OpenStackApiTest, AsksForTheMicroversionOnce) {
  answer_with({good(R"({"version": {"id": "v2.1", "version": "2.90", "min_version": "2.1"}})")});
  EXPECT_EQ(api().nova_minor(test.context()).value(), 90);
  EXPECT_EQ(api().nova_minor(test.context()).value(), 90);
  EXPECT_EQ(http.requests.size(), 1u);
  Call call = read_call;
  call.microversion = "2.64";
  ASSERT_TRUE(send(call).ok());
  EXPECT_EQ(net::find_header(http.requests.back().headers, "OpenStack-API-Version"), "compute 2.64");
}

}  // namespace
}  // namespace slipway::provider::openstack
