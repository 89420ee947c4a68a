#include "components/machine_config_operator/server_certificate.h"

#include "base/digest.h"
#include "components/render/manifest.h"
#include "support/years.h"

#include <gtest/gtest.h>

namespace slipway::components::machine_config_operator {
namespace {

namespace types = kube::types;

constexpr WallTime start = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21};
constexpr Seconds year = std::chrono::hours(24 * 365);
const std::string space = "openshift-machine-config-operator";

// The objects that the installer creates.
struct Cluster {
  Cluster() {
    root = net::make_certificate({.subject = {"root-ca"}, .is_ca = true, .valid_from = start, .valid_for = 10 * year}, nullptr)
               .value();
    const net::Certificate server = net::make_certificate({.subject = {"system:machine-config-server"},
                                                           .server_auth = true,
                                                           .dns_names = {"api-int.demo"},
                                                           .ip_addresses = {"10.97.77.5"},
                                                           .valid_from = start,
                                                           .valid_for = 10 * year},
                                                          &root)
                                        .value();
    view.put(secret({space, "machine-config-server-tls"}, "Opaque",
                    {{"tls.crt", server.pem}, {"tls.key", server.key.reveal()}, {"token", "abc"}}));
    const std::string source = "data:text/plain;charset=utf-8;base64," + base64_encode(root.pem);
    for (const char* role : {"master", "worker"}) {
      view.put(secret({"openshift-machine-api", fmt::format("{}-user-data", role)}, "Opaque",
                      {{"disableTemplating", "true\n"},
                       {"userData", R"({"ignition":{"security":{"tls":{"certificateAuthorities":[{"source":")" + source +
                                        R"("}]}},"version":"3.2.0"}})"}}));
    }
  }

  std::string text(std::string_view in, std::string_view name, std::string_view key) const {
    return data_of(view.snapshot().find(types::secrets, in, name), key).value_or("");
  }
  // The authorities that the config of new workers trusts.
  std::vector<std::string> trusted() const {
    const Json pointer = parse_json(text("openshift-machine-api", "worker-user-data", "userData"), "").value();
    std::vector<std::string> pems;
    for (const Json& each : find_array(pointer, {"ignition", "security", "tls", "certificateAuthorities"})) {
      const std::string_view source = find_string(each, {"source"}).value();
      pems.push_back(base64_decode(source.substr(source.find(',') + 1)).value());
    }
    return pems;
  }

  View view;
  net::Certificate root;
};

TEST(ServerCertificate, StaysUntilItIsDue) {
  const Cluster cluster;
  const Plan plan = plan_server_certificate(cluster.view.snapshot(), start + year).value();
  EXPECT_TRUE(plan.desired_objects.empty());
  EXPECT_EQ(plan.replan_at, start + 8 * year);
  EXPECT_TRUE(plan_server_certificate(View().snapshot(), start).value().desired_objects.empty());
}

TEST(ServerCertificate, IsRenewedAfterNewMachinesTrustItsAuthority) {
  Cluster cluster;
  const WallTime now = start + 8 * year;
  std::vector<std::string> steps;
  for (int round = 0; round < 6; ++round) {
    const std::string served = cluster.text(space, "machine-config-server-tls", "tls.crt");
    const std::vector<std::string> trusted = cluster.trusted();
    EXPECT_TRUE(std::ranges::any_of(trusted, [&](const std::string& pem) { return net::is_signed_by(served, pem).value(); }));
    const Plan plan = plan_server_certificate(cluster.view.snapshot(), now).value();
    for (const DesiredObject& desired : plan.desired_objects) {
      steps.emplace_back(kube::name_of(desired.object));
      cluster.view.put(desired.object);
    }
  }
  EXPECT_EQ(steps, (std::vector<std::string>{"machine-config-server-ca", "machine-config-server-ca", "master-user-data",
                                             "worker-user-data", "machine-config-server-tls"}));
  const net::CertificateInfo info = net::parse_certificate(cluster.text(space, "machine-config-server-tls", "tls.crt")).value();
  EXPECT_EQ(info.dns_names, std::vector<std::string>{"api-int.demo"});
  EXPECT_EQ(info.ip_addresses, std::vector<std::string>{"10.97.77.5"});
  EXPECT_EQ(cluster.text(space, "machine-config-server-tls", "token"), "abc");
  EXPECT_EQ(cluster.text("openshift-machine-api", "worker-user-data", "disableTemplating"), "true\n");
  EXPECT_EQ(cluster.trusted().size(), 2u);
}

TEST(ServerCertificate, IsRenewedForYears) {
  Cluster cluster;
  const auto renewals = testing_support::renewals_within(cluster.view, start, 25 * year, plan_server_certificate);
  // The installer created the first certificate of the server.
  EXPECT_EQ(renewals,
            (std::map<std::string, int>{{space + "/machine-config-server-ca", 2}, {space + "/machine-config-server-tls", 2}}));
}

}  // namespace
}  // namespace slipway::components::machine_config_operator
