#include "assets/tls/user_tls.h"

#include "assets/tls/tls.h"
#include "support/sample_assets.h"

#include <gtest/gtest.h>

namespace slipway::assets {
namespace {

using testing_support::make_all_tls;
using testing_support::sample_config;
using testing_support::sample_environment;
using testing_support::SeededRandom;

constexpr Seconds year = std::chrono::hours(24 * 365);

Environment loading() {
  Environment environment = sample_environment();
  environment.load_certificates = true;
  return environment;
}

net::Certificate authority(std::string name, WallTime from = sample_environment().now, Seconds valid_for = year) {
  return net::make_certificate({.subject = {.common_name = std::move(name), .organizational_units = {"us"}},
                                .is_ca = true,
                                .valid_from = from,
                                .valid_for = valid_for},
                               nullptr)
      .value();
}

net::Certificate admin(const net::Certificate& issuer) {
  return net::make_certificate({.subject = {.common_name = "system:admin", .organizations = {"system:masters"}},
                                .client_auth = true,
                                .valid_from = sample_environment().now,
                                .valid_for = year},
                               &issuer)
      .value();
}

void put(Snapshot& folder, const std::string& name, const net::Certificate& pair) {
  folder["tls/" + name + ".crt"] = pair.pem;
  folder["tls/" + name + ".key"] = pair.key.reveal();
}

TEST(UserTls, IsWhatLiesInTheFolder) {
  const net::Certificate lb = authority("our-lb"), root = authority("our-root");
  const Secret key = net::make_key().value();
  Snapshot folder;
  put(folder, "kube-apiserver-lb-signer", {lb.pem + root.pem, lb.key});
  folder["tls/bound-service-account-signing-key.key"] = key.reveal();
  folder["tls/kubeadmin-password.hash"] = "$2y$10$" + std::string(53, 'a') + "\n";
  const FoundTls found = find_user_tls(folder, loading()).value();
  EXPECT_EQ(found.tls.pairs, (Tls{{"kube-apiserver-lb-signer", lb}}));
  EXPECT_EQ(found.tls.signing_key, key);
  EXPECT_EQ(found.tls.password_hash, "$2y$10$" + std::string(53, 'a'));
  EXPECT_TRUE(found.warnings.empty());
}

TEST(UserTls, WithoutTheVariableCertificatesAreNotUsed) {
  Snapshot folder;
  put(folder, "admin-kubeconfig-signer", authority("ours"));
  const FoundTls found = find_user_tls(folder, sample_environment()).value();
  EXPECT_TRUE(found.tls.pairs.empty());
  EXPECT_EQ(found.warnings,
            (std::vector<std::string>{
                "tls/admin-kubeconfig-signer.crt: ignored (set OPENSHIFT_INSTALL_LOAD_CLUSTER_CERTS=true to use it)"}));
}

TEST(UserTls, EveryMistakeIsToldWithItsFile) {
  const net::Certificate good = authority("good"), other = authority("other");
  const WallTime now = sample_environment().now;
  const std::string signer = "tls/kube-apiserver-lb-signer";
  struct Row {
    Snapshot folder;
    std::string message;
  };
  const auto with = [](const net::Certificate& pair) {
    Snapshot folder;
    put(folder, "kube-apiserver-lb-signer", pair);
    return folder;
  };
  const Row rows[] = {
      {{{signer + ".crt", good.pem}}, signer + ".key: error: missing, but its certificate exists (add both, or neither)"},
      {{{signer + ".key", good.key.reveal()}}, signer + ".crt: error: missing, but its key exists (add both, or neither)"},
      {with({good.pem, other.key}), signer + ".key: error: not the key of " + signer + ".crt"},
      {with(admin(good)), signer + ".crt: error: not a certificate authority"},
      {with(authority("old", now - year, year - Seconds(1))),
       signer + ".crt: error: expired: valid until 2026-11-21T09:29:59Z, but the time is 2026-11-21T09:30:00Z"},
      {with(authority("early", now + Seconds(1))),
       signer + ".crt: error: not valid yet: valid from 2026-11-21T09:30:01Z, but the time is 2026-11-21T09:30:00Z"},
      {with({"s3cr3t", good.key}), signer + ".crt: error: the text contains no certificate"},
      {with({good.pem, Secret("s3cr3t")}), signer + ".key: error: the private key cannot be read"},
      {{{"tls/kubeadmin-password.hash", "s3cr3t"}},
       "tls/kubeadmin-password.hash: error: not a bcrypt hash (htpasswd -nBC 10 kubeadmin | cut -d: -f2)"},
      {{{"tls/bound-service-account-signing-key.key", "s3cr3t"}},
       "tls/bound-service-account-signing-key.key: error: the private key cannot be read"},
  };
  for (const Row& row : rows) {
    const auto found = find_user_tls(row.folder, loading());
    ASSERT_FALSE(found.ok()) << row.message;
    EXPECT_EQ(found.error().code(), Code::invalid);
    EXPECT_TRUE(found.error().message().starts_with(row.message)) << found.error().message() << "\n" << row.message;
    EXPECT_EQ(found.error().message().find("s3cr3t"), std::string::npos) << found.error().message();
  }
}

TEST(UserTls, TakesTheirPlaceInTheTable) {
  SeededRandom random(1);
  Snapshot folder;
  const net::Certificate signer = authority("our-admin-signer"), lb = authority("our-lb", sample_environment().now - Seconds(5));
  put(folder, "admin-kubeconfig-signer", signer);
  put(folder, "admin-kubeconfig-client", admin(signer));
  put(folder, "kube-apiserver-lb-signer", lb);
  const auto make = [&](const PreviousTls& kept) {
    return make_all_tls(sample_config(), loading(), {&random}, kept, find_user_tls(folder, loading())->tls).value();
  };
  const Tls first = make({});
  EXPECT_EQ(first.find("admin-kubeconfig-client")->second.pem, folder["tls/admin-kubeconfig-client.crt"]);
  EXPECT_EQ(first.find("admin-kubeconfig-ca-bundle")->second.pem, signer.pem);
  const std::string server = first.find("kube-apiserver-lb-server")->second.pem;
  EXPECT_TRUE(net::is_signed_by(server, lb.pem).value());
  EXPECT_TRUE(server.ends_with("\n" + lb.pem));
  EXPECT_EQ(net::parse_certificate(server)->not_before, sample_environment().now - Seconds(5));
  EXPECT_EQ(make({first}), first);

  // With another authority, only the certificates that depend on it are generated again.
  put(folder, "kube-apiserver-lb-signer", authority("another-lb"));
  std::string changed;
  for (const auto& [name, certificate] : make({first})) {
    if (certificate != first.find(name)->second) changed += name + " ";
  }
  EXPECT_EQ(changed,
            "kube-apiserver-complete-server-ca-bundle kube-apiserver-internal-lb-server kube-apiserver-lb-ca-bundle "
            "kube-apiserver-lb-server kube-apiserver-lb-signer kube-control-plane-ca-bundle ");
  // Without the user's files the certificates are kept.
  folder.clear();
  EXPECT_EQ(make({first}), first);
}

TEST(UserTls, AClientOfAnotherAuthorityIsRefused) {
  SeededRandom random(1);
  UserTls user;
  user.pairs.emplace("admin-kubeconfig-client", admin(authority("stranger")));
  const auto tls = make_all_tls(sample_config(), sample_environment(), {&random}, {}, user);
  ASSERT_FALSE(tls.ok());
  EXPECT_EQ(tls.error().message(),
            "tls/admin-kubeconfig-client.crt: not signed by admin-kubeconfig-signer (add tls/admin-kubeconfig-signer.crt and "
            "tls/admin-kubeconfig-signer.key, the pair that signed it)");
}

}  // namespace
}  // namespace slipway::assets
