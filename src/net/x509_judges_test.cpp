// Checks slipway's certificates, requests and keys with the programs of OpenSSL and OpenSSH, and theirs with slipway.
#include "net/x509.h"
#include "support/test_context.h"
#include "sys/files.h"
#include "sys/runner.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

namespace slipway::net {
namespace {

constexpr Seconds day = std::chrono::hours(24);
constexpr WallTime start = WallTime(Seconds(1'795'000'000));
constexpr const char* meanwhile = "1795000060";  // for openssl verify -attime

class Judges : public testing::Test {
 protected:
  std::string path(std::string_view name) const { return fmt::format("{}/{}", folder_.path(), name); }
  std::string put(std::string_view name, std::string_view text) {
    EXPECT_TRUE(files_.write(path(name), text, 0600).ok());
    return path(name);
  }
  std::string get(std::string_view name) { return files_.read(path(name)).value(); }

  sys::Output run(std::vector<std::string> argv) {
    auto output = runner_.run(context_.context(), {.argv = std::move(argv), .limit = Seconds(60)});
    EXPECT_TRUE(output.ok()) << output.error().message();
    return output.ok() ? output.value() : sys::Output{-1, {}, {}};
  }
  std::string run_fine(std::vector<std::string> argv) {
    const sys::Output output = run(std::move(argv));
    EXPECT_EQ(output.status, 0) << output.out << output.err;
    return output.out;
  }
  int verify(const std::string& purpose, const std::string& ca, const std::string& certificate) {
    return run({"openssl", "verify", "-x509_strict", "-attime", meanwhile, "-purpose", purpose, "-CAfile", ca, certificate})
        .status;
  }

  testing_support::RealTimeContext context_;
  sys::RealRunner runner_;
  sys::RealFiles files_;
  sys::TempDir folder_ = sys::TempDir::make("x509").value();
  const CertificateSpec ca_spec_{.subject = {.common_name = "root-ca", .organizational_units = {"openshift"}},
                                 .is_ca = true,
                                 .valid_from = start,
                                 .valid_for = 9999 * day};
  const CertificateSpec server_spec_{.subject = {.common_name = "system:kube-apiserver", .organizations = {"kube-master"}},
                                     .server_auth = true,
                                     .dns_names = {"api.demo.example.com"},
                                     .ip_addresses = {"10.97.77.5", "fd00::5"},
                                     .valid_from = start,
                                     .valid_for = day};
};

TEST_F(Judges, OpensslVerifiesChains) {
  const Certificate ca = make_certificate(ca_spec_, nullptr).value(), other = make_certificate(ca_spec_, nullptr).value();
  const Certificate server = make_certificate(server_spec_, &ca).value();
  const std::string ca_file = put("ca.pem", ca.pem), other_file = put("other.pem", other.pem);
  const std::string server_file = put("server.pem", server.pem);
  EXPECT_EQ(verify("sslserver", ca_file, server_file), 0);
  EXPECT_NE(verify("sslclient", ca_file, server_file), 0);
  EXPECT_NE(verify("sslserver", other_file, server_file), 0);
  const std::string text = run_fine({"openssl", "x509", "-in", server_file, "-noout", "-text"});
  for (const char* part :
       {"Version: 3 (0x2)", "Issuer: OU = openshift, CN = root-ca", "Subject: O = kube-master, CN = system:kube-apiserver",
        "Signature Algorithm: ecdsa-with-SHA256", "X509v3 Basic Constraints: critical\n                CA:FALSE",
        "X509v3 Key Usage: critical\n                Digital Signature, Key Encipherment",
        "X509v3 Extended Key Usage: \n                TLS Web Server Authentication", "X509v3 Subject Key Identifier",
        "X509v3 Authority Key Identifier", "DNS:api.demo.example.com, IP Address:10.97.77.5, IP Address:FD00:0:0:0:0:0:0:5"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
  const std::string ca_text = run_fine({"openssl", "x509", "-in", ca_file, "-noout", "-text"});
  for (const char* part :
       {"X509v3 Basic Constraints: critical\n                CA:TRUE\n",
        "X509v3 Key Usage: critical\n                Digital Signature, Key Encipherment, Certificate Sign\n"}) {
    EXPECT_NE(ca_text.find(part), std::string::npos) << part << " is not in\n" << ca_text;
  }
}

TEST_F(Judges, OpensslVerifiesChainsOfRsaKeys) {
  const auto with_key = [](CertificateSpec spec) {
    spec.key = make_key(KeyType::rsa2048).value();
    return spec;
  };
  const Certificate ca = make_certificate(with_key(ca_spec_), nullptr).value();
  const Certificate server = make_certificate(with_key(server_spec_), &ca).value();
  EXPECT_EQ(verify("sslserver", put("ca.pem", ca.pem), put("server.pem", server.pem)), 0);
  const std::string text = run_fine({"openssl", "x509", "-in", path("server.pem"), "-noout", "-text"});
  for (const char* part :
       {"Signature Algorithm: sha256WithRSAEncryption", "Public-Key: (2048 bit)", "Exponent: 65537 (0x10001)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
  const std::string key_file = put("key.pem", server.key.reveal());
  EXPECT_EQ(run_fine({"openssl", "pkey", "-in", key_file, "-pubout"}), public_key(server.key).value());
  EXPECT_EQ(run({"openssl", "pkey", "-in", key_file, "-check", "-noout"}).status, 0);
  // Certificates for requests from such a CA, as for kubelets of the bootstrap and the controller manager.
  const std::string request = make_request(make_key().value(), {.common_name = "x"}, {}, {}).value();
  EXPECT_EQ(verify("sslserver", path("ca.pem"), put("asked.pem", sign_request(request, server_spec_, ca).value())), 0);
}

TEST_F(Judges, OpensslReadsKeysAndRequests) {
  const Secret key = make_key().value();
  const std::string key_file = put("key.pem", key.reveal());
  EXPECT_EQ(run_fine({"openssl", "pkey", "-in", key_file, "-pubout"}), public_key(key).value());
  EXPECT_EQ(run({"openssl", "pkey", "-in", key_file, "-check", "-noout"}).status, 0);
  const std::string request =
      make_request(key, {.common_name = "system:node:master-0", .organizations = {"system:nodes"}}, {"master-0"}, {"10.97.77.11"})
          .value();
  const std::string text = run_fine({"openssl", "req", "-in", put("request.pem", request), "-verify", "-noout", "-text"});
  for (const char* part : {"Subject: O = system:nodes, CN = system:node:master-0", "DNS:master-0, IP Address:10.97.77.11"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST_F(Judges, WeReadAndUseWhatOpensslMakes) {
  for (const char* algorithm : {"rsa:2048", "ed25519", "ec"}) {
    std::vector<std::string> argv = {"openssl", "req",       "-x509", "-newkey", algorithm,
                                     "-nodes",  "-days",     "3650",  "-subj",   "/O=one/O=two/CN=foreign",
                                     "-keyout", path("key"), "-out",  path("ca")};
    if (algorithm == std::string("ec")) argv.insert(argv.end(), {"-pkeyopt", "ec_paramgen_curve:P-384"});
    run_fine(std::move(argv));
    const Certificate ca{get("ca"), Secret(get("key"))};
    EXPECT_EQ(parse_certificate(ca.pem)->subject, (SubjectName{"foreign", {"one", "two"}, {}})) << algorithm;
    EXPECT_TRUE(key_fits(ca.pem, ca.key).value());
    EXPECT_EQ(authorized_key(ca.key, "").ok(), algorithm == std::string("rsa:2048"));
    auto server = make_certificate(server_spec_, &ca);
    ASSERT_TRUE(server.ok()) << algorithm << ": " << server.error().message();
    EXPECT_TRUE(is_signed_by(server->pem, ca.pem).value());
    EXPECT_EQ(run({"openssl", "verify", "-no_check_time", "-CAfile", path("ca"), put("server.pem", server->pem)}).status, 0)
        << algorithm;
    const std::string request = make_request(ca.key, {.common_name = "x"}, {}, {}).value();
    EXPECT_TRUE(key_fits(sign_request(request, server_spec_, ca).value(), ca.key).value()) << algorithm;
  }
}

// An encrypted key is an error, not a question on the terminal.
TEST_F(Judges, NobodyIsAskedForAPassphrase) {
  for (std::vector<std::string> how : {std::vector<std::string>{"pkey", "-aes128"}, {"pkey", "-aes128", "-traditional"}}) {
    std::vector<std::string> argv = {"openssl", "-in", put("key", make_key()->reveal()), "-passout", "pass:secret"};
    argv.insert(argv.begin() + 1, how.begin(), how.end());
    const std::string encrypted = run_fine(std::move(argv));
    EXPECT_NE(encrypted.find("ENCRYPTED"), std::string::npos);
    EXPECT_EQ(public_key(Secret(encrypted)).error().code(), Code::invalid);
  }
}

TEST_F(Judges, SshTakesOurKeys) {
  for (const auto& [type, words] : {std::pair{KeyType::p256, "core@demo (ECDSA)"}, {KeyType::rsa2048, "core@demo (RSA)"}}) {
    const Secret key = make_key(type).value();
    const std::string line = authorized_key(key, "core@demo").value();
    EXPECT_NE(run_fine({"ssh-keygen", "-l", "-f", put("key.pub", line + "\n")}).find(words), std::string::npos);
    EXPECT_EQ(run_fine({"ssh-keygen", "-y", "-f", put("key", key.reveal())}), authorized_key(key, "").value() + "\n");
  }
}

}  // namespace
}  // namespace slipway::net
