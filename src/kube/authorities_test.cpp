#include "kube/authorities.h"

#include "base/digest.h"
#include "base/yaml.h"
#include "kube/kubeconfig.h"
#include "net/x509.h"

#include <gtest/gtest.h>

namespace slipway::kube {
namespace {

std::string authority(const std::string& name) {
  return net::make_certificate({.subject = {.common_name = name}, .is_ca = true, .valid_for = Seconds(60)}, nullptr).value().pem;
}

const std::string api = authority("api"), routers = authority("routers"), others = authority("others");

std::string kubeconfig(const std::string& ca, const std::string& server = "https://api:6443") {
  return emit_yaml(make_kubeconfig({.server = server, .ca = ca, .token = Secret("TOKEN")}, "demo", "admin"));
}

TEST(AddAuthorities, PutsThoseThatAreMissingFirst) {
  const struct {
    std::string name, before, bundle;
    std::optional<std::string> after;  // nullopt: unchanged
  } rows[] = {
      {"one", api, routers, routers + api},
      {"it is there", routers + api, routers, std::nullopt},
      {"at another place", api + routers, routers, std::nullopt},
      {"one of two", routers + api, others + routers, others + routers + api},
      {"words between them", api, "routers:\n" + routers, routers + api},
  };
  for (const auto& row : rows) {
    const auto added = add_authorities(kubeconfig(row.before), "auth/kubeconfig", row.bundle);
    ASSERT_TRUE(added.ok()) << row.name << ": " << added.error().message();
    EXPECT_EQ(added.value(), row.after ? std::optional(kubeconfig(*row.after)) : std::nullopt) << row.name;
  }
}

TEST(AddAuthorities, SaysWhatIsWrong) {
  const struct {
    std::string text, bundle, said;
  } rows[] = {
      {kubeconfig(api), "no certificate", "the authorities to add: "},
      {kubeconfig("no certificate"), routers, "auth/kubeconfig: clusters[0].cluster.certificate-authority-data: "},
      {kubeconfig(""), routers, "auth/kubeconfig: clusters[0].cluster.certificate-authority-data: "},
      {"clusters: [{cluster: {certificate-authority-data: '*'}}]", routers, "clusters[0].cluster.certificate-authority-data: "},
      {"kind: Config\n", routers, "clusters: missing"},
      {"a: [", routers, "auth/kubeconfig:2:1: "},
  };
  for (const auto& row : rows) {
    const auto added = add_authorities(row.text, "auth/kubeconfig", row.bundle);
    ASSERT_FALSE(added.ok()) << row.text;
    EXPECT_NE(added.error().message().find(row.said), std::string::npos) << added.error().message();
    EXPECT_EQ(added.error().code(), Code::invalid);
  }
}

TEST(HasOnlyMoreAuthorities, TellsWhatBecameOfItFromOtherChanges) {
  const struct {
    std::string name, now;
    bool expected;
  } rows[] = {
      {"the same", kubeconfig(api), true},
      {"more", kubeconfig(others + routers + api), true},
      {"behind", kubeconfig(api + routers), false},
      {"others", kubeconfig(routers), false},
      {"another server", kubeconfig(routers + api, "https://elsewhere:6443"), false},
      {"broken", "a: [", false},
  };
  for (const auto& row : rows) EXPECT_EQ(has_only_more_authorities(row.now, kubeconfig(api)), row.expected) << row.name;
}

}  // namespace
}  // namespace slipway::kube
