#include "components/service_ca/authority.h"

#include "base/digest.h"
#include "components/controller/certificate_rotation.h"
#include "components/service_ca/operator.h"
#include "support/workload_cluster.h"

#include <gtest/gtest.h>

namespace slipway::components::service_ca {
namespace {

using kube::types::config_maps;
using kube::types::secrets;

constexpr Milliseconds day = std::chrono::hours(24);

struct Cluster : testing_support::WorkloadCluster {
  Cluster() : WorkloadCluster(make_operator("openshift-config-operator")) { set("{}"); }

  void set(const std::string& spec) {
    put("{apiVersion: operator.openshift.io/v1, kind: ServiceCA, metadata: {name: cluster}, spec: " + spec + "}");
  }
  // Applies plans until one changes nothing. Returns what it reports.
  std::vector<Notice> settle() {
    std::vector<Notice> notices;
    for (int round = 0; round < 5; ++round) {
      const Plan plan = desired_state().plan;
      notices.insert(notices.end(), plan.notices.begin(), plan.notices.end());
      bool has_written = false;
      for (const DesiredObject& desired : plan.desired_objects) {
        if (is_fulfilled(desired, view.snapshot())) continue;
        has_written = true;
        view.put(desired.object);
      }
      if (!has_written) return notices;
    }
    ADD_FAILURE() << "never settles";
    return notices;
  }
  std::string data(const kube::ResourceType& type, std::string_view name, std::string_view key) {
    return data_of(view.snapshot().find(type, authority_space, name), key).value_or("");
  }
  std::size_t bundle_size() { return net::parse_certificates(find_bundle(view.snapshot())).value().size(); }
  Authority authority() { return find_authority(view.snapshot(), now).value(); }
  std::string condition(std::string_view type) {
    for (const Condition& each : desired_state().conditions) {
      if (each.type == type) return fmt::format("{} {}", each.is_true, each.reason);
    }
    return "none";
  }
};

TEST(ServiceAuthority, IsCreatedAndPublished) {
  Cluster cluster;
  EXPECT_EQ(cluster.condition("ServiceCAAvailable"), "false NoAuthority");
  EXPECT_EQ(cluster.condition("ServiceCAProgressing"), "true NoAuthority");
  EXPECT_TRUE(cluster.settle().empty());
  EXPECT_EQ(cluster.condition("ServiceCAAvailable"), "true AsExpected");
  EXPECT_EQ(cluster.condition("ServiceCAProgressing"), "false AsExpected");
  const Authority authority = cluster.authority();
  EXPECT_TRUE(authority.info.subject.common_name.starts_with("openshift-service-serving-signer@"));
  EXPECT_EQ(authority.info.not_after - authority.info.not_before, 790 * day);
  EXPECT_EQ(authority.chain(), authority.certificate.pem);
  EXPECT_EQ(find_bundle(cluster.view.snapshot()), authority.certificate.pem);
  EXPECT_EQ(cluster.data(secrets, key_name, "ca-bundle.crt"), authority.certificate.pem);
  EXPECT_EQ(cluster.desired_state().plan.replan_at, authority.info.not_after - 395 * day);
}

TEST(ServiceAuthority, IsRotatedWithAnOverlap) {
  Cluster cluster;
  cluster.settle();
  const Authority first = cluster.authority();
  cluster.now = first.info.not_after - 395 * day - Seconds(1);
  EXPECT_TRUE(cluster.settle().empty());
  EXPECT_EQ(cluster.authority().certificate.pem, first.certificate.pem);

  cluster.now += Seconds(1);
  const std::vector<Notice> notices = cluster.settle();
  ASSERT_FALSE(notices.empty());
  EXPECT_EQ(notices[0].reason, "ServiceCARotated");
  const Authority second = cluster.authority();
  EXPECT_NE(second.info.public_key, first.info.public_key);
  // Clients with the new bundle trust certificates of the old authority.
  EXPECT_EQ(find_bundle(cluster.view.snapshot()), second.certificate.pem + first.certificate.pem);
  // Clients with the old bundle trust certificates of the new authority by the bridge.
  const net::CertificateInfo bridge = net::parse_certificate(second.bridge).value();
  EXPECT_EQ(second.chain(), second.bridge);
  EXPECT_TRUE(bridge.is_ca);
  EXPECT_EQ(bridge.public_key, second.info.public_key);
  EXPECT_EQ(bridge.subject, second.info.subject);
  EXPECT_EQ(bridge.not_after, first.info.not_after);
  EXPECT_TRUE(net::is_signed_by(second.bridge, first.certificate.pem).value());

  // The first authority expires when the second one is due to be replaced.
  cluster.now = first.info.not_after;
  EXPECT_EQ(cluster.authority().chain(), second.certificate.pem);
  cluster.settle();
  EXPECT_EQ(find_bundle(cluster.view.snapshot()), cluster.authority().certificate.pem + second.certificate.pem);
}

TEST(ServiceAuthority, IsRotatedOnceForEachReason) {
  Cluster cluster;
  cluster.settle();
  const std::string first = cluster.authority().certificate.pem;
  cluster.set("{unsupportedConfigOverrides: {forceRotation: {reason: leaked}}}");
  cluster.now += std::chrono::hours(1);
  cluster.settle();
  const std::string second = cluster.authority().certificate.pem;
  EXPECT_NE(second, first);
  EXPECT_EQ(cluster.bundle_size(), 2u);
  cluster.now += std::chrono::hours(1);
  cluster.settle();
  EXPECT_EQ(cluster.authority().certificate.pem, second);
  cluster.set("{}");
  cluster.settle();
  EXPECT_EQ(cluster.authority().certificate.pem, second);
}

TEST(ServiceAuthority, AnAdministratorRemovesAPredecessorFromTheSecret) {
  Cluster cluster;
  cluster.settle();
  cluster.set("{unsupportedConfigOverrides: {forceRotation: {reason: leaked}}}");
  cluster.now += std::chrono::hours(1);
  cluster.settle();
  ASSERT_EQ(cluster.bundle_size(), 2u);
  const Authority authority = cluster.authority();
  Json secret = *cluster.view.snapshot().find(secrets, authority_space, key_name);
  secret.at("data").as_object()["ca-bundle.crt"] = base64_encode(authority.certificate.pem);
  cluster.view.put(secret);
  cluster.settle();
  EXPECT_EQ(find_bundle(cluster.view.snapshot()), authority.certificate.pem);
}

TEST(ServiceAuthority, ReplacesAKeyThatIsGoneOrBroken) {
  Cluster cluster;
  cluster.settle();
  const std::string first = cluster.authority().certificate.pem;
  cluster.view.remove(secrets, authority_space, key_name);
  cluster.now += std::chrono::hours(1);
  cluster.settle();
  EXPECT_NE(cluster.authority().certificate.pem, first);
  EXPECT_EQ(cluster.bundle_size(), 2u) << "certificates of the lost key are still in use";
  EXPECT_EQ(cluster.authority().bridge, "") << "its key cannot sign any more";

  cluster.put(
      "{apiVersion: v1, kind: Secret, metadata: {namespace: openshift-service-ca, name: signing-key}, data: {tls.crt: eA==, "
      "tls.key: eA==, ca-bundle.crt: eA==}}");
  cluster.now += std::chrono::hours(1);
  cluster.settle();
  EXPECT_EQ(cluster.bundle_size(), 3u);
}

}  // namespace
}  // namespace slipway::components::service_ca
