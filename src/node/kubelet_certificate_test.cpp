#include "node/kubelet_certificate.h"

#include "base/digest.h"
#include "base/yaml.h"
#include "net/curl_http.h"
#include "net/x509.h"
#include "support/fake_kube.h"
#include "support/http_imposter.h"
#include "support/node_world.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

namespace slipway::node {
namespace {

using testing_support::FakeKube;
using testing_support::RealTimeNodeWorld;

constexpr const char* restart = "systemctl --no-block restart kubelet.service";
const std::string pki = "/var/lib/kubelet/pki";
const std::string current = pki + "/kubelet-client-current.pem";
const std::string key_file = pki + "/kubelet-client.key.tmp";
const KubeletIdentity identity = {.node_name = "master-0", .kubeconfig = "/var/lib/kubelet/kubeconfig", .cert_dir = pki};
const kube::Access bootstrap = {.server = "https://api-int.demo.example.com:6443", .ca = "CA"};

// The API with the bootstrap credentials: FakeKube, and a switch that permits requests.
class RestrictedApi final : public kube::Api {
 public:
  Result<Json> send(const sys::Context& context, const kube::ApiRequest& request) override {
    if (!request.path.ends_with("/selfsubjectaccessreviews")) return kube.send(context, request);
    ++reviews;
    if (const auto error = next_error ? next_error() : std::nullopt) return *error;
    if (refuses_at_first && reviews == 1) return error(Code::unavailable, "no connection");
    if (refuses_at_first && reviews == 2) return error(Code::denied, "not yet known");
    return Json{{"status", {{"allowed", !refuses_at_first || reviews > 3}}}};
  }
  Result<> stream(const sys::Context& context, const std::string& path,
                  const std::function<Result<>(kube::WatchEvent)>& on_event) override {
    return kube.stream(context, path, on_event);
  }

  FakeKube kube;
  int reviews = 0;
  std::function<std::optional<Error>()> next_error;  // returns the error of the next request
  bool refuses_at_first = false;                     // for the first three requests, each with another answer
};

class KubeletCertificate : public testing::Test {
 protected:
  KubeletCertificate() {
    ca = net::make_certificate(
             {.subject = {.common_name = "signer"}, .is_ca = true, .valid_from = now(), .valid_for = Seconds(3600)}, nullptr)
             .value();
    api.kube.after_write = [this](const Json& written) {
      if (find_string(written, {"kind"}) == "CertificateSigningRequest") decide(written);
    };
    world.runner.answer({"systemctl", "--no-block", "restart", "kubelet.service"}, "");
  }

  WallTime now() { return std::chrono::floor<Seconds>(world.test.clock.now()); }

  std::string sign(const Json& request) {
    const std::string pem = base64_decode(*find_string(request, {"spec", "request"})).value();
    return net::sign_request(pem, {.subject = {}, .client_auth = true, .valid_from = now(), .valid_for = Seconds(600)}, ca)
        .value();
  }

  // Acts as approver and signer.
  void decide(Json request) {
    if (denies) {
      request.as_object()["status"] = {
          {"conditions",
           JsonArray{JsonObject{{"type", "Denied"}, {"status", "True"}, {"reason", "No"}, {"message", "stranger"}}}}};
    } else {
      request.as_object()["status"] = {{"certificate", base64_encode(sign(request))}};
    }
    api.kube.put(std::move(request));
  }

  Result<> run() { return get_kubelet_certificate(world.environment(), api, bootstrap, identity); }

  std::vector<std::string> restarts() {
    std::vector<std::string> lines;
    for (const std::string& line : world.runner.journal()) {
      if (line.starts_with("systemctl")) lines.push_back(line);
    }
    return lines;
  }

  RealTimeNodeWorld world;
  RestrictedApi api;
  net::Certificate ca;
  bool denies = false;
};

TEST_F(KubeletCertificate, IsAskedForWhenItMayBeAndPutInUse) {
  api.refuses_at_first = true;
  const Result<> done = run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(api.reviews, 4);
  EXPECT_TRUE(is_valid_certificate(world.text(current), "master-0", now()));
  EXPECT_EQ(world.files.info(current).value()->mode, 0600u);
  EXPECT_FALSE(world.has(key_file));
  EXPECT_EQ(restarts(), std::vector<std::string>{restart});
  EXPECT_EQ(world.text(identity.kubeconfig), R"(apiVersion: v1
kind: Config
clusters:
- name: default-cluster
  cluster:
    certificate-authority-data: Q0E=
    server: https://api-int.demo.example.com:6443
users:
- name: default-auth
  user:
    client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem
    client-key: /var/lib/kubelet/pki/kubelet-client-current.pem
contexts:
- name: default-context
  context:
    cluster: default-cluster
    user: default-auth
current-context: default-context
)");
  const std::vector<Json> requests = api.kube.stored_all(kube::types::certificate_requests);
  ASSERT_EQ(requests.size(), 1u);
  const auto content = net::parse_request(base64_decode(*find_string(requests[0], {"spec", "request"})).value());
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(content->subject, (net::SubjectName{.common_name = "system:node:master-0", .organizations = {"system:nodes"}}));
  EXPECT_EQ(world.test.event_lines(),
            (std::vector<std::string>{"kubelet-certificate master-0 started", "kubelet-certificate master-0 progress",
                                      "kubelet-certificate master-0 progress", "kubelet-certificate master-0 progress",
                                      "kubelet-certificate master-0 finished"}));
  const std::string log = join(world.test.logged(), "\n");
  EXPECT_EQ(log.find("PRIVATE"), std::string::npos);
}

TEST_F(KubeletCertificate, OneThatIsThereIsLeftAlone) {
  ASSERT_TRUE(run().ok());
  const int reviews = api.reviews;
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(api.reviews, reviews);
  EXPECT_EQ(restarts().size(), 1u);
}

// The machine was off until its certificate expired. The approver recognises it by its key.
TEST_F(KubeletCertificate, OneThatIsOverIsRenewedWithItsKey) {
  const Secret key = net::make_key().value();
  const std::string request =
      net::make_request(key, {.common_name = "system:node:master-0", .organizations = {"system:nodes"}}, {}, {}).value();
  for (const std::size_t times : {1u, 2u}) {
    const net::CertificateSpec over{
        .subject = {}, .client_auth = true, .valid_from = now() - Seconds(1000 / times), .valid_for = Seconds(60)};
    world.put(current, net::sign_request(request, over, ca).value() + key.reveal());
    const Result<> done = run();
    ASSERT_TRUE(done.ok()) << done.error().message();
    EXPECT_TRUE(is_valid_certificate(world.text(current), "master-0", now()));
    EXPECT_EQ(net::private_key(Secret(world.text(current))).value(), key);
    // Each request is a new one: an old one would be answered with the expired certificate.
    EXPECT_EQ(api.kube.stored_all(kube::types::certificate_requests).size(), times);
    EXPECT_EQ(restarts().size(), times);
  }
}

TEST_F(KubeletCertificate, TheKeyOfAnotherNodeIsNotUsed) {
  const Secret key = net::make_key().value();
  const net::Certificate other = net::make_certificate({.subject = {.common_name = "system:node:master-1"},
                                                        .client_auth = true,
                                                        .valid_from = now(),
                                                        .valid_for = Seconds(60)},
                                                       &ca)
                                     .value();
  world.put(current, other.pem + other.key.reveal());
  ASSERT_TRUE(run().ok());
  EXPECT_NE(net::private_key(Secret(world.text(current))).value(), net::private_key(other.key).value());
}

TEST_F(KubeletCertificate, AfterAKillItsOwnRequestIsFound) {
  const Secret key = net::make_key().value();
  world.put(key_file, key.reveal());
  // An earlier run created the request, with another signature of the same key.
  denies = true;
  EXPECT_EQ(run().error().code(), Code::denied);
  Json request = api.kube.stored_all(kube::types::certificate_requests).at(0);
  denies = false;
  decide(request);
  const Result<> done = run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(api.kube.stored_all(kube::types::certificate_requests).size(), 1u);
  EXPECT_TRUE(net::key_fits(world.text(current), key).value());
}

TEST_F(KubeletCertificate, AfterAKillBeforeTheRestartTheKubeletIsRestarted) {
  ASSERT_TRUE(run().ok());
  world.put(key_file, net::make_key().value().reveal());
  (void)world.files.remove(identity.kubeconfig);
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(world.has(identity.kubeconfig));
  EXPECT_FALSE(world.has(key_file));
  EXPECT_EQ(restarts().size(), 2u);
  EXPECT_EQ(api.kube.stored_all(kube::types::certificate_requests).size(), 1u);
}

TEST_F(KubeletCertificate, ADenialIsSaid) {
  denies = true;
  const Result<> done = run();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::denied);
  EXPECT_NE(done.error().message().find("Denied: No: stranger"), std::string::npos) << done.error().message();
  EXPECT_TRUE(restarts().empty());
}

TEST_F(KubeletCertificate, ForAnotherNameOrTimeIsNotValid) {
  ASSERT_TRUE(run().ok());
  const std::string pem = world.text(current);
  EXPECT_FALSE(is_valid_certificate(pem, "master-1", now()));
  EXPECT_FALSE(is_valid_certificate(pem, "master-0", now() + std::chrono::hours(1)));
  EXPECT_FALSE(is_valid_certificate(pem.substr(0, pem.find("-----BEGIN EC")), "master-0", now()));
  EXPECT_FALSE(is_valid_certificate("", "master-0", now()));
}

// The credential has expired because the machine was off. A new one is fetched after the server has rejected it for a while.
TEST_F(KubeletCertificate, ARefusedCredentialIsReplaced) {
  int renewed = 0;
  bool is_known = false;
  api.next_error = [&]() -> std::optional<Error> {
    if (is_known) return std::nullopt;
    return error(Code::denied, "Unauthorized");
  };
  const auto renew = [&]() -> Result<> {
    if (++renewed == 1) return error(Code::unavailable, "no answer");
    is_known = true;
    return Ok{};
  };
  testing_support::NodeWorld quick;  // its clock advances without sleeping
  quick.runner.answer({"systemctl", "--no-block", "restart", "kubelet.service"}, "");
  const SteadyTime begin = quick.test.clock.steady();
  const Result<> done = get_kubelet_certificate(quick.environment(), api, bootstrap, identity, renew);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(renewed, 2);
  EXPECT_GE(quick.test.clock.steady() - begin, Seconds(30));
  EXPECT_TRUE(is_certificate_of(quick.text(current), "master-0"));
}

TEST(JoinKubeconfig, IsInTheConfigOfTheServer) {
  testing_support::RealTimeContext test;
  net::CurlHttp http;
  struct Case {
    int status;
    std::string body;
    std::string found;  // "" for an error
    Code code = Code::internal;
  };
  const std::string file = R"({"path":"/etc/kubernetes/kubeconfig","contents":{"source":"data:,kind%3A%20Config"}})";
  for (const Case& c : {Case{200, R"({"storage":{"files":[{"path":"/etc/x"},)" + file + "]}}", "kind: Config"},
                        Case{200, R"({"storage":{"files":[]}})", "", Code::invalid}, Case{200, "no JSON", "", Code::invalid},
                        Case{403, "no", "", Code::denied}, Case{503, "later", "", Code::unavailable}}) {
    testing_support::HttpImposter server([&](const testing_support::HttpImposter::Seen&) {
      return testing_support::HttpImposter::Reply{.status = c.status, .body = c.body};
    });
    const Result<Secret> found =
        fetch_join_kubeconfig(test.context(), http, {"http://" + server.host() + "/config/worker", "", Secret("t0ken")});
    EXPECT_EQ(found.ok() ? std::string(found->reveal()) : "", c.found);
    if (!found.ok()) {
      EXPECT_EQ(found.error().code(), c.code) << found.error().message();
    }
    EXPECT_EQ(server.journal().at(0).header("authorization"), "Bearer t0ken");
    EXPECT_EQ(server.journal().at(0).target, "/config/worker");
  }
}

}  // namespace
}  // namespace slipway::node
