#include "release/registry_client.h"

#include "base/digest.h"
#include "net/curl_http.h"
#include "support/fake_registry.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

using testing_support::FakeRegistry;
using testing_support::HttpImposter;
using testing_support::SampleRelease;
using testing_support::TestContext;
using Seen = HttpImposter::Seen;
using Reply = HttpImposter::Reply;

Credentials login(const std::string& host, const std::string& user_and_password) {
  return Credentials::parse(fmt::format(R"({{"auths":{{"{}":{{"auth":"{}"}}}}}})", host, base64_encode(user_and_password)),
                            "test")
      .value();
}

// A registry with the sample release and a client. Time is virtual: pauses between attempts take no time.
struct World {
  explicit World(RegistryOptions options = {}) : client(http, std::move(options)) { registry.fill(sample); }

  Reference image(const std::string& tag = "0.1.0") const { return {registry.host(), "slipway/release", tag}; }
  Reference image_by(const std::string& digest) const {
    return {registry.host(), "slipway/release", "", Digest::parse(digest).value()};
  }
  Descriptor blob(const std::string& digest) const {
    return {"t", Digest::parse(digest).value(), sample.blobs.at(digest).size()};
  }
  Result<std::string> read(const std::string& digest) {
    return blob_text(test.context(), client, image(), blob(digest), 1u << 20);
  }
  std::string manifest_error() { return client.manifest(test.context(), image()).error().message(); }
  std::string manifest_line() const { return "GET /v2/slipway/release/manifests/0.1.0"; }

  SampleRelease sample;
  FakeRegistry registry;
  net::CurlHttp http;
  TestContext test;
  RegistryClient client;
};

// Has nothing, and records what it was asked for.
class EmptyServer final : public net::Http {
 public:
  Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
    requests.push_back(net::to_string(request.url) + (request.authorization ? " " + request.authorization->reveal() : ""));
    net::Answer answer;
    answer.status = request.authorization ? 404 : 401;
    answer.headers = {{"WWW-Authenticate", "Basic realm=\"x\""}};
    return answer;
  }
  std::vector<std::string> requests;
};

TEST(RegistryClient, DockerHubHasAnotherServer) {
  const std::string logins = R"({"auths":{"https://index.docker.io/v1/":{"auth":"YTpi"}}})";
  const std::pair<const char*, const char*> images[] = {
      {"docker.io/library/debian:13", "https://registry-1.docker.io/v2/library/debian/manifests/13"},
      {"docker.io/debian:13", "https://registry-1.docker.io/v2/library/debian/manifests/13"},
      {"docker.io/team/app:1", "https://registry-1.docker.io/v2/team/app/manifests/1"},
      {"registry-1.docker.io/team/app:1", "https://registry-1.docker.io/v2/team/app/manifests/1"}};
  for (const auto& [image, url] : images) {
    EmptyServer server;
    TestContext test;
    RegistryClient client(server, {.credentials = Credentials::parse(logins, "test").value()});
    const auto found = client.manifest(test.context(), parse_reference(image).value());
    EXPECT_EQ(found.error().code(), std::string_view(image).starts_with("docker.io") ? Code::not_found : Code::denied);
    ASSERT_FALSE(server.requests.empty());
    EXPECT_EQ(server.requests[0], url);
    const std::string expected = std::string_view(image).starts_with("docker.io") ? std::string(url) + " Basic YTpi" : url;
    EXPECT_EQ(server.requests.back(), expected);
  }
}

TEST(RegistryClient, ReadsByTagAndDigest) {
  World s;
  auto by_tag = s.client.manifest(s.test.context(), s.image());
  ASSERT_TRUE(by_tag.ok()) << by_tag.error().message();
  EXPECT_EQ(by_tag->digest.text(), s.sample.release);
  EXPECT_EQ(by_tag->media_type, SampleRelease::manifest_type);
  EXPECT_EQ(s.client.manifest(s.test.context(), s.image_by(s.sample.etcd))->bytes, s.sample.blobs.at(s.sample.etcd));
  EXPECT_TRUE(s.read(s.sample.shared_layer).value() == s.sample.blobs.at(s.sample.shared_layer));
  EXPECT_TRUE(s.client.has_blob(s.test.context(), s.image(), s.blob(s.sample.shared_layer)).value());
  EXPECT_FALSE(s.client.has_blob(s.test.context(), s.image(), {"t", Digest::of("?"), 1}).value());
  const Digest release = Digest::parse(s.sample.release).value();
  EXPECT_TRUE(s.client.has_manifest(s.test.context(), s.image(), release).value());
  EXPECT_FALSE(s.client.has_manifest(s.test.context(), s.image(), Digest::of("?")).value());
  EXPECT_FALSE(s.client.has_manifest(s.test.context(), s.image("none"), release).value());
}

TEST(RegistryClient, ExplainsAnswers) {
  struct Case {
    const char* name;
    Reply reply;
    Code code;
    std::string message;
  };
  const std::string host = "registry HOST";
  const Case cases[] = {
      {"no such image", {.status = 404}, Code::not_found, host + " has no image HOST/slipway/release:0.1.0"},
      {"forbidden",
       {.status = 403, .body = R"({"errors":[{"code":"DENIED","message":"not you"}]})"},
       Code::denied,
       host + " denied access to repository slipway/release: not you (no login for this registry is known)"},
      {"basic without login",
       {.status = 401, .headers = {"WWW-Authenticate: Basic realm=\"r\""}},
       Code::denied,
       host + " denied access to repository slipway/release (no login for this registry is known)"},
      {"no challenge",
       {.status = 401},
       Code::denied,
       host + " denied access to repository slipway/release (no login for this registry is known)"},
      {"overloaded", {.status = 503, .body = "<html>"}, Code::unavailable, host + " answered 503"},
      {"bad request",
       {.status = 400, .body = R"({"errors":[{"code":"NAME_INVALID"},{"message":"m"}]})"},
       Code::invalid,
       host + " answered 400: NAME_INVALID; m"},
      {"redirects in circles",
       {.status = 307, .headers = {"Location: /again"}},
       Code::invalid,
       "registry 127.0.0.1 redirects more than 5 times"},
      {"no location",
       {.status = 302, .headers = {"Location: ftp://x/"}},
       Code::invalid,
       "redirect of registry 127.0.0.1: URL 'ftp://x/': only http and https are supported"},
      {"too large", {.body = std::string(9'000'000, ' ')}, Code::too_large, host + ": HOST: the response is larger than 8.4 MB"},
  };
  for (const Case& c : cases) {
    World s;
    s.registry.alter_reply = [&](const Seen&, Reply& reply) { reply = c.reply; };
    auto manifest = s.client.manifest(s.test.context(), s.image());
    ASSERT_FALSE(manifest.ok()) << c.name;
    std::string message = manifest.error().message();
    for (std::size_t at; (at = message.find(s.registry.host())) != std::string::npos;)
      message.replace(at, s.registry.host().size(), "HOST");
    EXPECT_EQ(message, c.message) << c.name;
    EXPECT_EQ(manifest.error().code(), c.code) << c.name;
  }
}

TEST(RegistryClient, TriesAgainWhatMayPass) {
  struct Case {
    const char* name;
    Reply reply;
    Milliseconds pauses;  // between the first and the last of four attempts
  };
  const Case cases[] = {
      {"500", {.status = 500}, Milliseconds(250 + 500 + 1000)},
      {"429 with Retry-After", {.status = 429, .headers = {"Retry-After: 7"}}, Milliseconds(3 * 7000)},
      {"Retry-After of a day", {.status = 503, .headers = {"Retry-After: 86400"}}, Milliseconds(3 * 60'000)},
      {"connection lost", {.body = std::string(100, 'x'), .cut_after = 10}, Milliseconds(250 + 500 + 1000)},
  };
  for (const Case& c : cases) {
    World s;
    s.registry.alter_reply = [&](const Seen&, Reply& reply) {
      if (s.registry.server.journal().size() < 4) reply = c.reply;
    };
    auto manifest = s.client.manifest(s.test.context(), s.image());
    ASSERT_TRUE(manifest.ok()) << c.name << ": " << manifest.error().message();
    EXPECT_EQ(s.registry.server.journal().size(), 4u) << c.name;
    EXPECT_EQ(s.test.clock.elapsed(), c.pauses) << c.name;
  }
}

TEST(RegistryClient, GivesUpOnTheDead) {
  World s;
  const int port = testing_support::unused_port();
  auto manifest = s.client.manifest(s.test.context(), {fmt::format("127.0.0.1:{}", port), "a", "b"});
  ASSERT_FALSE(manifest.ok());
  EXPECT_EQ(manifest.error().code(), Code::unavailable);
  EXPECT_EQ(manifest.error().message(),
            fmt::format("registry 127.0.0.1:{0}: 127.0.0.1:{0}: cannot connect: Connection refused", port));
  EXPECT_EQ(s.test.clock.elapsed(), Milliseconds(250 + 500 + 1000));
}

TEST(RegistryClient, StopsWhenToldTo) {
  World s;
  s.registry.alter_reply = [&](const Seen&, Reply& reply) {
    reply.status = 500;
    s.test.stop.request_stop();
  };
  auto manifest = s.client.manifest(s.test.context(), s.image());
  ASSERT_FALSE(manifest.ok());
  EXPECT_EQ(manifest.error().code(), Code::cancelled);
  EXPECT_EQ(s.registry.server.journal().size(), 1u);
}

TEST(RegistryClient, TrustsDigestsOnly) {
  World s;
  s.registry.alter_reply = [&](const Seen& seen, Reply& reply) {
    if (seen.method != "GET") return;
    reply.headers.push_back("Docker-Content-Digest: " + s.sample.etcd);
    reply.body[reply.body.size() / 2] ^= 1;
  };
  auto manifest = s.client.manifest(s.test.context(), s.image_by(s.sample.etcd));
  ASSERT_FALSE(manifest.ok());
  EXPECT_EQ(manifest.error().code(), Code::invalid);
  EXPECT_TRUE(manifest.error().message().starts_with(fmt::format(
      "registry {} returned other content than {}: digest sha256:", s.registry.host(), to_string(s.image_by(s.sample.etcd)))));
  auto blob = s.read(s.sample.shared_layer);
  ASSERT_FALSE(blob.ok());
  EXPECT_EQ(blob.error().code(), Code::invalid);
  EXPECT_TRUE(blob.error().message().starts_with(
      fmt::format("registry {}: blob {}: digest mismatch, the content has sha256:", s.registry.host(), s.sample.shared_layer)));
}

TEST(RegistryClient, FollowsRedirectsWithoutTakingTheLoginAlong) {
  FakeRegistry storage;
  World s;
  storage.fill(s.sample);
  RegistryClient client(s.http, {.credentials = login(s.registry.host(), "u:p")});
  s.registry.alter_reply = [&](const Seen& seen, Reply& reply) {
    if (seen.header("authorization").empty())
      reply = {.status = 401, .headers = {"WWW-Authenticate: Basic realm=\"r\""}};
    else
      reply = {.status = 307, .headers = {"Location: " + to_string(storage.server.url("/v2/x/blobs/" + s.sample.shared_layer))}};
  };
  auto blob = blob_text(s.test.context(), client, s.image(), s.blob(s.sample.shared_layer), 1u << 20);
  ASSERT_TRUE(blob.ok()) << blob.error().message();
  EXPECT_EQ(s.registry.server.journal().back().header("authorization"), "Basic " + base64_encode("u:p"));
  ASSERT_EQ(storage.server.journal().size(), 1u);
  EXPECT_EQ(storage.server.journal()[0].header("authorization"), "");

  storage.alter_reply = [](const Seen&, Reply& reply) {
    reply = {.status = 401, .headers = {"WWW-Authenticate: Basic realm=\"give me\""}};
  };
  auto refused = blob_text(s.test.context(), client, s.image(), s.blob(s.sample.shared_layer), 1u << 20);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(), fmt::format("registry 127.0.0.1 redirected to {}, which denied access", storage.host()));
  EXPECT_EQ(storage.server.journal().size(), 2u);
}

TEST(RegistryClient, RemembersABasicLogin) {
  World s;
  RegistryClient client(s.http, {.credentials = login(s.registry.host() + "/slipway", "user:p:w")});
  s.registry.alter_reply = [&](const Seen& seen, Reply& reply) {
    if (seen.header("authorization") != "Basic " + base64_encode("user:p:w")) {
      reply = {.status = 401, .headers = {"WWW-Authenticate: Basic realm=\"r\""}};
    }
  };
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(client.manifest(s.test.context(), s.image()).ok());
  EXPECT_EQ(s.registry.server.journal().size(), 3u);

  RegistryClient wrong(s.http, {.credentials = login(s.registry.host(), "user:wrong")});
  EXPECT_EQ(
      wrong.manifest(s.test.context(), s.image()).error().message(),
      fmt::format("registry {} denied access to repository slipway/release (user 'user' has no access)", s.registry.host()));
}

TEST(RegistryClient, FetchesATokenForEachScope) {
  World s;
  HttpImposter tokens([&](const Seen& seen) -> Reply {
    if (seen.header("authorization") != "Basic " + base64_encode("u:p")) return {.status = 401};
    return {.body = fmt::format(R"({{"access_token":"{}"}})", seen.target.find("push") != std::string::npos ? "w" : "r")};
  });
  RegistryClient client(s.http, {.credentials = login(s.registry.host(), "u:p")});
  s.registry.alter_reply = [&](const Seen& seen, Reply& reply) {
    const bool writes = seen.method == "PUT";
    if (seen.header("authorization") == (writes ? "Bearer w" : "Bearer r") || seen.header("authorization") == "Bearer w") return;
    reply = {
        .status = 401,
        .headers = {fmt::format("WWW-Authenticate: Bearer realm=\"{}\",service=\"a, b\",scope=\"repository:slipway/release:{}\"",
                                to_string(tokens.url("/token?x=y")), writes ? "pull,push" : "pull")}};
  };
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(client.manifest(s.test.context(), s.image()).ok());
  auto pushed = client.push_manifest(s.test.context(), s.image("new"), client.manifest(s.test.context(), s.image()).value());
  ASSERT_TRUE(pushed.ok()) << pushed.error().message();
  EXPECT_EQ(tokens.lines(),
            (std::vector<std::string>{"GET /token?x=y&service=a%2C%20b&scope=repository%3Aslipway%2Frelease%3Apull",
                                      "GET /token?x=y&service=a%2C%20b&scope=repository%3Aslipway%2Frelease%3Apull%2Cpush"}));
  // The token server refuses.
  RegistryClient nobody(s.http, {});
  EXPECT_EQ(nobody.manifest(s.test.context(), s.image()).error().message(),
            fmt::format("registry {} denied access to repository slipway/release (no login for this registry is known)",
                        s.registry.host()));
}

TEST(RegistryClient, ExplainsTokenServers) {
  World s;
  std::string body;
  int status = 200;
  HttpImposter tokens([&](const Seen&) { return Reply{.status = status, .body = body}; });
  s.registry.alter_reply = [&](const Seen&, Reply& reply) {
    reply = {.status = 401, .headers = {fmt::format("WWW-Authenticate: Bearer realm=\"{}\"", to_string(tokens.url("/t")))}};
  };
  const std::string start = fmt::format("token for registry {}: {} answered ", s.registry.host(), tokens.host());
  for (const char* secret : {"{\"token\": 7}", "secret", ""}) {
    body = secret;
    EXPECT_EQ(s.manifest_error(), start + "without a token") << secret;
  }
  status = 500;
  EXPECT_EQ(s.manifest_error(), start + "500");
  s.registry.alter_reply = [](const Seen&, Reply& reply) {
    reply = {.status = 401, .headers = {"WWW-Authenticate: Bearer service=x"}};
  };
  EXPECT_EQ(s.manifest_error(),
            fmt::format("token server of registry {}: URL '': must begin with http:// or https://", s.registry.host()));
}

TEST(RegistryClient, AsksMirrorsFirst) {
  World s;
  const std::string there = s.registry.host() + "/slipway/release";
  const std::string dead = fmt::format("127.0.0.1:{}/x", testing_support::unused_port());
  const Mirror mirror{"registry.slipway.invalid/slipway", {dead, s.registry.host() + "/slipway"}};
  RegistryClient client(s.http, {.mirrors = {mirror}});
  Reference named{"registry.slipway.invalid", "slipway/release", "", Digest::parse(s.sample.etcd).value()};
  auto found = client.manifest(s.test.context(), named);
  ASSERT_TRUE(found.ok()) << found.error().message();
  auto blob = blob_text(s.test.context(), client, named, s.blob(s.sample.shared_layer), 1u << 20);
  EXPECT_TRUE(blob.ok()) << blob.error().message();

  named.digest = Digest::of("nobody has it");
  auto missing = client.manifest(s.test.context(), named);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), Code::unavailable);
  EXPECT_EQ(
      missing.error().message(),
      fmt::format("{0}: not available from 2 locations: {1}/release: registry {2}: {2}: cannot connect: Connection refused; "
                  "{3}: registry {4} has no image {3}@{0}",
                  named.digest->text(), dead, dead.substr(0, dead.find('/')), there, s.registry.host()));
  EXPECT_EQ(client.manifest(s.test.context(), {"registry.slipway.invalid", "slipway/release", "0.1.0"}).error().message(),
            "registry.slipway.invalid exists only in mirrors, and no mirror is configured for "
            "registry.slipway.invalid/slipway/release");
}

TEST(RegistryClient, AsksEndpointsInOrder) {
  World s;
  const Reference by_digest{"quay.io", "slipway/release", "", Digest::parse(s.sample.etcd).value()};
  const Reference by_tag{"registry.slipway.invalid", "slipway/release", "0.1.0"};
  const RegistryEndpoint mirror{.server = s.registry.host(), .plain_http = true};
  RegistryEndpoint digests_only = mirror, with_path = mirror;
  digests_only.serves_tags = false;
  digests_only.path = "/v2/digests";
  with_path.path = "/some/v2";
  RegistryClient client(s.http, {.endpoints = {{"quay.io", {digests_only, with_path}}, {"", {digests_only, mirror}}}});

  ASSERT_TRUE(client.manifest(s.test.context(), by_digest).ok());
  const Result<RawManifest> tagged = client.manifest(s.test.context(), by_tag);
  ASSERT_TRUE(tagged.ok()) << tagged.error().message();
  ASSERT_TRUE(blob_text(s.test.context(), client, by_digest, s.blob(s.sample.shared_layer), 1u << 20).ok());
  s.registry.alter_reply = [](const Seen&, Reply& reply) { reply = {.status = 404}; };
  const Result<RawManifest> missing = client.manifest(s.test.context(), by_digest);
  EXPECT_EQ(missing.error().code(), Code::not_found);
  EXPECT_EQ(s.registry.server.lines(),
            (std::vector<std::string>{"GET /v2/digests/slipway/release/manifests/" + s.sample.etcd + "?ns=quay.io",
                                      "GET /v2/slipway/release/manifests/0.1.0?ns=registry.slipway.invalid",
                                      "GET /v2/digests/slipway/release/blobs/" + s.sample.shared_layer + "?ns=quay.io",
                                      "GET /v2/digests/slipway/release/manifests/" + s.sample.etcd + "?ns=quay.io",
                                      "GET /some/v2/slipway/release/manifests/" + s.sample.etcd + "?ns=quay.io"}));
}

TEST(RegistryClient, SaysThatNoEndpointServes) {
  World s;
  const RegistryEndpoint digests_only{.server = s.registry.host(), .plain_http = true, .serves_tags = false};
  RegistryClient client(s.http, {.endpoints = {{"quay.io", {digests_only}}, {"", {{}}}}});
  EXPECT_EQ(client.manifest(s.test.context(), {"quay.io", "a", "1"}).error().message(),
            "no endpoint that is configured for registry quay.io serves images by tag");
  EXPECT_EQ(client.manifest(s.test.context(), {"a.invalid", "a", "1"}).error().message(),
            "a.invalid exists only in mirrors, and no mirror is configured for a.invalid/a");
  // An entry without a server is the registry itself, without the parameter for its name.
  EXPECT_TRUE(client.manifest(s.test.context(), s.image()).ok());
  EXPECT_EQ(s.registry.server.lines(), std::vector<std::string>{"GET /v2/slipway/release/manifests/0.1.0"});
}

TEST(RegistryClient, TrustsTheAuthoritiesOfAnEndpoint) {
  struct RecordingHttp final : net::Http {
    Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
      seen.push_back(fmt::format("{} file={} pem={}", net::to_string(request.url), request.tls.ca_file, request.tls.ca_pem));
      return net::Answer{.status = 404, .headers = {}, .body = ""};
    }
    std::vector<std::string> seen;
  };
  World s;
  RecordingHttp http;
  const std::vector<RegistryEndpoint> endpoints = {{.server = "mirror:5000", .ca_pem = "PEM"}, {}};
  RegistryClient client(http, {.endpoints = {{"quay.io", endpoints}}, .ca_file = "/ca"});
  EXPECT_EQ(client.manifest(s.test.context(), {"quay.io", "a", "1"}).error().code(), Code::not_found);
  EXPECT_EQ(http.seen, (std::vector<std::string>{"https://mirror:5000/v2/a/manifests/1?ns=quay.io file= pem=PEM",
                                                 "https://quay.io/v2/a/manifests/1 file=/ca pem="}));
}

// As in the hosts.toml of a registry that machines read through a mirror and push to themselves.
TEST(RegistryClient, PushesToTheRegistryItself) {
  struct RecordingHttp final : net::Http {
    Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
      seen.push_back(fmt::format("{} {} pem={}", request.method, net::to_string(request.url), request.tls.ca_pem));
      return net::Answer{.status = 404, .headers = {}, .body = ""};
    }
    std::vector<std::string> seen;
  };
  World s;
  RecordingHttp http;
  const RegistryEndpoint mirror{.server = "10.97.77.1:5000", .plain_http = true};
  const RegistryEndpoint itself{.server = "registry.demo:5443", .ca_pem = "PEM", .serves_digests = false, .serves_tags = false};
  RegistryClient client(http, {.endpoints = {{"registry.demo:5443", {mirror, itself}}, {"", {mirror}}}});
  const Reference image{"registry.demo:5443", "os/master", "1"};
  const Descriptor blob{"t", Digest::of("blob"), 4};
  const auto nothing = []() -> Result<RegistryClient::Reader> { return error(Code::internal, "not read"); };
  EXPECT_FALSE(client.manifest(s.test.context(), image).ok());
  EXPECT_FALSE(client.has_blob(s.test.context(), image, blob).value());
  EXPECT_FALSE(client.has_manifest(s.test.context(), image, blob.digest).value());
  EXPECT_FALSE(client.push_blob(s.test.context(), image, blob, nothing).ok());
  EXPECT_FALSE(client.push_manifest(s.test.context(), image, {"t", "{}", Digest::of("{}")}).ok());
  EXPECT_FALSE(client.has_blob(s.test.context(), {"quay.io", "a"}, blob).value());
  const std::string at = "https://registry.demo:5443/v2/os/master/";
  EXPECT_EQ(http.seen, (std::vector<std::string>{
                           "GET http://10.97.77.1:5000/v2/os/master/manifests/1?ns=registry.demo%3A5443 pem=",
                           "HEAD " + at + "blobs/" + blob.digest.text() + " pem=PEM", "GET " + at + "manifests/1 pem=PEM",
                           "POST " + at + "blobs/uploads/ pem=PEM", "PUT " + at + "manifests/1 pem=PEM",
                           "HEAD https://quay.io/v2/a/blobs/" + blob.digest.text() + " pem="}));
}

TEST(RegistryClient, PushesBlobsAndCancelsWhatFails) {
  World s;
  const std::string content = "some bytes";
  const Descriptor blob{"t", Digest::of(content), content.size()};
  int opened = 0;
  auto open = [&]() -> Result<RegistryClient::Reader> {
    ++opened;
    return RegistryClient::Reader([&content, at = std::size_t(0)](char* buffer, std::size_t size) mutable -> Result<std::size_t> {
      const std::size_t got = content.copy(buffer, size, at);
      return at += got, got;
    });
  };
  auto push = [&] { return s.client.push_blob(s.test.context(), s.image(), blob, open); };
  ASSERT_TRUE(push().ok());
  EXPECT_EQ(s.registry.state().blobs.at(blob.digest.text()), content);
  const std::string digest = net::percent_encode(blob.digest.text());
  EXPECT_EQ(s.registry.server.lines(), (std::vector<std::string>{"POST /v2/slipway/release/blobs/uploads/",
                                                                 "PUT /v2/uploads/1?state=a%2Fb&digest=" + digest}));

  s.registry.alter_reply = [&](const Seen& seen, Reply& reply) {
    if (seen.method == "PUT") reply = {.status = 400, .body = R"({"errors":[{"message":"digest did not match"}]})"};
  };
  EXPECT_EQ(push().error().message(), fmt::format("pushing blob {}: registry {} answered 400: digest did not match",
                                                  blob.digest.text(), s.registry.host()));
  EXPECT_EQ(s.registry.server.lines().back(), "DELETE /v2/uploads/1?state=a%2Fb");

  opened = 0;
  s.registry.server.forget();
  s.registry.alter_reply = [&](const Seen& seen, Reply& reply) {
    if (seen.method == "PUT" && opened == 1) reply = {.status = 503};
  };
  ASSERT_TRUE(push().ok());
  EXPECT_EQ(opened, 2);
  EXPECT_EQ(s.registry.server.journal().size(), 5u);  // POST PUT DELETE POST PUT
}

TEST(RegistryClient, LooksWhetherAManifestArrived) {
  World s;
  const RawManifest manifest = s.client.manifest(s.test.context(), s.image_by(s.sample.etcd)).value();
  ASSERT_TRUE(s.client.push_manifest(s.test.context(), s.image("new"), manifest).ok());
  EXPECT_EQ(s.registry.state().manifests.at("new"), manifest.bytes);
  EXPECT_EQ(s.registry.state().types.at("new"), SampleRelease::manifest_type);
  s.registry.alter_reply = [&](const Seen& seen, Reply& reply) {
    if (seen.method == "GET") reply.body = s.sample.blobs.at(s.sample.dns);
  };
  auto lost = s.client.push_manifest(s.test.context(), s.image("new"), manifest);
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().message(), fmt::format("pushing {}: now has {} instead of {}, another client pushed it at the same time",
                                                to_string(s.image("new")), s.sample.dns, s.sample.etcd));
}

}  // namespace
}  // namespace slipway::release
