#include "components/service_ca/serving.h"

#include "base/yaml.h"
#include "components/render/manifest.h"

#include <gtest/gtest.h>

namespace slipway::components::service_ca {
namespace {

using Step = Verdict::Step;

constexpr Milliseconds day = std::chrono::hours(24);

class ServingTest : public testing::Test {
 protected:
  ServingTest() { rotate(); }

  static Json service(const std::string& metadata = "uid: u1", const std::string& spec = "{clusterIP: 172.30.0.9}") {
    return parse_yaml("{apiVersion: v1, kind: Service, metadata: {namespace: shop, name: web, resourceVersion: '5', " + metadata +
                          ", annotations: {service.beta.openshift.io/serving-cert-secret-name: web-tls}}, spec: " + spec + "}",
                      "service")
        .value()
        .value;
  }
  void rotate() {
    for (int round = 0; round < 2; ++round) {
      const Plan plan = plan_authority(fmt::format("{}", ++reason_ / 2), view.snapshot(), now).value();
      for (const DesiredObject& desired : plan.desired_objects) view.put(desired.object);
    }
  }
  Authority authority() { return find_authority(view.snapshot(), now).value(); }
  // Puts the Secret of a Service into the view, as the API server stores and the watch delivers it.
  Json issue(const Json& of) {
    const Json* known = view.snapshot().find(kube::types::secrets, "shop", "web-tls");
    Json made = make_serving_secret(of, known, authority(), lifetime, now).value();
    made.as_object()["metadata"].as_object()["resourceVersion"] = std::to_string(++version_);
    view.put(reduce_secret(made));
    return made;
  }
  Verdict judge_it(const Json& of) { return judge(of, view.snapshot(), authority(), lifetime, now); }

  View view;
  WallTime now = parse_rfc3339("2026-11-22T02:00:00Z").value();
  Lifetime lifetime = serving_lifetime({});

 private:
  int reason_ = 1, version_ = 10;
};

TEST_F(ServingTest, TheCertificateHasTheNamesOfTheService) {
  const Json made = issue(service());
  const std::string pem = data_of(&made, "tls.crt").value();
  const std::vector<net::CertificateInfo> chain = net::parse_certificates(pem).value();
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[0].subject.common_name, "web.shop.svc");
  EXPECT_EQ(chain[0].dns_names, (std::vector<std::string>{"web.shop.svc", "web.shop.svc.cluster.local"}));
  EXPECT_TRUE(chain[0].server_auth);
  EXPECT_FALSE(chain[0].client_auth || chain[0].is_ca);
  EXPECT_EQ(chain[0].not_after - chain[0].not_before, 365 * day);
  EXPECT_EQ(chain[1], authority().info);
  EXPECT_TRUE(net::key_fits(pem, Secret(data_of(&made, "tls.key").value())).value());
  EXPECT_EQ(text_of(made, {"type"}), "kubernetes.io/tls");
  const auto annotation = [&](std::string_view name) { return text_of(made, {"metadata", "annotations", name}); };
  EXPECT_EQ(annotation("service.beta.openshift.io/originating-service-uid"), "u1");
  EXPECT_EQ(annotation("service.alpha.openshift.io/originating-service-name"), "web");
  EXPECT_EQ(annotation("service.beta.openshift.io/expiry"), "2027-11-22T01:59:59Z");
  const Json owner = {{"apiVersion", "v1"}, {"kind", "Service"}, {"name", "web"}, {"uid", "u1"}};
  EXPECT_EQ(find_array(made, {"metadata", "ownerReferences"}), JsonArray{owner});
  const Verdict verdict = judge_it(service());
  EXPECT_EQ(verdict.step, Step::keep);
  EXPECT_EQ(verdict.until, now - Seconds(1) + 292 * day);
}

TEST_F(ServingTest, PodsOfAHeadlessServiceHaveNames) {
  const Json headless = service("uid: u1", "{clusterIP: None}");
  const Json made = issue(headless);
  EXPECT_EQ(
      net::parse_certificate(data_of(&made, "tls.crt").value()).value().dns_names,
      (std::vector<std::string>{"*.web.shop.svc", "*.web.shop.svc.cluster.local", "web.shop.svc", "web.shop.svc.cluster.local"}));
  EXPECT_EQ(judge_it(headless).step, Step::keep);
  EXPECT_EQ(judge_it(service()).why, "the names of the Service changed");
}

TEST_F(ServingTest, IsReplacedBeforeItExpires) {
  issue(service());
  now += 292 * day - Seconds(2);
  EXPECT_EQ(judge_it(service()).step, Step::keep);
  now += Seconds(1);
  EXPECT_EQ(judge_it(service()).why, "its certificate is about to expire");
  issue(service());
  EXPECT_EQ(judge_it(service()).step, Step::keep);
}

TEST_F(ServingTest, AShorterLifetimeAppliesToCertificatesThatExist) {
  issue(service());
  lifetime = serving_lifetime({.leaf = std::chrono::hours(48)});
  now += std::chrono::hours(24);
  EXPECT_EQ(judge_it(service()).step, Step::issue);
  const Json made = issue(service());
  const net::CertificateInfo leaf = net::parse_certificate(data_of(&made, "tls.crt").value()).value();
  EXPECT_EQ(leaf.not_after - leaf.not_before, 2 * day);
}

TEST_F(ServingTest, NeverOutlivesItsAuthority) {
  now = authority().info.not_after - 10 * day;
  const Json made = issue(service());
  EXPECT_EQ(net::parse_certificate(data_of(&made, "tls.crt").value()).value().not_after, authority().info.not_after);
}

TEST_F(ServingTest, ANewAuthoritySignsAgainWithABridge) {
  issue(service());
  const net::CertificateInfo old = authority().info;
  now += day;
  rotate();
  ASSERT_NE(authority().info.public_key, old.public_key);
  EXPECT_EQ(judge_it(service()).why, "the authority changed");
  const Json made = issue(service());
  const std::vector<net::CertificateInfo> chain = net::parse_certificates(data_of(&made, "tls.crt").value()).value();
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[1].issuer, old.subject);
  EXPECT_EQ(judge_it(service()).step, Step::keep);
}

TEST_F(ServingTest, NeverOverwritesWhatItDidNotCreate) {
  view.put(parse_yaml("{apiVersion: v1, kind: Secret, metadata: {namespace: shop, name: web-tls, uid: s1}}", "x").value().value);
  const Verdict verdict = judge_it(service());
  EXPECT_EQ(verdict.step, Step::refuse);
  EXPECT_EQ(verdict.why,
            "Secret shop/web-tls exists and was not created for a Service (delete the Secret, or name another one in annotation "
            "service.beta.openshift.io/serving-cert-secret-name)");
  view.remove(kube::types::secrets, "shop", "web-tls");
  Json other = service("uid: u2");
  other.as_object()["metadata"].as_object()["name"] = "other";
  issue(other);
  EXPECT_NE(judge_it(service()).why.find("was created for Service other"), std::string::npos);
}

TEST_F(ServingTest, AServiceThatWasCreatedAgainTakesItsSecretOver) {
  issue(service());
  const Json again = service("uid: u2");
  EXPECT_EQ(judge_it(again).step, Step::issue);
  const Json made = issue(again);
  EXPECT_EQ(find_array(made, {"metadata", "ownerReferences"}).size(), 1u);
  EXPECT_EQ(judge_it(again).step, Step::keep);
}

TEST_F(ServingTest, ReplacesAnUnusableCertificateAndKeepsMetadataOfOthers) {
  Json made = issue(service());
  made.as_object()["metadata"].as_object()["annotations"].as_object()["mine"] = "stays";
  made.as_object()["metadata"].as_object()["labels"].as_object()["team"] = "a";
  made.as_object()["metadata"].as_object()["resourceVersion"] = "70";
  made.as_object()["data"].as_object().erase("tls.key");
  view.put(reduce_secret(made));
  EXPECT_EQ(judge_it(service()).why, "tls.key is not the key of tls.crt");
  const Json again = issue(service());
  EXPECT_EQ(text_of(again, {"metadata", "annotations", "mine"}), "stays");
  EXPECT_EQ(text_of(again, {"metadata", "labels", "team"}), "a");
}

TEST_F(ServingTest, KeepsNoDataOfSecretsInMemory) {
  const Json made = issue(service());
  EXPECT_EQ(find(reduce_secret(made), {"data"}), nullptr);
  const Json other = parse_yaml(
                         "{apiVersion: v1, kind: Secret, metadata: {namespace: shop, name: password, uid: s1, labels: {a: b}}, "
                         "data: {password: c2VjcmV0}}",
                         "x")
                         .value()
                         .value;
  EXPECT_EQ(emit_json(reduce_secret(other), JsonStyle::compact),
            R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"password","namespace":"shop","uid":"s1"}})");
  EXPECT_TRUE(reduce_service(parse_yaml("{kind: Service, metadata: {name: x}}", "x").value().value).is_null());
}

}  // namespace
}  // namespace slipway::components::service_ca
