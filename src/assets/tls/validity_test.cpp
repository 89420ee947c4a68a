#include "assets/tls/validity.h"

#include "ignition/data_url.h"

#include <gtest/gtest.h>

namespace slipway::assets {
namespace {

const WallTime noon = parse_rfc3339("2026-11-22T12:00:00Z").value();

net::Certificate valid(std::string name, Milliseconds from, Seconds how_long) {
  return net::make_certificate(
             {.subject = {.common_name = std::move(name)}, .is_ca = true, .valid_from = noon + from, .valid_for = how_long},
             nullptr)
      .value();
}

std::string problems(const Assets& assets) { return check_validity(assets, noon).to_text(); }

TEST(AssetValidity, NothingIsSaidOfCertificatesThatAreValid) {
  Assets assets;
  assets.tls.emplace("root-ca", valid("root-ca", Seconds(0), Seconds(60)));
  assets.tls.emplace("service-account", net::Certificate{"", Secret("key")});
  assets.bootstrap.storage.files.push_back({.path = "/etc/motd", .contents = {.source = "data:,hello"}});
  EXPECT_EQ(problems(assets), "");
}

TEST(AssetValidity, NamesWhatIsOverAndWhatHasNotBegun) {
  Assets assets;
  const net::Certificate old = valid("kubelet-signer", -Seconds(7200), Seconds(3600));
  assets.tls.emplace("kubelet-signer", old);
  assets.tls.emplace("root-ca", valid("root-ca", Seconds(3600), Seconds(60)));
  assets.bootstrap.storage.files.push_back(
      {.path = "/opt/openshift/tls/kubelet-signer.crt", .contents = {.source = ignition::encode_data_url(old.pem)}});
  const std::string text = problems(assets);
  const std::string over =
      "tls/kubelet-signer.crt: error: assets-expired: kubelet-signer was valid until 2026-11-22T11:00:00Z, but the time is "
      "2026-11-22T12:00:00Z: it has expired (";
  const std::string early = "tls/root-ca.crt: error: clock-wrong: root-ca is valid from 2026-11-22T13:00:00Z, but the time is ";
  EXPECT_NE(text.find(over), std::string::npos) << text << "each certificate once";
  EXPECT_NE(text.find(early), std::string::npos) << text;
  EXPECT_EQ(check_validity(assets, noon).all().size(), 2u) << text;
}

TEST(AssetValidity, TheFirstToEndSaysUntilWhenAllCanBeUsed) {
  Tls tls;
  EXPECT_EQ(first_expiry(tls), std::nullopt);
  tls.emplace("service-account", net::Certificate{"", Secret("key")});
  tls.emplace("root-ca", valid("root-ca", Seconds(0), Seconds(7200)));
  tls.emplace("kubelet-signer", valid("kubelet-signer", Seconds(0), Seconds(3600)));
  tls.emplace("lb-signer", valid("lb-signer", Seconds(0), Seconds(5400)));
  EXPECT_EQ(first_expiry(tls), (Expiry{"kubelet-signer", noon + Seconds(3600)}));
}

// The certificates in Ignition configs are checked, too, because the user may have changed the configs.
TEST(AssetValidity, LooksIntoTheConfigs) {
  Assets assets;
  assets.bootstrap.storage.files.push_back(
      {.path = "/opt/openshift/tls/x.crt",
       .contents = {.source = ignition::encode_data_url(valid("x", -Seconds(7200), Seconds(3600)).pem)}});
  assets.master.ignition.security.tls.certificate_authorities = {
      {.source = ignition::encode_data_url(valid("root", -Seconds(7200), Seconds(3600)).pem)}};
  const std::string text = problems(assets);
  EXPECT_NE(text.find("bootstrap.ign:/opt/openshift/tls/x.crt"), std::string::npos) << text;
  EXPECT_NE(text.find(", and 1 more"), std::string::npos) << text;
  assets.bootstrap = {};
  EXPECT_NE(problems(assets).find("master.ign: error: assets-expired: root"), std::string::npos) << problems(assets);
}

}  // namespace
}  // namespace slipway::assets
