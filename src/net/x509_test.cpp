#include "net/x509.h"

#include "base/digest.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway::net {
namespace {

constexpr Seconds day = std::chrono::hours(24);

WallTime at(std::string_view text) { return parse_rfc3339(text).value(); }

CertificateSpec ca_spec(std::string name = "root-ca") {
  return {.subject = {.common_name = std::move(name), .organizational_units = {"openshift"}},
          .is_ca = true,
          .valid_from = at("2026-11-21T09:30:00Z"),
          .valid_for = 3650 * day};
}

CertificateSpec server_spec() {
  return {.subject = {.common_name = "system:kube-apiserver", .organizations = {"kube-master"}},
          .server_auth = true,
          .dns_names = {"localhost", "*.apps.demo.example.com"},
          .ip_addresses = {"127.0.0.1", "0:0:0:0:0:0:0:1"},
          .valid_from = at("2026-11-21T09:30:00.750Z"),
          .valid_for = day};
}

CertificateSpec client_spec() {
  return {.subject = {.common_name = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
                      .organizations = {"system:serviceaccounts:openshift-machine-config-operator", "system:serviceaccounts"}},
          .server_auth = true,
          .client_auth = true,
          .valid_from = at("2026-11-21T09:30:00Z"),
          .valid_for = day};
}

Certificate make(const CertificateSpec& spec, const Certificate* issuer = nullptr) {
  auto made = make_certificate(spec, issuer);
  EXPECT_TRUE(made.ok()) << made.error().message();
  return std::move(made).value();
}

TEST(Certificate, SaysWhatItWasMadeFor) {
  const Certificate ca = make(ca_spec());
  const Certificate server = make(server_spec(), &ca);
  const Certificate client = make(client_spec(), &ca);
  const CertificateInfo a = parse_certificate(ca.pem).value();
  EXPECT_EQ(a.subject, ca_spec().subject);
  EXPECT_EQ(a.issuer, ca_spec().subject);
  EXPECT_TRUE(a.is_ca);
  EXPECT_FALSE(a.server_auth || a.client_auth);
  EXPECT_EQ(a.key_usages, (std::vector<std::string>{"Digital Signature", "Key Encipherment", "Certificate Sign"}));
  EXPECT_EQ(to_rfc3339(a.not_before), "2026-11-21T09:30:00Z");
  EXPECT_EQ(to_rfc3339(a.not_after), "2036-11-18T09:30:00Z");
  EXPECT_EQ(a.public_key, public_key(ca.key).value());
  const CertificateInfo s = parse_certificate(server.pem).value();
  EXPECT_EQ(s.subject, server_spec().subject);
  EXPECT_EQ(s.issuer, ca_spec().subject);
  EXPECT_FALSE(s.is_ca);
  EXPECT_TRUE(s.server_auth && !s.client_auth);
  EXPECT_EQ(s.key_usages, (std::vector<std::string>{"Digital Signature", "Key Encipherment"}));
  EXPECT_EQ(s.dns_names, server_spec().dns_names);
  EXPECT_EQ(s.ip_addresses, (std::vector<std::string>{"127.0.0.1", "::1"}));
  EXPECT_EQ(to_rfc3339(s.not_before), "2026-11-21T09:30:00Z");
  const CertificateInfo c = parse_certificate(client.pem).value();
  EXPECT_EQ(c.subject, client_spec().subject);
  EXPECT_TRUE(c.server_auth && c.client_auth);
}

TEST(Certificate, EachHasItsOwnKeyAndSerial) {
  const Certificate ca = make(ca_spec());
  std::set<std::string> serials, keys;
  for (int i = 0; i < 100; ++i) {
    const CertificateInfo info = parse_certificate(make(client_spec(), &ca).pem).value();
    EXPECT_LE(info.serial.size(), 19u);
    EXPECT_TRUE(info.serial.size() < 19 || info.serial <= "9223372036854775807") << info.serial;
    serials.insert(info.serial);
    keys.insert(info.public_key);
  }
  EXPECT_EQ(serials.size(), 100u);
  EXPECT_EQ(keys.size(), 100u);
}

TEST(Signature, IsOfTheKeyAndTheText) {
  for (const KeyType type : {KeyType::p256, KeyType::rsa2048}) {
    const Secret key = make_key(type).value();
    const std::string signature = sign(key, "text").value(), own = public_key(key).value();
    EXPECT_TRUE(is_signature_of(own, "text", signature).value());
    EXPECT_FALSE(is_signature_of(own, "another text", signature).value());
    EXPECT_FALSE(is_signature_of(public_key(make_key(type).value()).value(), "text", signature).value());
  }
  EXPECT_FALSE(sign(Secret("no key"), "text").ok());
}

TEST(Certificate, IsSignedByItsIssuerOnly) {
  const Certificate ca = make(ca_spec()), same_name = make(ca_spec()), server = make(server_spec(), &ca);
  EXPECT_TRUE(is_signed_by(server.pem, ca.pem).value());
  EXPECT_TRUE(is_signed_by(ca.pem, ca.pem).value());
  EXPECT_FALSE(is_signed_by(server.pem, same_name.pem).value());
  EXPECT_FALSE(is_signed_by(ca.pem, server.pem).value());
  EXPECT_TRUE(key_fits(server.pem, server.key).value());
  EXPECT_FALSE(key_fits(server.pem, ca.key).value());
  EXPECT_EQ(is_signed_by("x", ca.pem).error().message(), "the text contains no certificate");
  EXPECT_EQ(is_signed_by(ca.pem, "x").error().message(), "the issuer: the text contains no certificate");
  EXPECT_EQ(key_fits(ca.pem, Secret("x")).error().code(), Code::invalid);
}

TEST(Certificate, RefusesWhatCannotBe) {
  const Certificate ca = make(ca_spec()), server = make(server_spec(), &ca);
  const Certificate mixed{ca.pem, server.key};
  auto with = [](auto change) {
    CertificateSpec spec = server_spec();
    change(spec);
    return spec;
  };
  struct Case {
    CertificateSpec spec;
    const Certificate* issuer;
    const char* message;
  };
  const Case cases[] = {
      {server_spec(), &server, "the issuer is not a certificate authority"},
      {server_spec(), &mixed, "the issuer's key belongs to another certificate"},
      {with([](auto& s) { s.ip_addresses = {"10.0.0.0/8"}; }), &ca, "'10.0.0.0/8' is not an IP address"},
      {with([](auto& s) { s.dns_names = {"a,b c"}; }), &ca, "'a,b c' is not a DNS name"},
      {with([](auto& s) { s.subject.organizations = {""}; }), &ca, "'' is not allowed in the subject of a certificate"},
      {with([](auto& s) { s.subject.common_name = "a\xff"; }), &ca,
       "'a\xef\xbf\xbd' is not allowed in the subject of a certificate"},
  };
  for (const Case& c : cases) {
    auto made = make_certificate(c.spec, c.issuer);
    ASSERT_FALSE(made.ok()) << c.message;
    EXPECT_EQ(made.error().message(), c.message);
    EXPECT_EQ(made.error().code(), Code::invalid);
  }
}

TEST(Certificates, AreFoundAmongOtherBlocks) {
  const Certificate a = make(ca_spec("a")), b = make(ca_spec("b"));
  const std::string text = "# bundle\n" + a.pem + "\n\n" + a.key.reveal() + "words between\n" + b.pem;
  const auto infos = parse_certificates(text).value();
  ASSERT_EQ(infos.size(), 2u);
  EXPECT_EQ(infos[0].subject.common_name, "a");
  EXPECT_EQ(infos[1].subject.common_name, "b");
  EXPECT_EQ(split_certificates(text).value(), (std::vector<std::string>{a.pem, b.pem}));
  EXPECT_EQ(parse_certificate(text).value(), infos[0]);
}

TEST(Certificates, ThatAreBrokenAreErrors) {
  const std::string pem = make(ca_spec()).pem;
  std::string flipped = pem;
  flipped[100] = flipped[100] == 'A' ? 'B' : 'A';
  for (const std::string& text : {std::string(), std::string("x"), pem.substr(0, pem.size() / 2),
                                  "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + pem,
                                  pem + "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"}) {
    EXPECT_EQ(parse_certificates(text).error().code(), Code::invalid) << text;
  }
  // With a changed byte, the certificate is either malformed or the signature is wrong.
  auto changed = is_signed_by(flipped, pem);
  EXPECT_TRUE(!changed.ok() || !changed.value());
}

TEST(Keys, AreReadBackAsWhatTheyAre) {
  const Secret key = make_key().value();
  EXPECT_TRUE(key.reveal().starts_with("-----BEGIN EC PRIVATE KEY-----\n"));
  EXPECT_TRUE(public_key(key).value().starts_with("-----BEGIN PUBLIC KEY-----\n"));
  EXPECT_NE(make_key().value(), key);
  EXPECT_EQ(public_key(Secret("x")).error().code(), Code::invalid);
  EXPECT_EQ(private_key(Secret("some text\n" + key.reveal())).value(), key);
  EXPECT_EQ(private_key(Secret("x")).error().code(), Code::invalid);
  EXPECT_EQ(authorized_key(Secret("x"), "").error().code(), Code::invalid);
  const std::string line = authorized_key(key, "core@demo").value();
  EXPECT_TRUE(line.starts_with("ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBB")) << line;
  EXPECT_TRUE(line.ends_with(" core@demo")) << line;
}

TEST(Keys, OfRsaAreReadBackToo) {
  const Secret key = make_key(KeyType::rsa2048).value();
  EXPECT_TRUE(key.reveal().starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
  EXPECT_EQ(private_key(key).value(), key);
  EXPECT_EQ(key_algorithm(key).value(), "RSA");
  EXPECT_EQ(key_algorithm(make_key().value()).value(), "EC");
  EXPECT_EQ(key_algorithm(Secret("x")).error().code(), Code::invalid);
  EXPECT_TRUE(authorized_key(key, "core@demo")->starts_with("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ"));
  CertificateSpec spec = server_spec();
  spec.key = key;
  spec.has_key_usage = false;
  const Certificate made = make(spec);
  EXPECT_EQ(made.key, key);
  EXPECT_TRUE(key_fits(made.pem, key).value());
  EXPECT_TRUE(parse_certificate(made.pem)->key_usages.empty());
}

TEST(Request, CarriesWhatWasAskedFor) {
  const Secret key = make_key().value();
  const SubjectName node{.common_name = "system:node:master-0", .organizations = {"system:nodes"}};
  const std::string pem = make_request(key, node, {"master-0"}, {"10.97.77.11", "fd00::b"}).value();
  EXPECT_EQ(parse_request(pem).value(),
            (RequestInfo{node, {"master-0"}, {"10.97.77.11", "fd00::b"}, false, public_key(key).value()}));
  const std::string bare = make_request(key, node, {}, {}).value();
  EXPECT_EQ(parse_request(bare).value(), (RequestInfo{node, {}, {}, false, public_key(key).value()}));
  EXPECT_EQ(make_request(key, node, {}, {"x"}).error().code(), Code::invalid);
  for (std::string text : {std::string(), std::string("x"), pem.substr(0, 200)}) {
    EXPECT_EQ(parse_request(text).error().code(), Code::invalid);
  }
}

TEST(Request, GivesOnlySubjectAndKeyToItsCertificate) {
  const Certificate ca = make(ca_spec());
  const Secret key = make_key().value();
  const SubjectName node{.common_name = "system:node:master-0", .organizations = {"system:nodes"}};
  const std::string request = make_request(key, node, {"evil.example.com"}, {}).value();
  CertificateSpec spec = server_spec();
  spec.dns_names = {"master-0"};
  const std::string made = sign_request(request, spec, ca).value();
  const CertificateInfo info = parse_certificate(made).value();
  EXPECT_EQ(info.subject, node);
  EXPECT_EQ(info.dns_names, spec.dns_names);
  EXPECT_TRUE(key_fits(made, key).value());
  EXPECT_TRUE(is_signed_by(made, ca.pem).value());
  EXPECT_EQ(sign_request("x", spec, ca).error().code(), Code::invalid);
}

// The signature covers the subject: a changed subject of the same length is detected.
TEST(Request, ThatWasChangedIsRefused) {
  const Secret key = make_key().value();
  const std::string pem = make_request(key, {.common_name = "system:node:master-0"}, {}, {}).value();
  std::string body = pem.substr(pem.find('\n') + 1, pem.rfind("\n-----END") - pem.find('\n') - 1);
  std::erase(body, '\n');
  std::string der = base64_decode(body).value();
  der[der.find("master-0") + 7] = '1';
  const std::string forged =
      "-----BEGIN CERTIFICATE REQUEST-----\n" + base64_encode(der) + "\n-----END CERTIFICATE REQUEST-----\n";
  EXPECT_TRUE(parse_request(forged).error().message().starts_with("the certificate request was not signed by its key"))
      << parse_request(forged).error().message();
}

// The 16 bytes that bcrypt encodes as 22 characters of its own alphabet.
std::string salt_of(std::string_view hash) {
  constexpr std::string_view theirs = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::string_view standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (char c : hash.substr(7, 22)) text += standard[theirs.find(c)];
  return base64_decode(text + "==").value();
}

TEST(Bcrypt, AgreesWithHtpasswd) {
  struct Case {
    const char* password;
    int cost;
    const char* hash;  // what `htpasswd -bnBC COST "" PASSWORD` said
  };
  const Case cases[] = {
      {"abc-DEF-23456", 4, "$2y$04$lZKxBgb.SpMiwR6bN68ZrOHkT14jPZLiTvT912WZIJKaqegZIjE9m"},
      {"p\xc3\xa4ssword", 5, "$2y$05$1Gkl9xHZe4jOWYxMaAtlo.3yCa9wDS/HSazh8f1FIFJfCIbuZaHJy"},
  };
  for (const Case& c : cases) {
    std::string hash = bcrypt(Secret(c.password), c.cost, salt_of(c.hash)).value();
    EXPECT_TRUE(hash.starts_with("$2a$")) << hash;
    hash[2] = 'y';
    EXPECT_EQ(hash, c.hash);
  }
}

TEST(Bcrypt, RefusesWhatItWouldCutShort) {
  const std::string salt(16, 's');
  EXPECT_TRUE(bcrypt(Secret(std::string(72, 'x')), 4, salt).ok());
  EXPECT_EQ(bcrypt(Secret(std::string(73, 'x')), 4, salt).error().code(), Code::invalid);
  EXPECT_EQ(bcrypt(Secret(std::string("a\0b", 3)), 4, salt).error().code(), Code::invalid);
  EXPECT_EQ(bcrypt(Secret("x"), 3, salt).error().code(), Code::invalid);
  EXPECT_EQ(bcrypt(Secret("x"), 32, salt).error().code(), Code::invalid);
  EXPECT_EQ(bcrypt(Secret("x"), 4, "short").error().code(), Code::invalid);
}

}  // namespace
}  // namespace slipway::net
