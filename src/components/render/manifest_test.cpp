#include "components/render/manifest.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

TEST(TlsSecret, SaysWhoIssuedItAndUntilWhen) {
  const WallTime now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21};
  const net::Certificate certificate =
      net::make_certificate({.subject = {.common_name = "signer"}, .is_ca = true, .valid_from = now, .valid_for = Seconds(3600)},
                            nullptr)
          .value();
  const Json secret = tls_secret({"space", "name"}, certificate, {.component = "etcd", .description = "a signer"}).value();
  const RenderedFile file = manifest_file("f", secret);
  EXPECT_EQ(file.mode, 0600u);
  const Json read = parse_yaml(file.content, "f").value().value;
  const auto annotation = [&](std::string_view key) { return find_string(read, {"metadata", "annotations", key}); };
  EXPECT_EQ(annotation("auth.openshift.io/certificate-issuer"), "signer");
  // Times stay strings, also for YAML readers with a type for times.
  EXPECT_NE(file.content.find("certificate-not-after: \"2026-11-21T01:00:00Z\""), std::string::npos) << file.content;
  EXPECT_EQ(annotation("certificates.openshift.io/refresh-period"), std::nullopt);
  EXPECT_EQ(find_string(read, {"type"}), "kubernetes.io/tls");
  EXPECT_FALSE(tls_secret({"space", "name"}, {}, {}).ok());
}

TEST(ConfigMap, WithoutDataHasNone) {
  EXPECT_EQ(emit_yaml(config_map({"a", "b"}, {}, {{"k", "v"}})),
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n  namespace: a\n  annotations:\n    k: v\n");
}

}  // namespace
}  // namespace slipway::components
