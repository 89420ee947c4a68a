// The shared suite with the server of the kubeconfig SLIPWAY_KUBECONFIG, and the time for applying manifests.
#include "base/check.h"
#include "kube/ensure.h"
#include "net/curl_http.h"
#include "support/kube_suite.h"
#include "support/test_context.h"
#include "sys/files.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace slipway::testing_support {

namespace {

kube::Access read_access() {
  const char* path = std::getenv("SLIPWAY_KUBECONFIG");
  CHECK(path != nullptr);
  sys::RealFiles files;
  const Result<std::string> text = files.read(path);
  CHECK(text.ok());
  Result<kube::Access> access =
      kube::parse_kubeconfig(text.value(), path, [&](const std::string& file) { return files.read(file); });
  if (!access.ok()) std::fprintf(stderr, "%s\n", access.error().message().c_str());
  CHECK(access.ok());
  return std::move(access).value();
}

}  // namespace

kube::Api& api_under_test() {
  static net::CurlHttp http;
  static kube::Client client(http, read_access());
  return client;
}

namespace {

TEST(KubeLive, NameOfTheCertificateIsTlsServerName) {
  RealTimeContext test;
  net::CurlHttp http;
  kube::Access access = read_access();
  access.tls_server_name = "kubernetes.default.svc";
  kube::Client client(http, access);
  const Result<Json> ready = client.send(test.context(), {.path = "/readyz"});
  ASSERT_TRUE(ready.ok()) << ready.error().message();
  EXPECT_EQ(ready.value(), Json("ok"));
  access.tls_server_name = "other.example.com";
  kube::Client wrong(http, access);
  const Result<Json> refused = wrong.send(test.context(), {.path = "/readyz"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::denied) << refused.error().message();
}

TEST(KubeLive, StrangersAreDenied) {
  RealTimeContext test;
  net::CurlHttp http;
  kube::Access access = read_access();
  access.client_certificate.clear();
  access.client_key = Secret();
  access.token = Secret("no-such-token");
  kube::Client client(http, access);
  const Result<Json> refused = client.send(test.context(), {.path = "/api/v1/nodes"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::denied);
  EXPECT_EQ(refused.error().message(), "GET /api/v1/nodes: Unauthorized");
}

// 72 objects of 1 MB exceed the size limit of an answer, but not the object limit of a page.
TEST(KubeLive, ListsLargerThanAnAnswerAreReadInSmallerPages) {
  RealTimeContext test;
  kube::Api& api = api_under_test();
  constexpr int count = 72;
  const auto send = [&](const kube::ResourceType& type, const Json& object) {
    const Result<Json> made = kube::create(test.context(), api, type, object);
    ASSERT_TRUE(made.ok()) << made.error().message();
  };
  send(kube::types::namespaces, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "large"}}}});
  const std::string text(1'000'000, 'x');
  for (int i = 0; i < count; ++i) {
    send(kube::types::config_maps, {{"apiVersion", "v1"},
                                    {"kind", "ConfigMap"},
                                    {"metadata", {{"name", fmt::format("large-{:02}", i)}, {"namespace", "large"}}},
                                    {"data", {{"text", text}}}});
  }
  // Checks that the objects are too large for one answer.
  const Result<Json> at_once = api.send(test.context(), {.path = "/api/v1/namespaces/large/configmaps?limit=500"});
  ASSERT_FALSE(at_once.ok());
  EXPECT_EQ(at_once.error().code(), Code::too_large) << at_once.error().message();

  const auto found = kube::list(test.context(), api, kube::types::config_maps, "large");
  ASSERT_TRUE(found.ok()) << found.error().message();
  std::size_t large = 0;
  for (const Json& object : found.value()) large += find_string(object, {"data", "text"}).value_or("") == text;
  EXPECT_EQ(large, count);

  const Result<> followed =
      kube::wait_until(test.context(), api, "all large objects", Seconds(60), kube::types::config_maps, "large", {},
                       [&](const kube::Objects& objects) -> Result<std::optional<std::string>> {
                         if (objects.size() < count) return std::optional<std::string>("some are missing");
                         return std::optional<std::string>();
                       });
  EXPECT_TRUE(followed.ok()) << followed.error().message();
}

TEST(KubeLive, FigureOfManifests) {
  RealTimeContext test;
  kube::Mapper mapper(api_under_test());
  std::vector<kube::Manifest> manifests;
  for (int i = 0; i < 200; ++i) {
    const std::string name = fmt::format("figure-{}", i);
    manifests.push_back({name,
                         {{"apiVersion", "v1"},
                          {"kind", "ConfigMap"},
                          {"metadata", {{"name", name}, {"namespace", "figure"}}},
                          {"data", {{"text", std::string(500, 'x')}}}}});
  }
  for (int i = 0; i < 20; ++i) {
    const Json definition = sample_definition("figure.example.com", fmt::format("Figure{}", i), fmt::format("figure{}s", i));
    manifests.push_back({fmt::format("crd-{}", i), definition});
  }
  manifests.push_back({"namespace", {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "figure"}}}}});
  for (const char* run : {"first", "second"}) {
    const SteadyTime start = test.clock.steady();
    const Result<> done = kube::ensure_all(test.context(), api_under_test(), mapper, manifests,
                                           {.manager = "figure", .limit = Seconds(60)}, nullptr);
    ASSERT_TRUE(done.ok()) << done.error().message();
    const auto took = test.clock.steady() - start;
    std::printf("FIGURE ensure_all, %s run: %zu manifests in %lld ms, %.0f a second\n", run, manifests.size(),
                static_cast<long long>(took.count()),
                1000.0 * static_cast<double>(manifests.size()) / static_cast<double>(took.count()));
  }
}

}  // namespace

}  // namespace slipway::testing_support
