#include "assets/tls/tls.h"

#include "base/text.h"
#include "support/sample_assets.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway::assets {
namespace {

using testing_support::make_all_tls;
using testing_support::sample_config;
using testing_support::sample_environment;
using testing_support::SeededRandom;

Tls made(const PreviousTls& kept = {}, const Environment& environment = sample_environment(),
         const config::InstallConfig& config = sample_config()) {
  SeededRandom random(1);
  Result<Tls> tls = make_all_tls(config, environment, {&random}, kept, {});
  EXPECT_TRUE(tls.ok()) << tls.error().message();
  return tls.ok() ? std::move(tls).value() : Tls{};
}

std::string name_of(const net::SubjectName& subject) {
  std::string text = subject.common_name;
  for (const std::string& name : subject.organizations) text += " O=" + name;
  for (const std::string& name : subject.organizational_units) text += " OU=" + name;
  return text;
}

std::string describe(std::string_view file, const net::CertificateInfo& info) {
  std::string usage = info.is_ca ? "ca" : "leaf";
  if (info.server_auth) usage += " server";
  if (info.client_auth) usage += " client";
  const auto days = std::chrono::duration_cast<std::chrono::hours>(info.not_after - info.not_before).count() / 24;
  std::vector<std::string> names = info.dns_names;
  names.insert(names.end(), info.ip_addresses.begin(), info.ip_addresses.end());
  return fmt::format("{} | {} | {} | {} | {} d | {}", file, name_of(info.subject), name_of(info.issuer), usage, days,
                     join(names, " "));
}

// Taken from openshift/installer pkg/asset/tls, not from the output. Certificates with 30 days are valid for one day there.
constexpr std::string_view expected = R"(
root-ca | root-ca OU=openshift | root-ca OU=openshift | ca | 3650 d |
machine-config-server | system:machine-config-server | root-ca OU=openshift | leaf server | 3650 d | api-int.demo.example.com 10.97.77.5 10.97.77.5
journal-gatewayd | journal-gatewayd O=OpenShift Bootstrap | root-ca OU=openshift | leaf server client | 3650 d |
admin-kubeconfig-signer | admin-kubeconfig-signer OU=openshift | admin-kubeconfig-signer OU=openshift | ca | 3650 d |
admin-kubeconfig-client | system:admin O=system:masters | admin-kubeconfig-signer OU=openshift | leaf server client | 3650 d |
kubelet-bootstrap-kubeconfig-signer | kubelet-bootstrap-kubeconfig-signer OU=openshift | kubelet-bootstrap-kubeconfig-signer OU=openshift | ca | 3650 d |
kubelet-client | system:serviceaccount:openshift-machine-config-operator:node-bootstrapper O=system:serviceaccounts:openshift-machine-config-operator O=system:serviceaccounts | kubelet-bootstrap-kubeconfig-signer OU=openshift | leaf client | 3650 d |
kubelet-signer | kubelet-signer OU=openshift | kubelet-signer OU=openshift | ca | 30 d |
kube-control-plane-signer | kube-control-plane-signer OU=openshift | kube-control-plane-signer OU=openshift | ca | 365 d |
kube-control-plane-kube-controller-manager-client | system:admin O=system:masters | kube-control-plane-signer OU=openshift | leaf client | 365 d |
kube-control-plane-kube-scheduler-client | system:admin O=system:masters | kube-control-plane-signer OU=openshift | leaf client | 365 d |
kube-apiserver-to-kubelet-signer | kube-apiserver-to-kubelet-signer OU=openshift | kube-apiserver-to-kubelet-signer OU=openshift | ca | 365 d |
kube-apiserver-to-kubelet-client | system:kube-apiserver O=kube-master | kube-apiserver-to-kubelet-signer OU=openshift | leaf client | 365 d |
kube-apiserver-localhost-signer | kube-apiserver-localhost-signer OU=openshift | kube-apiserver-localhost-signer OU=openshift | ca | 3650 d |
kube-apiserver-localhost-server | system:kube-apiserver O=kube-master | kube-apiserver-localhost-signer OU=openshift | leaf server | 30 d | localhost 127.0.0.1 ::1
kube-apiserver-service-network-signer | kube-apiserver-service-network-signer OU=openshift | kube-apiserver-service-network-signer OU=openshift | ca | 3650 d |
kube-apiserver-service-network-server | system:kube-apiserver O=kube-master | kube-apiserver-service-network-signer OU=openshift | leaf server | 30 d | kubernetes kubernetes.default kubernetes.default.svc kubernetes.default.svc.cluster.local openshift openshift.default openshift.default.svc openshift.default.svc.cluster.local 172.30.0.1
kube-apiserver-lb-signer | kube-apiserver-lb-signer OU=openshift | kube-apiserver-lb-signer OU=openshift | ca | 3650 d |
kube-apiserver-lb-server | system:kube-apiserver O=kube-master | kube-apiserver-lb-signer OU=openshift | leaf server | 30 d | api.demo.example.com
kube-apiserver-internal-lb-server | system:kube-apiserver O=kube-master | kube-apiserver-lb-signer OU=openshift | leaf server | 30 d | api-int.demo.example.com
aggregator-signer | aggregator-signer OU=openshift | aggregator-signer OU=openshift | ca | 30 d |
aggregator-client | system:kube-apiserver-proxy O=kube-master | aggregator-signer OU=openshift | leaf client | 30 d |
aggregator-ca | aggregator OU=bootkube | aggregator OU=bootkube | ca | 30 d |
apiserver-proxy | system:kube-apiserver-proxy O=kube-master | aggregator OU=bootkube | leaf client | 30 d |
)";

TEST(Tls, IsTheTableOfTheInstaller) {
  const Tls tls = made();
  std::string text = "\n";
  for (const CertificateRow& row : certificate_rows()) {
    if (!row.platform.empty()) continue;
    const auto info = net::parse_certificate(tls.find(row.file)->second.pem);
    ASSERT_TRUE(info.ok()) << row.file;
    const std::string line = describe(row.file, info.value());
    text += std::string(trim(line)) + "\n";
    EXPECT_TRUE(net::key_fits(tls.find(row.file)->second.pem, tls.find(row.file)->second.key).value()) << row.file;
    EXPECT_EQ(info->not_before, sample_environment().now) << row.file;
    EXPECT_EQ(info->key_usages.empty(), row.file == "machine-config-server") << row.file;
    const std::string_view issuer = row.issuer.empty() ? row.file : row.issuer;
    EXPECT_TRUE(net::is_signed_by(tls.find(row.file)->second.pem, tls.find(issuer)->second.pem).value()) << row.file;
  }
  EXPECT_EQ(text, expected);
}

config::InstallConfig config_of(std::string_view platform) {
  config::InstallConfig config = sample_config();
  config.platform.type = platform;
  config.platform.local.reset();
  return config;
}

TEST(Tls, ProvisioningServicesHaveTheirsOnBaremetalOnly) {
  EXPECT_FALSE(made().contains("ironic/tls"));
  const Tls tls = made({}, sample_environment(), config_of("baremetal"));
  const net::Certificate& certificate = tls.find("ironic/tls")->second;
  EXPECT_TRUE(
      describe("ironic/tls", net::parse_certificate(certificate.pem).value())
          .starts_with("ironic/tls | ironic OU=openshift | ironic OU=openshift | leaf server | 30 d | api-int.demo.example.com"));
  const AssetFiles files = machine_tls_files(tls, {}).value();
  EXPECT_NE(std::ranges::find(files, AssetFile{"ironic/tls.key", certificate.key.reveal()}), files.end());
}

// The default on platforms other than local. This test is slow, because it generates RSA keys.
TEST(Tls, KeysAreRsaWhereNobodyAsks) {
  Environment environment = sample_environment();
  environment.key_type.reset();
  const Tls tls = made({}, environment, config_of("none"));
  for (const auto& [name, certificate] : tls) {
    if (!certificate.key.empty()) {
      EXPECT_TRUE(certificate.key.reveal().starts_with("-----BEGIN RSA PRIVATE KEY-----\n")) << name;
    }
  }
  for (const CertificateRow& row : certificate_rows()) {
    if (!row.platform.empty()) continue;
    const net::Certificate& certificate = tls.find(row.file)->second;
    EXPECT_TRUE(net::key_fits(certificate.pem, certificate.key).value()) << row.file;
    EXPECT_TRUE(net::is_signed_by(certificate.pem, tls.find(row.issuer.empty() ? row.file : row.issuer)->second.pem).value())
        << row.file;
  }
  EXPECT_TRUE(bootstrap_ssh_key(tls)->starts_with("ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB"));
  std::string half = net::public_key(tls.find("service-account")->second.key).value();
  for (const char* line : {"-----BEGIN ", "-----END "}) half.insert(half.find(line) + std::string_view(line).size(), "RSA ");
  const AssetFiles files = machine_tls_files(tls, {}).value();
  EXPECT_NE(std::ranges::find(files, AssetFile{"service-account.pub", half}), files.end());

  // Existing keys are kept; a request for another type is an error.
  EXPECT_EQ(made({tls}, environment, config_of("none")), tls);
  SeededRandom random(1);
  const auto other = make_all_tls(config_of("none"), sample_environment(), {&random}, {tls}, {});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code(), Code::conflict);
  EXPECT_TRUE(other.error().message().starts_with("--key-type: applies to new keys only, the existing keys are RSA ("))
      << other.error().message();
}

TEST(Tls, IsTheSameForTheSameSeed) {
  SeededRandom random(1);
  const auto make = [&](const char* seed) {
    return make_all_tls(sample_config(), sample_environment(), {&random, Secret(seed)}, {}, {}).value();
  };
  const Tls one = make("a"), other = make("b");
  EXPECT_EQ(make("a"), one);
  std::set<std::string> keys;
  for (const auto& [name, certificate] : one) {
    EXPECT_NE(other.find(name)->second, certificate) << name;
    if (!certificate.key.empty()) {
      EXPECT_TRUE(keys.insert(certificate.key.reveal()).second) << name;
    }
  }
}

TEST(Tls, ServersOfTheApiCarryTheirSigner) {
  const Tls tls = made();
  for (const std::string name : {"localhost", "service-network", "lb", "internal-lb"}) {
    const std::string pem = tls.find("kube-apiserver-" + name + "-server")->second.pem;
    const std::string signer = name == "internal-lb" ? "lb" : name;
    EXPECT_TRUE(pem.ends_with(tls.find("kube-apiserver-" + signer + "-signer")->second.pem)) << name;
    EXPECT_EQ(net::parse_certificates(pem)->size(), 2u) << name;
  }
  EXPECT_EQ(net::parse_certificates(tls.find("journal-gatewayd")->second.pem)->size(), 1u);
}

TEST(Tls, BundlesHoldWhatTheirConsumersTrust) {
  const Tls tls = made();
  std::string text;
  for (const BundleRow& row : bundle_rows()) {
    text += fmt::format("{}:", row.file);
    const auto certificates = net::parse_certificates(tls.find(row.file)->second.pem);
    ASSERT_TRUE(certificates.ok()) << row.file;
    for (const net::CertificateInfo& info : certificates.value()) text += " " + info.subject.common_name;
    text += "\n";
  }
  EXPECT_EQ(text, R"(admin-kubeconfig-ca-bundle: admin-kubeconfig-signer
aggregator-ca-bundle: aggregator-signer
kube-apiserver-to-kubelet-ca-bundle: kube-apiserver-to-kubelet-signer
kube-apiserver-localhost-ca-bundle: kube-apiserver-localhost-signer
kube-apiserver-service-network-ca-bundle: kube-apiserver-service-network-signer
kube-apiserver-lb-ca-bundle: kube-apiserver-lb-signer
kube-apiserver-complete-server-ca-bundle: kube-apiserver-localhost-signer kube-apiserver-service-network-signer kube-apiserver-lb-signer
kube-apiserver-complete-client-ca-bundle: admin-kubeconfig-signer kubelet-signer kube-control-plane-signer kube-apiserver-to-kubelet-signer kubelet-bootstrap-kubeconfig-signer
kube-control-plane-ca-bundle: kube-control-plane-signer kube-apiserver-lb-signer kube-apiserver-localhost-signer kube-apiserver-service-network-signer
kubelet-client-ca-bundle: kubelet-signer
kubelet-serving-ca-bundle: kubelet-signer
kubelet-bootstrap-kubeconfig-ca-bundle: kubelet-bootstrap-kubeconfig-signer
)");
}

TEST(Tls, IsKeptWhileItIsFresh) {
  const Tls first = made();
  Environment later = sample_environment();
  later.now += std::chrono::hours(24 * 15 - 1);
  EXPECT_EQ(made({first}, later), first);
}

TEST(Tls, ShortLivedCertificatesAreRenewedWhenHalfOfTheirTimeIsOver) {
  const Tls first = made();
  Environment later = sample_environment();
  later.now += std::chrono::hours(24 * 15 + 1);
  const Tls second = made({first}, later);
  std::set<std::string> renewed;
  for (const auto& [name, certificate] : second) {
    if (certificate != first.find(name)->second) renewed.insert(name);
  }
  const std::set<std::string> short_lived = {"kubelet-signer",
                                             "kube-apiserver-localhost-server",
                                             "kube-apiserver-service-network-server",
                                             "kube-apiserver-lb-server",
                                             "kube-apiserver-internal-lb-server",
                                             "aggregator-signer",
                                             "aggregator-client",
                                             "aggregator-ca",
                                             "apiserver-proxy",
                                             "aggregator-ca-bundle",
                                             "kube-apiserver-complete-client-ca-bundle",
                                             "kubelet-client-ca-bundle",
                                             "kubelet-serving-ca-bundle"};
  EXPECT_EQ(renewed, short_lived);
  // A leaf certificate is valid from the same time as its authority, and expires at the same time as a new one.
  const auto server = net::parse_certificate(second.find("kube-apiserver-lb-server")->second.pem).value();
  EXPECT_EQ(server.not_before, sample_environment().now);
  EXPECT_EQ(server.not_after, later.now + std::chrono::hours(24 * 30));
}

TEST(Tls, WhatAClockThatWasAheadHasMadeIsMadeAnew) {
  const Tls first = made();
  Environment before = sample_environment();
  before.now -= Seconds(301);
  const Tls second = made({first}, before);
  for (const CertificateRow& row : certificate_rows()) {
    if (row.platform.empty()) {
      EXPECT_NE(second.find(row.file)->second, first.find(row.file)->second) << row.file;
    }
  }
  before.now += Seconds(2);
  EXPECT_EQ(made({first}, before), first) << "clocks are set back a little all the time";
}

TEST(Tls, WhatMachinesHaveStays) {
  const Tls first = made();
  for (const Seconds later : {Seconds(-3600), Seconds(std::chrono::hours(24 * 40))}) {
    Environment environment = sample_environment();
    environment.now += later;
    EXPECT_EQ(made({first, true}, environment), first) << later.count();
  }
}

TEST(Tls, OnTheMachineLieNoKeysThatNobodyThereNeeds) {
  const AssetFiles files = machine_tls_files(made(), ServerToken{Secret("t0ken"), Secret("w0rker")}).value();
  std::set<std::string> names;
  for (const AssetFile& file : files) names.insert(file.path);
  EXPECT_EQ(names.size(), files.size());
  for (const std::string absent : {"root-ca.key", "admin-kubeconfig-signer.key", "admin-kubeconfig-client.key",
                                   "kubelet-bootstrap-kubeconfig-signer.key", "bootstrap-ssh.key"}) {
    EXPECT_FALSE(names.contains(absent)) << absent;
  }
  for (const std::string present :
       {"root-ca.crt", "kubelet-signer.key", "kubelet-signer.crt", "service-account.key", "service-account.pub",
        "kube-apiserver-complete-client-ca-bundle.crt", "machine-config-server-token"}) {
    EXPECT_TRUE(names.contains(present)) << present;
  }
  EXPECT_FALSE(names.contains("bound-service-account-signing-key.key"));
}

TEST(Tls, TakesTheSigningKeyOfTheUser) {
  const Secret key = net::make_key().value();
  SeededRandom random(1);
  const Tls tls = make_all_tls(sample_config(), sample_environment(), {&random}, {}, {.signing_key = key}).value();
  const AssetFiles files = machine_tls_files(tls, {}).value();
  const AssetFile pair = {"bound-service-account-signing-key.key", key.reveal()};
  const AssetFile half = {"bound-service-account-signing-key.pub", net::public_key(key).value()};
  EXPECT_NE(std::ranges::find(files, pair), files.end());
  EXPECT_NE(std::ranges::find(files, half), files.end());
  EXPECT_EQ(made({tls}), tls);
}

TEST(Tls, TheSshKeyIsALineForAuthorizedKeys) {
  EXPECT_TRUE(bootstrap_ssh_key(made()).value().starts_with("ecdsa-sha2-nistp256 AAAA"));
}

}  // namespace
}  // namespace slipway::assets
