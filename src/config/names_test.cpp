#include "config/names.h"

#include "base/digest.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway::config {
namespace {

struct Case {
  std::string text;
  bool expected;
};

TEST(Names, DnsNamesHaveLowerCaseLabels) {
  for (const Case& c : {Case{"a", true}, Case{"example.com", true}, Case{"a-1.b", true}, Case{"", false}, Case{"A.b", false},
                        Case{"a..b", false}, Case{"-a", false}, Case{"a-", false}, Case{"a_b", false}, Case{"a.", false},
                        Case{std::string(63, 'a'), true}, Case{std::string(64, 'a'), false}}) {
    EXPECT_EQ(is_dns_subdomain(c.text), c.expected) << c.text;
  }
}

TEST(Names, RepositoriesHaveNeitherTagNorDigest) {
  for (const Case& c :
       {Case{"quay.io/openshift/release", true}, Case{"localhost:5000/a", true}, Case{"localhost/a", true},
        Case{"registry.example.com:5000", true}, Case{"mirror", true}, Case{"[fd00::1]:5000/a", true},
        Case{"quay.io/openshift/release:4.18", false}, Case{"quay.io/a@sha256:00", false}, Case{"library/busybox", false},
        Case{"quay.io/UPPER", false}, Case{"https://quay.io/a", false}, Case{"", false}, Case{"quay.io//a", false}}) {
    EXPECT_EQ(is_repository(c.text), c.expected) << c.text;
  }
}

TEST(Names, ProxyExceptionsAreAddressesNetworksAndDomains) {
  for (const Case& c : {Case{"10.0.0.1", true}, Case{"10.0.0.0/8", true}, Case{"fd00::/8", true}, Case{".example.com", true},
                        Case{"example.com.", true}, Case{"*.example.com", false}, Case{"Example.com", false}, Case{"", false},
                        Case{" a", false}}) {
    EXPECT_EQ(is_proxy_exception(c.text), c.expected) << c.text;
  }
}

TEST(Names, KeysAreLinesOfAuthorizedKeys) {
  using namespace std::string_literals;
  const std::string blob = base64_encode("\0\0\0\x0bssh-ed25519\0\0\0\x20"s + std::string(32, 'k'));
  for (const Case& c :
       {Case{"ssh-ed25519 " + blob, true}, Case{"# mine\n\nssh-ed25519 " + blob + " me@host\n", true},
        Case{"command=\"echo a b\",no-pty ssh-ed25519 " + blob, true}, Case{"ssh-rsa " + blob, false},
        Case{"# ssh-ed25519 " + blob, false}, Case{"ssh-ed25519", false}, Case{"ssh-ed25519 !!", false}, Case{"", false}}) {
    EXPECT_EQ(ssh_key_kind(c.text), c.expected ? "ssh-ed25519" : "") << c.text;
  }
}

TEST(Names, HostsAreDomainsAndAddresses) {
  for (const Case& c :
       {Case{"vcenter.example.com", true}, Case{"10.0.0.1", true}, Case{"fd00::1", true}, Case{"[fd00::1]", false},
        Case{"https://vcenter", false}, Case{"vcenter:443", false}, Case{"VCenter", false}, Case{"", false}}) {
    EXPECT_EQ(is_host(c.text), c.expected) << c.text;
  }
}

TEST(Names, MacAddressesAreUnicast) {
  for (const Case& c :
       {Case{"52:54:00:aB:cd:EF", true}, Case{"52-54-00-ab-cd-ef", true}, Case{"53:54:00:ab:cd:ef", false}, Case{"", false},
        Case{"52:54:00:ab:cd", false}, Case{"52:54-00:ab:cd:ef", false}, Case{"52:54:00:ab:cd:eg", false},
        Case{"52:54:00:ab:cd:ef:01", false}, Case{"ff:ff:ff:ff:ff:ff", false}}) {
    EXPECT_EQ(is_mac_address(c.text), c.expected) << c.text;
  }
}

TEST(Names, UuidsHaveFiveGroups) {
  for (const Case& c : {Case{"12345678-90ab-4cde-8f01-234567890ABC", true}, Case{"1234567890ab4cde8f01234567890abc", false},
                        Case{"12345678-90ab-4cde-8f01-234567890abg", false}, Case{"", false}, Case{"----", false}}) {
    EXPECT_EQ(is_uuid(c.text), c.expected) << c.text;
  }
}

TEST(Names, UrisHaveASchemeAndMore) {
  for (const Case& c :
       {Case{"qemu:///system", true}, Case{"qemu+tcp://192.168.122.1/system", true}, Case{"system", false}, Case{"qemu:", false},
        Case{":x", false}, Case{"1qemu:x", false}, Case{"qemu://a b", false}, Case{"", false}}) {
    EXPECT_EQ(is_uri(c.text), c.expected) << c.text;
  }
}

TEST(Names, QuantitiesAreAboveZero) {
  for (const Case& c : {Case{"8Gi", true}, Case{"1.5", true}, Case{"+500M", true}, Case{"12e6", true}, Case{"1E-3", true},
                        Case{"1E", true}, Case{"0", false}, Case{"-1Gi", false}, Case{"8GB", false}, Case{"1.2.3", false},
                        Case{"Gi", false}, Case{"1e", false}, Case{"", false}}) {
    EXPECT_EQ(is_quantity(c.text), c.expected) << c.text;
  }
}

}  // namespace
}  // namespace slipway::config
