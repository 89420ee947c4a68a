#include "net/url.h"

#include <gtest/gtest.h>

namespace slipway::net {
namespace {

TEST(ParseUrl, ReadsWhatServersAndPeopleWrite) {
  struct Case {
    const char* text;
    Url url;
    const char* canonical;
  };
  const Case cases[] = {
      {"https://example.com", {"https", "example.com", 443, "/"}, "https://example.com/"},
      {"HTTPS://Example.COM:443/A?b=C", {"https", "example.com", 443, "/A?b=C"}, "https://example.com/A?b=C"},
      {"http://127.0.0.1:5000/v2/", {"http", "127.0.0.1", 5000, "/v2/"}, "http://127.0.0.1:5000/v2/"},
      {"http://[fd00::1]:8080/x", {"http", "fd00::1", 8080, "/x"}, "http://[fd00::1]:8080/x"},
      {"http://[::1]", {"http", "::1", 80, "/"}, "http://[::1]/"},
      {"https://a_b.example?x=1", {"https", "a_b.example", 443, "/?x=1"}, "https://a_b.example/?x=1"},
      {"https://example.com/a#part", {"https", "example.com", 443, "/a"}, "https://example.com/a"},
      {"https://example.com/a@b", {"https", "example.com", 443, "/a@b"}, "https://example.com/a@b"},
  };
  for (const Case& c : cases) {
    auto url = parse_url(c.text);
    ASSERT_TRUE(url.ok()) << url.error().message();
    EXPECT_EQ(url.value(), c.url) << c.text;
    EXPECT_EQ(to_string(url.value()), c.canonical);
  }
}

TEST(ParseUrl, NamesWhatIsWrong) {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"example.com", "URL 'example.com': must begin with http:// or https://"},
      {"ftp://example.com", "URL 'ftp://example.com': only http and https are supported"},
      {"https:///x", "URL 'https:///x': has no host"},
      {"https://user:pw@example.com/", "URL: user and password are not allowed in a URL"},
      {"https://example.com:0/", "URL 'https://example.com:0/': '0' is not a port"},
      {"https://example.com:65536/", "URL 'https://example.com:65536/': '65536' is not a port"},
      {"https://example.com:99999999999/", "URL 'https://example.com:99999999999/': '99999999999' is not a port"},
      {"https://example.com:/", "URL 'https://example.com:/': '' is not a port"},
      {"https://[::1/", "URL 'https://[::1/': ']' missing"},
      {"https://[::1]x/", "URL 'https://[::1]x/': 'x' is not a port"},
      {"https://a b/", "URL 'https://a b/': contains a blank, a control character or a non-ASCII character"},
      {"https://a/\r\nX: y", "URL 'https://a/\r\nX: y': contains a blank, a control character or a non-ASCII character"},
      {"https://a\\b/", "URL 'https://a\\b/': 'a\\b' is not a host"},
  };
  for (const Case& c : cases) {
    auto url = parse_url(c.text);
    ASSERT_FALSE(url.ok()) << c.text;
    EXPECT_EQ(url.error().message(), c.message);
    EXPECT_EQ(url.error().code(), Code::invalid);
  }
}

TEST(Resolve, FollowsRfc3986) {
  const Url base{"https", "registry.example", 5000, "/v2/a/uploads/1?state=x"};
  struct Case {
    const char* reference;
    const char* result;
  };
  const Case cases[] = {
      {"https://other.example/blob?sig=a:b/c", "https://other.example/blob?sig=a:b/c"},
      {"//other.example/x", "https://other.example/x"},
      {"/v2/b?y=1", "https://registry.example:5000/v2/b?y=1"},
      {"2?state=z", "https://registry.example:5000/v2/a/uploads/2?state=z"},
      {"?state=z", "https://registry.example:5000/v2/a/uploads/1?state=z"},
      {"", "https://registry.example:5000/v2/a/uploads/1?state=x"},
      {"#top", "https://registry.example:5000/v2/a/uploads/1?state=x"},
      {"/back?to=http://x/", "https://registry.example:5000/back?to=http://x/"},
  };
  for (const Case& c : cases) {
    auto url = resolve(base, c.reference);
    ASSERT_TRUE(url.ok()) << c.reference << ": " << url.error().message();
    EXPECT_EQ(to_string(url.value()), c.result) << c.reference;
  }
  EXPECT_FALSE(resolve(base, "file:///etc/passwd").ok());
}

TEST(PercentEncode, KeepsUnreservedOnly) {
  EXPECT_EQ(percent_encode("repository:a/b:pull,push"), "repository%3Aa%2Fb%3Apull%2Cpush");
  EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encode("\xff %"), "%FF%20%25");
}

TEST(IsLoopback, KnowsThisMachine) {
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"}) EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"128.0.0.1", "127.evil.example", "localhost.example", "::2", ""})
    EXPECT_FALSE(is_loopback(host)) << host;
}

}  // namespace
}  // namespace slipway::net
