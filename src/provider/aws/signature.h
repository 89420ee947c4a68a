// Signatures of requests to AWS: Signature Version 4. Pure.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
#pragma once

#include "base/secret.h"
#include "base/time.h"
#include "net/http.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::provider::aws {

struct Credentials {
  std::string access_key{};
  Secret secret_key{};
  Secret session_token{};             // of temporary credentials; empty: the credentials have no end
  std::optional<WallTime> expires{};  // none: unknown
  std::string source{};               // where they were found, for messages: "profile lab of /home/me/.aws/credentials"
};

struct SigningScope {
  std::string region;
  std::string service;  // "ec2", "s3"
};

// What is signed: the request in canonical form. The signed headers are all headers of the request and Host.
struct CanonicalRequest {
  std::string text;
  std::string signed_headers;  // "host;x-amz-date"
};
CanonicalRequest canonical_request(const net::Request& request, const SigningScope& scope, std::string_view body_hash);

// Adds the date, the session token and, for S3, the hash of the body as headers, and sets the authorization. The headers and
// the body must not change afterwards. The query of the URL must be percent-encoded.
void sign(net::Request& request, const Credentials& credentials, const SigningScope& scope, WallTime now);

// A URL that gives anybody who knows it access by GET until `now` + `lifetime`, or until the credentials end.
std::string presigned_url(const net::Url& url, const Credentials& credentials, const SigningScope& scope, WallTime now,
                          Seconds lifetime);

// "20150830T123600Z"
std::string to_basic_time(WallTime time);

}  // namespace slipway::provider::aws
