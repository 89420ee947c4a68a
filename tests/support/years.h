// Runs a table of certificates over years, with a clock that jumps from one plan to the time that the plan asks for.
//
//   View view;
//   const auto renewals = renewals_within(view, start, years(10), [&](const Snapshot& seen, WallTime now) {
//     return plan_...(seen, now);
//   });
//   EXPECT_GE(renewals.at("openshift-etcd/etcd-signer"), 2);
#pragma once

#include "components/controller/certificate_rotation.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

namespace slipway::testing_support {

// The number of renewals of each Secret, by "namespace/name". Checks that all certificates are valid at each time, so that each
// is replaced before it ends. `view` has the final objects.
inline std::map<std::string, int> renewals_within(
    components::View& view, WallTime start, Seconds length,
    const std::function<Result<components::Plan>(const components::Snapshot&, WallTime)>& plan) {
  std::map<std::string, int> renewals;
  std::map<std::string, WallTime> ends;
  for (WallTime now = start; now < start + length;) {
    const Result<components::Plan> planned = plan(view.snapshot(), now);
    EXPECT_TRUE(planned.ok()) << planned.error().message();
    if (!planned.ok()) break;
    for (const components::DesiredObject& desired : planned.value().desired_objects) {
      const std::string name = fmt::format("{}/{}", kube::namespace_of(desired.object), kube::name_of(desired.object));
      const auto pem = components::data_of(&desired.object, "tls.crt");
      if (desired.type == kube::types::secrets && pem) {
        const auto before = ends.find(name);
        if (before == ends.end()) {
          renewals[name] = 0;
        } else {
          EXPECT_LT(now, before->second) << name << " had ended";
          ++renewals[name];
        }
        ends[name] = net::parse_certificate(*pem).value().not_after;
      }
      view.put(desired.object);
    }
    if (!planned.value().desired_objects.empty()) {
      now += Seconds(1);
      continue;
    }
    EXPECT_TRUE(planned.value().replan_at.has_value() && *planned.value().replan_at > now) << to_rfc3339(now);
    if (!planned.value().replan_at || *planned.value().replan_at <= now) break;
    now = *planned.value().replan_at;
  }
  return renewals;
}

// Expects that each certificate of the table was renewed at least twice.
inline void expect_renewals(const std::map<std::string, int>& renewals, std::size_t certificates) {
  EXPECT_EQ(renewals.size(), certificates);
  for (const auto& [name, count] : renewals) EXPECT_GE(count, 2) << name;
}

}  // namespace slipway::testing_support
