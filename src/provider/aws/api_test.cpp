#include "provider/aws/api.h"

#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <functional>
#include <mutex>

namespace slipway::provider::aws {
namespace {

// Answers calls in memory.
class FakeHttp final : public net::Http {
 public:
  std::function<Result<net::Answer>(const net::Request& request)> answer{};
  std::vector<net::Request> requests{};

  Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
    std::lock_guard lock(mutex_);
    requests.push_back(request);
    return answer(request);
  }

 private:
  std::mutex mutex_;
};

net::Answer good(std::string body = "<R><requestId>r-1</requestId></R>") {
  return {.status = 200, .headers = {}, .body = std::move(body)};
}
net::Answer bad(int status, std::string_view code, std::string_view message = "no") {
  return {.status = status,
          .headers = {},
          .body = fmt::format("<Response><Errors><Error><Code>{}</Code><Message>{}</Message></Error></Errors>"
                              "<RequestID>r-2</RequestID></Response>",
                              code, message)};
}

class ApiTest : public testing::Test {
 protected:
  Result<Reply> send(const Call& call) { return api().send(test.context(), call); }
  Api& api() {
    if (!api_) {
      context_.emplace(test.context());
      environment_.emplace(net::Environment{*context_, files, runner_, random_, http});
      api_.emplace(*environment_, ApiSettings{.region = "eu-west-1", .endpoints = {}}, [this](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? "" : found->second;
      });
    }
    return *api_;
  }
  // The answers, in order; the last one is repeated.
  void answer_with(std::vector<Result<net::Answer>> answers) {
    http.answer = [answers, next = std::size_t{0}](const net::Request&) mutable {
      return answers[std::min(next++, answers.size() - 1)];
    };
  }

  std::map<std::string, std::string> variables = {{"AWS_ACCESS_KEY_ID", "AK"}, {"AWS_SECRET_ACCESS_KEY", "SK"}};
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

const Call read_call{.action = "DescribeVpcs", .parameters = {{"Filter.1.Name", "tag:a/b"}}};
const Call create_call{.action = "CreateVpc", .object = "demo-vpc", .effect = Effect::twice};

TEST_F(ApiTest, SendsASignedForm) {
  answer_with({good()});
  ASSERT_TRUE(send(read_call).ok());
  const net::Request& request = http.requests.at(0);
  EXPECT_EQ(net::to_string(request.url), "https://ec2.eu-west-1.amazonaws.com/");
  EXPECT_EQ(request.body, "Action=DescribeVpcs&Version=2016-11-15&Filter.1.Name=tag%3Aa%2Fb");
  EXPECT_TRUE(request.authorization->reveal().starts_with("AWS4-HMAC-SHA256 Credential=AK/"));
  EXPECT_TRUE(test.event_lines().empty()) << "only changes are events";
}

TEST_F(ApiTest, ReportsChangesWithTheirRequestId) {
  answer_with({good()});
  ASSERT_TRUE(send(create_call).ok());
  answer_with({bad(403, "UnauthorizedOperation", "not authorized to perform: ec2:CreateVpc")});
  const auto refused = send(create_call);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::denied);
  EXPECT_EQ(test.event_lines(), (std::vector<std::string>{"call EC2 CreateVpc progress", "call EC2 CreateVpc progress"}));
  EXPECT_EQ(text_of(test.events().at(1).fields, {"failure"}), refused.error().message());
  const Json fields = test.events().at(0).fields;
  EXPECT_EQ(text_of(fields, {"request_id"}), "r-1");
  EXPECT_EQ(text_of(fields, {"object"}), "demo-vpc");
  EXPECT_EQ(test.events().at(0).to_line().find("SK"), std::string::npos);
}

TEST_F(ApiTest, RepeatsThrottledCallsOfAllKinds) {
  answer_with({bad(503, "RequestLimitExceeded"), bad(429, ""), bad(400, "Throttling"), good()});
  const SteadyTime begin = test.clock.steady();
  ASSERT_TRUE(send(create_call).ok());
  EXPECT_EQ(http.requests.size(), 4u);
  EXPECT_GT(test.clock.steady() - begin, Milliseconds(500)) << "the pauses grow";
}

TEST_F(ApiTest, GivesUpAfterTwoMinutes) {
  answer_with({bad(503, "Unavailable")});
  const SteadyTime begin = test.clock.steady();
  const auto failed = send(create_call);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), Code::unavailable);
  EXPECT_LT(test.clock.steady() - begin, Milliseconds(180'000));
}

TEST_F(ApiTest, RepeatsACallWithoutAnswerOnlyIfThatIsSafe) {
  const Error lost(Code::unavailable, "connection lost");
  for (const Result<net::Answer>& answer : {Result<net::Answer>(lost), Result<net::Answer>(bad(500, "InternalError"))}) {
    http.requests.clear();
    answer_with({answer, good()});
    const auto failed = send(create_call);
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code(), Code::unavailable) << failed.error().message();
    EXPECT_EQ(http.requests.size(), 1u) << "the caller looks up what it has done";
    Call once = create_call;
    once.effect = Effect::once;
    for (const Call& call : {once, read_call}) {
      answer_with({answer, good()});
      EXPECT_TRUE(send(call).ok());
    }
  }
}

TEST_F(ApiTest, WaitsUntilANewObjectIsVisible) {
  Call call = create_call;
  call.waits_for = {Failure::not_found};
  answer_with({bad(400, "InvalidVpcID.NotFound"), bad(400, "InvalidVpcID.NotFound"), good()});
  EXPECT_TRUE(send(call).ok());
  answer_with({bad(400, "InvalidVpcID.NotFound"), good()});
  EXPECT_EQ(send(create_call).error().code(), Code::not_found);
}

TEST_F(ApiTest, ReturnsExpectedErrors) {
  Call call = read_call;
  call.expected = {Failure::not_found};
  answer_with({bad(404, "NoSuchEntity")});
  const auto reply = send(call);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->failure->code, "NoSuchEntity");
}

TEST_F(ApiTest, ExpiredCredentialsOfTheUserAreNamed) {
  answer_with({bad(400, "RequestExpired")});
  const auto failed = send(read_call);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), Code::denied);
  EXPECT_TRUE(failed.error().message().ends_with("they are from AWS_ACCESS_KEY_ID")) << failed.error().message();
}

TEST_F(ApiTest, TakesTheRoleOfTheInstanceAndRenewsIt) {
  variables.clear();
  int issued = 0;
  http.answer = [&](const net::Request& request) -> Result<net::Answer> {
    if (request.url.host != "169.254.169.254") {
      const std::string& signed_by = request.authorization->reveal();
      return signed_by.find("Credential=AK2/") == std::string::npos ? bad(400, "ExpiredToken") : good();
    }
    if (request.method == "PUT") return good("token");
    if (net::find_header(request.headers, "X-aws-ec2-metadata-token") != "token") return bad(401, "");
    if (request.url.target.ends_with('/')) return good("installer\n");
    return good(fmt::format(R"({{"AccessKeyId":"AK{}","SecretAccessKey":"s","Token":"t","Expiration":"2099-01-01T00:00:00Z"}})",
                            ++issued));
  };
  ASSERT_TRUE(send(read_call).ok());
  EXPECT_EQ(issued, 2);
}

TEST_F(ApiTest, MissingCredentialsTellAllThatWasTried) {
  variables = {{"HOME", "/home/me"}};
  answer_with({Error(Code::unavailable, "no route")});
  const auto failed = send(read_call);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(
      failed.error().message(),
      "platform aws: no credentials found (looked in: AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY; AWS_ROLE_ARN with "
      "AWS_WEB_IDENTITY_TOKEN_FILE; profile default in /home/me/.aws/credentials and /home/me/.aws/config; the role of this "
      "instance)");
}

TEST_F(ApiTest, FollowsPages) {
  answer_with({good("<R><vpcSet/><nextToken>n</nextToken></R>"), good("<R><vpcSet/></R>")});
  const auto pages = api().pages(test.context(), read_call);
  ASSERT_TRUE(pages.ok());
  EXPECT_EQ(pages->size(), 2u);
  EXPECT_TRUE(http.requests.at(1).body.ends_with("&NextToken=n")) << http.requests.at(1).body;
}

TEST(Endpoints, AreOfTheRegionUnlessGiven) {
  struct Case {
    Service service;
    std::string region;
    std::string url;
    std::string signed_region;
  };
  const Variables none = [](const std::string&) { return std::string(); };
  for (const Case& c : {Case{Service::ec2, "us-east-1", "https://ec2.us-east-1.amazonaws.com/", "us-east-1"},
                        Case{Service::elb, "eu-west-1", "https://elasticloadbalancing.eu-west-1.amazonaws.com/", "eu-west-1"},
                        Case{Service::iam, "eu-west-1", "https://iam.amazonaws.com/", "us-east-1"},
                        Case{Service::iam, "us-gov-east-1", "https://iam.us-gov.amazonaws.com/", "us-gov-west-1"},
                        Case{Service::ec2, "cn-north-1", "https://ec2.cn-north-1.amazonaws.com.cn/", "cn-north-1"},
                        Case{Service::route53, "eu-west-1", "https://route53.amazonaws.com/", "us-east-1"}}) {
    const auto found = endpoint_of(c.service, c.region, {}, none);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(net::to_string(found->url), c.url);
    EXPECT_EQ(found->scope.region, c.signed_region);
  }
  const Variables given = [](const std::string& name) {
    return std::string(name == "AWS_ENDPOINT_URL"      ? "http://127.0.0.1:5000"
                       : name == "AWS_ENDPOINT_URL_S3" ? "http://127.0.0.1:1"
                                                       : "");
  };
  EXPECT_EQ(endpoint_of(Service::ec2, "r", {}, given)->url.port, 5000);
  EXPECT_EQ(endpoint_of(Service::s3, "r", {}, given)->url.port, 1);
  const JsonArray own = {{{"name", "ec2"}, {"url", "ec2.example.com"}}};
  EXPECT_EQ(net::to_string(endpoint_of(Service::ec2, "r", own, given)->url), "https://ec2.example.com/");
}

}  // namespace
}  // namespace slipway::provider::aws
