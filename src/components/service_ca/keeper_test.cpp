#include "components/service_ca/keeper.h"

#include "base/yaml.h"
#include "components/controller/certificate_rotation.h"
#include "components/service_ca/authority.h"
#include "support/delivered_view.h"
#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <chrono>

namespace slipway::components::service_ca {
namespace {

using kube::types::config_maps;
using kube::types::secrets;
using kube::types::services;
using namespace std::chrono_literals;

class KeeperTest : public testing::Test {
 protected:
  KeeperTest() {
    kube.serve(kube::types::service_cas);
    put("{apiVersion: operator.openshift.io/v1, kind: ServiceCA, metadata: {name: cluster}, spec: {managementState: Managed}}");
    rotate("1");
  }

  void put(const std::string& text) { kube.put(parse_yaml(text, "x").value().value); }
  void put_service(const std::string& name, const std::string& secret) {
    put(
        fmt::format("{{apiVersion: v1, kind: Service, metadata: {{namespace: shop, name: {}, uid: uid-{}, annotations: "
                    "{{service.beta.openshift.io/serving-cert-secret-name: {}}}}}, spec: {{clusterIP: 172.30.0.1}}}}",
                    name, name, secret));
  }
  void rotate(const std::string& reason) {
    for (int round = 0; round < 2; ++round) {
      look();
      const Plan made = plan_authority(reason, view.snapshot(), test.clock.now()).value();
      for (const DesiredObject& each : made.desired_objects) kube.put(each.object);
    }
  }
  void look() { testing_support::deliver(kube, Keeper::watched(), view); }
  Plan plan() {
    look();
    return keeper.plan(view.snapshot(), test.clock.now()).value();
  }
  // Carries out plans until one has no tasks. Returns the last one.
  Plan settle() {
    for (int round = 0; round < 10; ++round) {
      Plan made = plan();
      if (made.tasks.empty()) return made;
      for (const Task& task : made.tasks) EXPECT_TRUE(task.run(test.context()).ok()) << task.name;
    }
    ADD_FAILURE() << "never settles";
    return {};
  }
  void wait(Milliseconds time) { test.clock.wait(test.clock.steady() + time, {}, nullptr, 0); }
  std::string annotation(const std::string& service, std::string_view name) {
    return text_of(*kube.stored(services, "shop", service),
                   {"metadata", "annotations", fmt::format("service.beta.openshift.io/{}", name)});
  }
  std::string certificate(const std::string& secret) {
    const std::optional<Json> stored = kube.stored(secrets, "shop", secret);
    return stored ? data_of(&*stored, "tls.crt").value_or("") : "";
  }

  testing_support::TestContext test;
  testing_support::FakeKube kube;
  View view;
  Keeper keeper{kube, view};
};

TEST_F(KeeperTest, IssuesRenewsAndRestores) {
  put_service("web", "web-tls");
  const Plan done = settle();
  EXPECT_TRUE(done.notices.empty());
  const std::string first = certificate("web-tls");
  EXPECT_EQ(net::parse_certificate(first).value().subject.common_name, "web.shop.svc");
  EXPECT_TRUE(annotation("web", "serving-cert-signed-by").starts_with("openshift-service-serving-signer@"));
  const int writes = kube.writes();
  settle();
  EXPECT_EQ(kube.writes(), writes) << "nothing changed";

  wait(*done.replan_at - test.clock.now());
  settle();
  const std::string second = certificate("web-tls");
  EXPECT_NE(second, first);

  kube.drop(secrets, "shop", "web-tls");
  settle();
  EXPECT_NE(certificate("web-tls"), "");
  EXPECT_NE(certificate("web-tls"), second);
}

TEST_F(KeeperTest, ARotationReachesCertificatesAndBundles) {
  put_service("web", "web-tls");
  put("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop, name: trust, annotations: "
      "{service.beta.openshift.io/inject-cabundle: 'true'}}}");
  settle();
  const auto bundle = [&] { return text_of(*kube.stored(config_maps, "shop", "trust"), {"data", "service-ca.crt"}); };
  const std::string old_bundle = bundle(), old_certificate = certificate("web-tls");
  const net::CertificateInfo old = net::parse_certificate(old_bundle).value();
  wait(1h);
  rotate("2");
  settle();
  EXPECT_TRUE(bundle().ends_with(old_bundle)) << "clients trust certificates of before";
  EXPECT_NE(bundle(), old_bundle);
  EXPECT_NE(certificate("web-tls"), old_certificate);
  const std::vector<std::string> chain = net::split_certificates(certificate("web-tls")).value();
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_TRUE(net::is_signed_by(chain[0], chain[1]).value());
  EXPECT_TRUE(net::is_signed_by(chain[1], old_bundle).value()) << "clients of before trust the new certificate";
}

TEST_F(KeeperTest, SaysWhyASecretIsNotItsOwn) {
  put("{apiVersion: v1, kind: Secret, metadata: {namespace: shop, name: web-tls}, data: {password: eA==}}");
  put_service("web", "web-tls");
  const Plan refused = settle();
  ASSERT_EQ(refused.notices.size(), 1u);
  EXPECT_EQ(refused.notices[0].reason, "ServingCertificateFailed");
  EXPECT_TRUE(annotation("web", "serving-cert-generation-error").starts_with("Secret shop/web-tls exists"));
  EXPECT_EQ(annotation("web", "serving-cert-generation-error-num"), "1");
  EXPECT_EQ(text_of(*kube.stored(secrets, "shop", "web-tls"), {"data", "password"}), "eA==");
  kube.drop(secrets, "shop", "web-tls");
  EXPECT_TRUE(settle().notices.empty());
  EXPECT_NE(certificate("web-tls"), "");
  EXPECT_EQ(annotation("web", "serving-cert-generation-error"), "");
}

TEST_F(KeeperTest, PausesLongerAfterEachRefusalAndStops) {
  kube.fail_request = [](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method == "POST" && request.path.starts_with("/api/v1/namespaces/shop/secrets")) {
      return error(Code::denied, "exceeded quota");
    }
    return std::nullopt;
  };
  put_service("web", "web-tls");
  put_service("other", "other-tls");
  settle();
  EXPECT_EQ(annotation("web", "serving-cert-generation-error"), "Secret shop/web-tls: exceeded quota");
  EXPECT_EQ(annotation("other", "serving-cert-generation-error-num"), "1") << "one failure does not stop the others";
  const WallTime begin = test.clock.now();
  for (int attempt = 2; attempt <= 10; ++attempt) {
    const Plan waiting = plan();
    ASSERT_TRUE(waiting.tasks.empty());
    ASSERT_TRUE(waiting.replan_at && *waiting.replan_at > test.clock.now());
    wait(*waiting.replan_at - test.clock.now());
    settle();
    EXPECT_EQ(annotation("web", "serving-cert-generation-error-num"), std::to_string(attempt));
  }
  EXPECT_EQ(test.clock.now() - begin, 2s + 4s + 8s + 16s + 32s + 64s + 128s + 256s + 512s);
  wait(24h);
  EXPECT_TRUE(plan().tasks.empty());

  kube.fail_request = nullptr;
  EXPECT_TRUE(plan().tasks.empty()) << "ten attempts are enough";
  put_service("web", "web-tls");  // without the annotations of the failure
  settle();
  EXPECT_NE(certificate("web-tls"), "");
  EXPECT_EQ(certificate("other-tls"), "");
}

TEST_F(KeeperTest, AnotherNameIsTriedAtOnce) {
  put_service("web", "NOT A NAME");
  kube.fail_request = [](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method == "POST") return error(Code::invalid, "not a name");
    return std::nullopt;
  };
  settle();
  kube.fail_request = nullptr;
  Json service = *kube.stored(services, "shop", "web");
  service.at("metadata").at("annotations").as_object()["service.beta.openshift.io/serving-cert-secret-name"] = "web-tls";
  kube.put(service);
  settle();
  EXPECT_NE(certificate("web-tls"), "");
  EXPECT_EQ(annotation("web", "serving-cert-generation-error"), "");
}

TEST_F(KeeperTest, AnUnreachableServerIsNoFailureOfTheService) {
  put_service("web", "web-tls");
  kube.fail_request = [](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method == "POST") return error(Code::unavailable, "connection refused");
    return std::nullopt;
  };
  const Plan made = plan();
  ASSERT_EQ(made.tasks.size(), 1u);
  EXPECT_EQ(made.tasks[0].run(test.context()).error().code(), Code::unavailable);
  kube.fail_request = nullptr;
  settle();
  EXPECT_EQ(annotation("web", "serving-cert-generation-error"), "");
  EXPECT_NE(certificate("web-tls"), "");
}

TEST_F(KeeperTest, DoesNothingWhileItIsUnmanaged) {
  put("{apiVersion: operator.openshift.io/v1, kind: ServiceCA, metadata: {name: cluster}, spec: {managementState: Unmanaged}}");
  put_service("web", "web-tls");
  EXPECT_TRUE(plan().tasks.empty());
}

TEST_F(KeeperTest, InjectsIntoWebhooksByApply) {
  kube.serve(kube::types::mutating_webhooks, false);
  put("{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: hooks, annotations: "
      "{service.beta.openshift.io/inject-cabundle: 'true'}}, webhooks: [{name: a, clientConfig: {url: 'https://x'}}]}");
  const Plan made = plan();
  ASSERT_EQ(made.tasks.size(), 1u);
  ASSERT_TRUE(made.tasks[0].run(test.context()).ok());
  const Json stored = *kube.stored(kube::types::mutating_webhooks, "", "hooks");
  const JsonArray webhooks = find_array(stored, {"webhooks"});
  EXPECT_NE(text_of(webhooks[0], {"clientConfig", "caBundle"}), "");
}

}  // namespace
}  // namespace slipway::components::service_ca
