#include "config/wizard.h"

#include "config/install_config.h"

#include <gtest/gtest.h>

namespace slipway::config {
namespace {

const std::string key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me@example.com";
const std::string logins = R"({"auths":{"r.example.com":{"auth":"eDp5"}}})";

const std::string id = "12345678-90ab-4cde-8f01-234567890abc";

// Gives the answers in order and returns the first error.
std::string first_error(Wizard& wizard, const std::vector<std::string>& answers) {
  for (const std::string& answer : answers) {
    const auto question = wizard.next();
    if (!question) return "there is no question for " + answer;
    const Result<> accepted = wizard.answer(answer);
    if (!accepted.ok()) return fmt::format("{}: {}", question->name, accepted.error().message());
  }
  return "";
}

TEST(Wizard, AnswersMakeAnInstallConfig) {
  struct Case {
    std::vector<std::string> answers;
    std::vector<std::pair<std::string, std::string>> fields;  // of the platform's section
  };
  const Case cases[] = {
      {{"local", "example.com", "demo", ""}, {}},
      {{"2", "example.com", "demo", logins}, {}},
      {{"external", "acme", "example.com", "demo", logins}, {{"platformName", "acme"}}},
      {{"aws", "", "example.com", "demo", logins}, {{"region", "us-east-1"}}},
      {{"gcp", "project-1", "europe-west1", "example.com", "demo", logins}, {{"region", "europe-west1"}}},
      {{"external", "", "example.com", "demo", logins}, {}},
      {{"libvirt", "", "", "", "example.com", "demo", logins}, {{"URI", "qemu+tcp://192.168.122.1/system"}}},
      {{"ovirt", "", id, id, "", "", "10.0.0.5", "10.0.0.6", "example.com", "demo", logins},
       {{"ovirt_cluster_id", id}, {"ovirt_storage_domain_id", id}, {"ovirt_network_name", "ovirtmgmt"}}},
      {{"kubevirt", "192.168.7.0/24", "space", "nodes", "", "192.168.7.5", "192.168.7.6", "example.com", "demo", logins},
       {{"namespace", "space"}, {"networkName", "nodes"}, {"apiVIP", "192.168.7.5"}, {"ingressVIP", "192.168.7.6"}}},
      {{"openstack", "", "", "m1.large", "example.com", "demo", logins}, {{"cloud", "openstack"}}},
      {{"vsphere", "vc.example.com", "admin", "secret", "dc", "c1", "ds1", "VM Network", "10.0.0.5", "10.0.0.6", "example.com",
        "demo", logins},
       {}},
      {{"baremetal", "", "Disabled", "10.0.0.5", "10.0.0.6", "1", "m0", "redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1",
        "admin", "secret", "52:54:00:00:00:01", "example.com", "demo", logins},
       {{"provisioningNetwork", "Disabled"}}},
  };
  for (const Case& c : cases) {
    Wizard wizard({});
    ASSERT_EQ(first_error(wizard, c.answers), "") << c.answers[0];
    ASSERT_FALSE(wizard.next()) << c.answers[0] << ": " << wizard.next()->words;
    const Result<LoadedConfig> loaded = load_install_config(wizard.install_config(), "answers");
    ASSERT_TRUE(loaded.ok()) << c.answers[0] << ":\n" << loaded.error().message() << wizard.install_config();
    EXPECT_EQ(loaded->config.cluster_domain(), "demo.example.com");
    for (const auto& [field, value] : c.fields) {
      EXPECT_EQ(find_string(loaded->config.platform.section, {field}), value) << wizard.install_config();
    }
  }
}

TEST(Wizard, AsksForAKeyIfThereAreKeys) {
  Wizard wizard({{"/home/me/.ssh/id.pub", key}, {"/home/me/.ssh/notes.pub", "no key"}});
  ASSERT_TRUE(wizard.next());
  EXPECT_EQ(wizard.next()->choices, (std::vector<std::string>{"none", "/home/me/.ssh/id.pub"}));
  Wizard without = wizard;
  ASSERT_TRUE(without.answer("").ok());
  EXPECT_EQ(without.install_config().find("sshKey"), std::string::npos);
  ASSERT_TRUE(wizard.answer("2").ok());
  EXPECT_NE(wizard.install_config().find(key), std::string::npos);
  EXPECT_EQ(Wizard({}).next()->name, "PLATFORM");
}

TEST(Wizard, ValidatesEachAnswer) {
  struct Case {
    std::vector<std::string> answers;  // the last is rejected
    std::string words;
  };
  const Case cases[] = {
      {{"azure"}, "PLATFORM: 'azure' is not one of these"},
      {{"12"}, "PLATFORM: '12' is not one of these"},
      {{"none", "not_a_domain"}, "BASE_DOMAIN: "},
      {{"none", ""}, "BASE_DOMAIN: an answer is required"},
      {{"none", "example.com", "Upper"}, "CLUSTER_NAME: "},
      {{"vsphere", "vc.example.com", "u", "p", "dc", "c", "d", "n", "no address"}, "API_VIP: "},
      {{"libvirt", "192.168.122.1"}, "LIBVIRT_URI: "},
      {{"ovirt", "", "Default"}, "OVIRT_CLUSTER: "},
      {{"ovirt", "", id, id, "", "", "192.0.2.5"}, "API_VIP: "},
      {{"kubevirt", "", "A space"}, "NAMESPACE: "},
      {{"kubevirt", "", "space", "nodes", "", "10.0.0.5", "10.0.0.5"}, "INGRESS_VIP: "},
      {{"none", "example.com", "demo", "no json"}, "PULL_SECRET: "},
      {{"none", "example.com", "demo", ""}, "PULL_SECRET: an answer is required"},
      {{"baremetal", "10.0.0.0/33"}, "MACHINE_NETWORK: "},
      {{"baremetal", "", "Managed", "10.0.0.5", "10.0.0.6", "0"}, "HOSTS: '0' is not a number from 1 to 100"},
      {{"baremetal", "", "Disabled", "10.0.0.5", "10.0.0.6", "1", "m0", "redfish-virtualmedia://192.0.2.1/x", "a", "b", "no mac"},
       "BOOT_MAC_0: "},
  };
  for (const Case& c : cases) {
    Wizard wizard({});
    const std::string error = first_error(wizard, c.answers);
    EXPECT_TRUE(error.starts_with(c.words)) << error << " and not " << c.words;
  }
}

TEST(Wizard, MarksSecretsAndDoesNotQuoteThem) {
  Wizard wizard({});
  ASSERT_EQ(first_error(wizard, {"none", "example.com", "demo"}), "");
  EXPECT_TRUE(wizard.next()->is_secret);
  const Result<> refusal = wizard.answer(R"({"auths":{"r":{"auth":""}},"hidden":1)");
  ASSERT_FALSE(refusal.ok());
  EXPECT_EQ(refusal.error().message().find("hidden"), std::string::npos) << refusal.error().message();
}

}  // namespace
}  // namespace slipway::config
