#include "agent/service_client.h"

#include "base/digest.h"
#include "net/curl_http.h"
#include "net/x509.h"
#include "support/http_imposter.h"
#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <atomic>

namespace slipway::agent {
namespace {

using namespace testing_support;

class ServiceClientTest : public testing::Test {
 protected:
  ServiceClient client(const HttpImposter& server) {
    Identity identity{.host_id = "host", .key = net::make_key().value(), .public_key = ""};
    identity.public_key = net::public_key(identity.key).value();
    public_key_ = identity.public_key;
    return {
        environment_, {.url = "http://" + server.host(), .infra_env_id = "env", .token = Secret("token")}, std::move(identity)};
  }

  TestContext test_;
  sys::Context context_ = test_.context();
  MemoryFiles files_;
  sys::RealRunner runner_;
  SeededRandom random_{1};
  net::CurlHttp http_;
  net::Environment environment_{context_, files_, runner_, random_, http_, [](std::string_view) {}};
  std::string public_key_;
};

TEST_F(ServiceClientTest, SignsEveryRequest) {
  HttpImposter server([](const HttpImposter::Seen&) { return HttpImposter::Reply{.body = "{}"}; });
  ServiceClient service = client(server);
  ASSERT_TRUE(service.fetch(context_, service.host_path() + "/instructions?timestamp=1").ok());
  service.set_token(Secret("host token"));
  ASSERT_TRUE(service.send_json(context_, "PUT", "/v2/x", Json{{"a", 1}}).ok());
  const auto journal = server.journal();
  ASSERT_EQ(journal.size(), 2u);
  EXPECT_EQ(journal[0].line(), "GET /api/assisted-install/v2/infra-envs/env/hosts/host/instructions?timestamp=1");
  EXPECT_EQ(journal[0].header("x-secret-key"), "token");
  EXPECT_EQ(journal[1].header("x-secret-key"), "host token");
  EXPECT_EQ(journal[1].body, R"({"a":1})");
  for (const HttpImposter::Seen& seen : journal) {
    const std::string signature = base64_decode(seen.header("x-host-signature")).value();
    EXPECT_TRUE(net::is_signature_of(public_key_, seen.line() + "\n" + sha256_hex(seen.body), signature).value());
  }
}

TEST_F(ServiceClientTest, RecognizesThatItsIdIsInUse) {
  EXPECT_TRUE(is_id_in_use({.status = 409, .headers = {}, .body = R"({"cause": "host-id-in-use"})"}));
  EXPECT_FALSE(is_id_in_use({.status = 409, .headers = {}, .body = R"({"reason": "installed"})"}));
  EXPECT_FALSE(is_id_in_use({.status = 403, .headers = {}, .body = R"({"cause": "host-id-in-use"})"}));
}

TEST_F(ServiceClientTest, DeliversWhenTheServiceComesBack) {
  std::atomic<int> failures = 20;
  HttpImposter server([&](const HttpImposter::Seen&) { return HttpImposter::Reply{.status = failures-- > 0 ? 503 : 204}; });
  ServiceClient service = client(server);
  EXPECT_TRUE(service.deliver(context_, "POST", "/v2/x", Json{{"a", 1}}).ok());
  EXPECT_EQ(server.journal().size(), 21u);
  EXPECT_GT(test_.clock.steady().time_since_epoch(), Milliseconds(std::chrono::minutes(10)));  // of the virtual clock
}

TEST_F(ServiceClientTest, WaitsForAnotherTokenWhenItsOwnHasEnded) {
  std::atomic<int> failures = 3;
  HttpImposter server(
      [&](const HttpImposter::Seen&) { return HttpImposter::Reply{.status = failures-- > 0 ? 401 : 200, .body = "config"}; });
  ServiceClient service = client(server);
  EXPECT_EQ(service.fetch(context_, "/v2/x")->body, "config");
}

TEST_F(ServiceClientTest, DoesNotRepeatWhatIsRefused) {
  HttpImposter server([&](const HttpImposter::Seen&) { return HttpImposter::Reply{.status = 409}; });
  ServiceClient service = client(server);
  EXPECT_EQ(service.deliver(context_, "POST", "/v2/x", Json{}).error().code(), Code::conflict);
  EXPECT_EQ(server.journal().size(), 1u);
}

}  // namespace
}  // namespace slipway::agent
