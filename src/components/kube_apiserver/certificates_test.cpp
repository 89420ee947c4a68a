#include "components/kube_apiserver/certificates.h"

#include "support/years.h"

#include <gtest/gtest.h>

namespace slipway::components::kube_apiserver {
namespace {

constexpr WallTime start = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21};
constexpr Seconds day = std::chrono::hours(24);
const ServerNames names{"api.demo.example.com", "api-int.demo.example.com", "172.30.0.1"};

bool lives_for_years(const Lifetime& lifetime) { return lifetime.refresh > 50 * day; }

TEST(ApiServerCertificates, OfMonthsAreRenewedBeforeTheyExpire) {
  View view;
  auto renewals = testing_support::renewals_within(
      view, start, 100 * day, [&](const Snapshot& seen, WallTime now) { return plan_certificates(names, {}, seen, now); });
  std::size_t lasting = 0;
  const auto leave_out = [&](const ObjectName& secret, const Lifetime& lifetime) {
    if (lives_for_years(lifetime)) lasting += renewals.erase(fmt::format("{}/{}", secret.space, secret.name));
  };
  for (const Signer& signer : lasting_signers()) leave_out(signer.secret, signer.lifetime);
  for (const Signer& signer : recovery_signers()) leave_out(signer.secret, signer.lifetime);
  for (const Leaf& leaf : leaves(names)) leave_out(leaf.secret, leaf.lifetime);
  EXPECT_EQ(lasting, lasting_signers().size() + recovery_signers().size() + 1);
  testing_support::expect_renewals(renewals, client_signers().size() + leaves(names).size() - 1);
}

TEST(ApiServerCertificates, OfYearsAreRenewedBeforeTheyExpireRecoveryToo) {
  std::vector<Signer> signers = lasting_signers();
  for (const Signer& signer : recovery_signers()) signers.push_back(signer);
  std::vector<Leaf> lasting = leaves(names);
  std::erase_if(lasting, [](const Leaf& leaf) { return !lives_for_years(leaf.lifetime); });
  View view;
  const auto renewals = testing_support::renewals_within(view, start, 17 * 366 * day, [&](const Snapshot& seen, WallTime now) {
    return plan_rotation(signers, lasting, {}, seen, now);
  });
  testing_support::expect_renewals(renewals, signers.size() + lasting.size());
}

}  // namespace
}  // namespace slipway::components::kube_apiserver
