#include "components/ingress/certificates.h"

#include "support/years.h"

#include <gtest/gtest.h>

namespace slipway::components::ingress {
namespace {

TEST(RouterCertificates, AreRenewedBeforeTheyExpireTheAuthorityToo) {
  Settings settings;
  settings.name = "default";
  settings.domain = "apps.demo.example.com";
  View view;
  const auto renewals = testing_support::renewals_within(
      view, std::chrono::sys_days{std::chrono::year{2026} / 11 / 21}, std::chrono::hours(24 * 366 * 5),
      [&](const Snapshot& seen, WallTime now) { return plan_certificates({settings}, {"default"}, {}, seen, now); });
  testing_support::expect_renewals(renewals, 2);
}

}  // namespace
}  // namespace slipway::components::ingress
