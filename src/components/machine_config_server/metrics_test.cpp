#include "components/machine_config_server/metrics.h"

#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::components::machine_config_server {
namespace {

using testing_support::TestContext;

net::ServerAnswer ask(std::string path, std::string authorization, const Result<int>& status, std::string method = "GET",
                      int* reviews = nullptr) {
  net::ServerRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  if (!authorization.empty()) request.headers.push_back({"Authorization", std::move(authorization)});
  return answer_metrics(
      request,
      [&](const Secret& token) {
        EXPECT_EQ(token.reveal(), "abc");
        if (reviews) ++*reviews;
        return status;
      },
      [] { return std::string("slipway_leader{} 1\n"); });
}

TEST(AnswerMetrics, NeedsATokenThatMayReadThem) {
  int reviews = 0;
  EXPECT_EQ(ask("/metrics", "Bearer abc", 200, "GET", &reviews).status, 200);
  EXPECT_EQ(reviews, 1);
  EXPECT_EQ(ask("/metrics", "Bearer abc", 401).status, 401);
  EXPECT_EQ(ask("/metrics", "Bearer abc", 403).status, 403);
  EXPECT_EQ(ask("/metrics", "Bearer abc", error(Code::unavailable, "no server")).status, 503);
  const net::ServerAnswer answer = ask("/metrics", "Bearer abc", 200);
  EXPECT_EQ(*answer.body, "slipway_leader{} 1\n");
  EXPECT_EQ(net::find_header(answer.headers, "Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
}

TEST(AnswerMetrics, AsksTheApiServerOnlyAboutTokens) {
  int reviews = 0;
  for (const char* sent : {"", "Bearer ", "Basic YTpi", "abc"}) {
    const net::ServerAnswer answer = ask("/metrics", sent, 200, "GET", &reviews);
    EXPECT_EQ(answer.status, 401) << sent;
    EXPECT_EQ(net::find_header(answer.headers, "WWW-Authenticate"), "Bearer") << sent;
  }
  EXPECT_EQ(ask("/", "Bearer abc", 200, "GET", &reviews).status, 404);
  EXPECT_EQ(ask("/metrics", "Bearer abc", 200, "POST", &reviews).status, 405);
  EXPECT_EQ(reviews, 0);
}

// Answers reviews.
class Reviewer final : public kube::Api {
 public:
  Result<Json> send(const sys::Context&, const kube::ApiRequest& request) override {
    sent.push_back(request);
    if (request.path == "/apis/authentication.k8s.io/v1/tokenreviews") return identity;
    return Json{{"status", {{"allowed", is_allowed}}}};
  }
  Result<> stream(const sys::Context&, const std::string&, const std::function<Result<>(kube::WatchEvent)>&) override {
    return error(Code::internal, "no watch is expected");
  }

  std::vector<kube::ApiRequest> sent;
  Json identity = {{"status",
                    {{"authenticated", true},
                     {"user", {{"username", "prometheus"}, {"uid", "7"}, {"groups", {"a", "b"}}, {"extra", {{"k", {"v"}}}}}}}}};
  bool is_allowed = true;
};

TEST(ReviewToken, AsksAboutTheUserOfTheToken) {
  TestContext test;
  Reviewer api;
  EXPECT_EQ(review_token(test.context(), api, Secret("abc")).value(), 200);
  ASSERT_EQ(api.sent.size(), 2u);
  EXPECT_EQ(*find(*api.sent[0].body, {"spec", "token"}), Json("abc"));
  EXPECT_EQ(api.sent[1].path, "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  EXPECT_EQ(*find(*api.sent[1].body, {"spec"}),
            (Json{{"user", "prometheus"},
                  {"nonResourceAttributes", {{"path", "/metrics"}, {"verb", "get"}}},
                  {"uid", "7"},
                  {"groups", {"a", "b"}},
                  {"extra", {{"k", {"v"}}}}}));
  api.is_allowed = false;
  EXPECT_EQ(review_token(test.context(), api, Secret("abc")).value(), 403);
}

TEST(ReviewToken, RefusesUnknownTokens) {
  TestContext test;
  Reviewer api;
  api.identity = Json{{"status", {{"error", "invalid bearer token"}}}};
  EXPECT_EQ(review_token(test.context(), api, Secret("abc")).value(), 401);
  EXPECT_EQ(api.sent.size(), 1u);
  api.identity = Json{{"status", {{"authenticated", false}, {"user", {{"username", "x"}}}}}};
  EXPECT_EQ(review_token(test.context(), api, Secret("abc")).value(), 401);
}

}  // namespace
}  // namespace slipway::components::machine_config_server
