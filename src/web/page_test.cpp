#include "web/page.h"

#include <gtest/gtest.h>

namespace slipway::web {
namespace {

std::string header_of(const net::ServerAnswer& answer, std::string_view name) {
  for (const net::Header& each : answer.headers) {
    if (each.name == name) return each.value;
  }
  return "";
}

net::ServerRequest request(std::string method, std::string path, std::vector<net::Header> headers = {}) {
  return {
      .method = std::move(method), .path = std::move(path), .query = {}, .headers = std::move(headers), .body = {}, .peer = {}};
}

TEST(Page, IsSentWithItsProtection) {
  const auto page = page_answer(request("GET", "/"));
  ASSERT_TRUE(page);
  EXPECT_EQ(header_of(*page, "Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(header_of(*page, "Content-Encoding"), "gzip");
  EXPECT_EQ(header_of(*page, "Cache-Control"), "no-cache");
  EXPECT_EQ(header_of(*page, "Content-Security-Policy"), content_security_policy);
  EXPECT_EQ(header_of(*page, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(header_of(*page, "Referrer-Policy"), "no-referrer");
  EXPECT_EQ(page->body->substr(0, 2), "\x1f\x8b");
}

TEST(Page, OtherPathsAreNotItsOwn) {
  for (const char* path : {"/api/assisted-install/v2/clusters", "/index", "/../index.html", "/assets/", "", "/page"}) {
    EXPECT_FALSE(page_answer(request("GET", path))) << path;
  }
  EXPECT_FALSE(page_answer(request("POST", "/")));
}

TEST(Page, RequestsOfOtherSitesAreRefused) {
  struct Case {
    const char* name;
    std::vector<net::Header> headers;
    bool has_tokens, is_allowed;
  };
  const std::vector<Case> cases = {
      {"an agent", {{"Host", "10.0.0.1:8090"}}, true, true},
      {"its own page", {{"Host", "10.0.0.1:8090"}, {"Origin", "https://10.0.0.1:8090"}}, true, true},
      {"another site", {{"Host", "10.0.0.1:8090"}, {"Origin", "https://example.com"}}, true, false},
      {"a file", {{"Host", "127.0.0.1:8090"}, {"Origin", "null"}}, false, false},
      {"another port", {{"Host", "127.0.0.1:8090"}, {"Origin", "http://127.0.0.1:8091"}}, false, false},
      {"loopback", {{"Host", "127.0.0.1:8090"}}, false, true},
      {"loopback, IPv6", {{"Host", "[::1]:8090"}}, false, true},
      {"a name of its own", {{"Host", "localhost:8090"}, {"Origin", "http://localhost:8090"}}, false, true},
      {"DNS rebinding", {{"Host", "example.com:8090"}, {"Origin", "http://example.com:8090"}}, false, false},
      {"a name, with tokens", {{"Host", "assist.example.com"}}, true, true},
      {"no name", {}, false, false},
  };
  for (const Case& each : cases) {
    const std::vector<std::string> names = each.has_tokens ? std::vector<std::string>{} : std::vector<std::string>{"localhost"};
    EXPECT_EQ(check_site(request("POST", "/", each.headers), names).ok(), each.is_allowed) << each.name;
  }
}

}  // namespace
}  // namespace slipway::web
