#include "provider/aws/signature.h"

#include "base/digest.h"

#include <gtest/gtest.h>

namespace slipway::provider::aws {
namespace {

const WallTime suite_time = parse_rfc3339("2015-08-30T12:36:00Z").value();
const SigningScope suite_scope = {.region = "us-east-1", .service = "service"};

Credentials suite_credentials() {
  return {.access_key = "AKIDEXAMPLE", .secret_key = Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")};
}

std::string signature_of(net::Request request) {
  sign(request, suite_credentials(), suite_scope, suite_time);
  const std::string& text = request.authorization->reveal();
  return text.substr(text.rfind('=') + 1);
}

// Cases of AWS's published test suite for Signature Version 4, by their names there.
TEST(Signature, EqualsThePublishedVectors) {
  struct Case {
    std::string name;
    std::string method;
    std::string target;
    std::vector<net::Header> headers;
    std::string body;
    std::string signature;
  };
  const Case cases[] = {
      {"get-vanilla", "GET", "/", {}, "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-vanilla-query-order-key-case",
       "GET",
       "/?Param2=value2&Param1=value1",
       {},
       "",
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"get-vanilla-empty-query-key",
       "GET",
       "/?Param1=value1",
       {},
       "",
       "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
      {"post-vanilla", "POST", "/", {}, "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {"post-x-www-form-urlencoded",
       "POST",
       "/",
       {{"Content-Type", "application/x-www-form-urlencoded"}},
       "Param1=value1",
       "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(
        signature_of(
            {.method = c.method, .url = {"https", "example.amazonaws.com", 443, c.target}, .headers = c.headers, .body = c.body}),
        c.signature)
        << c.name;
  }
}

// The examples of the S3 API reference: "Authenticating Requests: Using Query Parameters", and the GET with a Range.
TEST(Signature, EqualsTheExamplesOfS3) {
  const Credentials credentials{.access_key = "AKIAIOSFODNN7EXAMPLE",
                                .secret_key = Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")};
  const SigningScope scope{.region = "us-east-1", .service = "s3"};
  const WallTime time = parse_rfc3339("2013-05-24T00:00:00Z").value();
  const net::Url url{"https", "examplebucket.s3.amazonaws.com", 443, "/test.txt"};
  EXPECT_EQ(presigned_url(url, credentials, scope, time, Seconds(86400)),
            "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential="
            "AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400"
            "&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
  net::Request request{.url = url, .headers = {{"Range", "bytes=0-9"}}};
  sign(request, credentials, scope, time);
  EXPECT_EQ(request.authorization->reveal(),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(Signature, CoversTheSessionToken) {
  Credentials credentials = suite_credentials();
  credentials.session_token = Secret("session");
  net::Request request{.url = {"https", "ec2.us-east-1.amazonaws.com", 443, "/"}};
  sign(request, credentials, suite_scope, suite_time);
  EXPECT_NE(request.authorization->reveal().find("SignedHeaders=host;x-amz-date;x-amz-security-token"), std::string::npos);
  EXPECT_EQ(net::find_header(request.headers, "x-amz-security-token"), "session");
}

// S3 signs the path as it is sent, other services encode it once more.
TEST(Signature, EncodesThePathTwiceExceptForS3) {
  const net::Request request{.url = {"https", "h", 443, "/a%20b/c"}};
  const auto path = [&](const std::string& service) {
    const std::string text = canonical_request(request, {"r", service}, sha256_hex("")).text;
    return text.substr(4, text.find('\n', 4) - 4);
  };
  EXPECT_EQ(path("s3"), "/a%20b/c");
  EXPECT_EQ(path("route53"), "/a%2520b/c");
}

}  // namespace
}  // namespace slipway::provider::aws
