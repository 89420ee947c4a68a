#include "components/router/serving.h"

#include "net/x509.h"
#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::components::router {
namespace {

using namespace std::chrono_literals;

TEST(MaterialReader, KeepsThePreviousCertificateUntilAValidOneExists) {
  testing_support::MemoryFiles files;
  testing_support::TestContext test;
  MaterialReader reader(files, {.name = "default",
                                .domain = "apps.demo.example.com",
                                .certificate_folder = "/c",
                                .service_ca_file = "/ca/service-ca.crt"});
  const Material own = reader.read(test.context()).value();
  EXPECT_TRUE(net::parse_certificate(own.certificate.reveal()).ok());
  EXPECT_EQ(reader.read(test.context()).value(), own);

  const net::CertificateSpec spec{.subject = {.common_name = "apps"}, .server_auth = true, .valid_for = 24h};
  const net::Certificate one = net::make_certificate(spec, nullptr).value(), other = net::make_certificate(spec, nullptr).value();
  ASSERT_TRUE(files.write("/c/tls.crt", one.pem, 0600).ok());
  ASSERT_TRUE(files.write("/c/tls.key", one.key.reveal(), 0600).ok());
  ASSERT_TRUE(files.write("/ca/service-ca.crt", other.pem, 0644).ok());
  const Material good = reader.read(test.context()).value();
  EXPECT_EQ(good.certificate.reveal(), one.pem + "\n" + one.key.reveal() + "\n");
  EXPECT_EQ(good.service_ca, other.pem);

  ASSERT_TRUE(files.write("/c/tls.crt", other.pem, 0600).ok());
  EXPECT_EQ(reader.read(test.context()).value(), good);
  EXPECT_EQ(reader.read(test.context()).value(), good);
  ASSERT_EQ(test.logged().size(), 2u);  // each message once
  EXPECT_NE(test.logged()[1].find("the key does not belong to the certificate"), std::string::npos);
}

}  // namespace
}  // namespace slipway::components::router
