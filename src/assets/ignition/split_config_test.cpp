#include "assets/ignition/split_config.h"

#include "assets/ignition/pointer.h"
#include "base/digest.h"
#include "ignition/data_url.h"
#include "support/sample_assets.h"

#include <gtest/gtest.h>

namespace slipway::assets {
namespace {

const std::string url = "https://storage.example.com/bootstrap.ign";

// A text that gzip cannot compress much.
std::string text_of(std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += sha256_hex(std::to_string(i));
  return text.substr(0, bytes);
}

TEST(UserDataLimit, IsThatOfThePlatformInItsForm) {
  struct Case {
    std::string_view platform;
    std::size_t most;  // bytes of text that fit
  };
  // Nova accepts 65535 characters. 49149 bytes are 65532 characters of base64, 49150 bytes are 65536.
  for (const Case& c : {Case{"aws", 16000}, {"gcp", 262144}, {"libvirt", 700000}, {"kubevirt", 786432}, {"openstack", 49149}}) {
    const UserDataLimit limit = user_data_limit(c.platform).value();
    EXPECT_TRUE(fits(text_of(c.most), limit).value()) << c.platform;
    EXPECT_FALSE(fits(text_of(c.most + 1), limit).value()) << c.platform;
  }
  const UserDataLimit vsphere = user_data_limit("vsphere").value();
  EXPECT_TRUE(fits(std::string(4'000'000, 'x'), vsphere).value()) << "what gzip makes small";
  EXPECT_FALSE(fits(text_of(4'000'000), vsphere).value());
  for (const std::string_view platform : {"none", "external", "baremetal", "local", "ovirt"}) {
    EXPECT_EQ(user_data_limit(platform).has_value(), false) << platform;
  }
}

TEST(FetchingConfig, LeadsToTheWholeOne) {
  config::InstallConfig config = testing_support::sample_config();
  const UserDataLimit limit = user_data_limit("aws").value();
  const ignition::Config plain = make_fetching_config("{}", url, config, limit).value();
  EXPECT_EQ(plain.ignition.config.replace.source, url);
  EXPECT_EQ(plain.ignition.config.replace.verification.hash, "sha256-" + sha256_hex("{}"));
  EXPECT_EQ(plain.ignition.proxy, ignition::Proxy());
  EXPECT_TRUE(plain.ignition.security.tls.certificate_authorities.empty());
  EXPECT_TRUE(plain.storage.files.empty());

  config.additional_trust_bundle = "-----BEGIN CERTIFICATE-----\n";
  config.proxy = {.http_proxy = "", .https_proxy = "http://proxy:3128", .no_proxy = "example.org, .example.net,"};
  const ignition::Config made = make_fetching_config("{}", url, config, limit).value();
  EXPECT_EQ(made.ignition.proxy.http_proxy, std::nullopt);
  EXPECT_EQ(made.ignition.proxy.https_proxy, "http://proxy:3128");
  EXPECT_EQ(made.ignition.proxy.no_proxy, (std::vector<std::string>{"example.org", ".example.net"}));
  ASSERT_EQ(made.ignition.security.tls.certificate_authorities.size(), 1u);
  EXPECT_EQ(ignition::decode_data_url(*made.ignition.security.tls.certificate_authorities[0].source).value(),
            config.additional_trust_bundle);
}

TEST(FetchingConfig, RefusesWhatCannotWork) {
  config::InstallConfig config = testing_support::sample_config();
  const UserDataLimit limit = user_data_limit("aws").value();
  const auto nowhere = make_fetching_config("{}", "nowhere", config, limit);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().code(), Code::invalid);
  EXPECT_NE(nowhere.error().message().find("the config that fetches nowhere"), std::string::npos) << nowhere.error().message();
  config.additional_trust_bundle = std::string(20000, 'x');
  const auto large = make_fetching_config("{}", url, config, limit);
  ASSERT_FALSE(large.ok());
  EXPECT_NE(large.error().message().find("platform aws: user data has at most 16000 bytes"), std::string::npos)
      << large.error().message();
}

}  // namespace
}  // namespace slipway::assets
