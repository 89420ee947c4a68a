#include "components/etcd/certificates.h"

#include "support/years.h"

#include <gtest/gtest.h>

namespace slipway::components::etcd {
namespace {

TEST(EtcdCertificates, AreRenewedBeforeTheyExpireAuthoritiesToo) {
  std::vector<Leaf> leaves = rotated_clients();
  for (const Leaf& leaf : rotated_servers("master-0", "10.97.77.11")) leaves.push_back(leaf);
  View view;
  const auto renewals = testing_support::renewals_within(
      view, std::chrono::sys_days{std::chrono::year{2026} / 11 / 21}, std::chrono::hours(24 * 366 * 11),
      [&](const Snapshot& seen, WallTime now) { return plan_rotation(rotated_signers(), leaves, {}, seen, now); });
  testing_support::expect_renewals(renewals, 2 + leaves.size());
}

}  // namespace
}  // namespace slipway::components::etcd
