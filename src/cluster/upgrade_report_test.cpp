#include "cluster/upgrade_report.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

Json condition(const char* type, const char* status, const char* message, const char* reason = "") {
  return {{"type", type}, {"status", status}, {"reason", reason}, {"message", message}};
}

Json with(JsonArray conditions, JsonObject spec = {}, JsonObject status = {}) {
  status["conditions"] = std::move(conditions);
  return {{"spec", std::move(spec)}, {"status", std::move(status)}};
}

constexpr std::string_view no_updates =
    "No updates available. You may still update to a release image with `slipway upgrade --to IMAGE`, on platform local also "
    "with "
    "`slipway upgrade --release DIR`.\n";

TEST(UpgradeReport, OfACalmClusterIsShort) {
  EXPECT_EQ(upgrade_report(with({condition("Failing", "False", ""), condition("Progressing", "False", "Cluster version is 0.1.0"),
                                 condition("ReleaseAccepted", "True", "loaded")})),
            fmt::format("Cluster version is 0.1.0\n\n{}", no_updates));
}

TEST(UpgradeReport, BeforeTheFirstStatus) {
  EXPECT_EQ(upgrade_report(Json(JsonObject())),
            fmt::format("warning: ClusterVersion version has no status yet\n\n{}", no_updates));
}

TEST(UpgradeReport, HasItsBlocksInTheOrderOfOc) {
  const Json version = with({condition("Failing", "True", "one\ntwo", "ClusterOperatorNotAvailable"),
                             condition("Progressing", "True", "Working towards 0.1.1: 42 of 131 done (32% complete)"),
                             condition("Upgradeable", "False", "pool worker is Degraded", "DegradedPool"),
                             condition("ReleaseAccepted", "Unknown", "attempt 2", "RetrievePayload"),
                             condition("RetrievedUpdates", "False", "spec.channel has no effect", "UpdatesNotSupported")},
                            {{"channel", "stable"}},
                            {{"availableUpdates", JsonArray{{{"version", "0.1.2"}, {"image", "r.example.com/r@sha256:2"}},
                                                            {{"version", "0.1.10"}, {"image", "r.example.com/r@sha256:3"}}}},
                             {"conditionalUpdates", JsonArray{JsonObject()}},
                             {"desired", {{"channels", JsonArray{"fast", "stable"}}}}});
  EXPECT_EQ(upgrade_report(version), R"(Failing=True:

  Reason: ClusterOperatorNotAvailable
  Message: one
  two

info: An upgrade is in progress. Working towards 0.1.1: 42 of 131 done (32% complete)

Upgradeable=False

  Reason: DegradedPool
  Message: pool worker is Degraded

ReleaseAccepted=Unknown

  Reason: RetrievePayload
  Message: attempt 2

Upstream is unset.
Channel: stable (available channels: fast, stable)

warning: Cannot display available updates:

  Reason: UpdatesNotSupported
  Message: spec.channel has no effect

Recommended updates:

  VERSION  IMAGE
  0.1.2    r.example.com/r@sha256:2
  0.1.10   r.example.com/r@sha256:3

To update: `slipway upgrade --to VERSION`.

Some updates are not recommended: `slipway upgrade --to VERSION` says why.
)");
}

TEST(UpgradeDetails, NamePoolsAndTheOperatorsThatAreBehind) {
  const auto pool = [](const char* name, int updated, JsonArray conditions) {
    return Json{{"metadata", {{"name", name}}},
                {"status", {{"machineCount", 3}, {"updatedMachineCount", updated}, {"conditions", std::move(conditions)}}}};
  };
  const auto cluster_operator = [](const char* name, const char* version, JsonArray conditions) {
    return Json{{"metadata", {{"name", name}}},
                {"status",
                 {{"versions", JsonArray{{{"name", "other"}, {"version", "9"}}, {{"name", "operator"}, {"version", version}}}},
                  {"conditions", std::move(conditions)}}}};
  };
  const Json version = {{"status", {{"desired", {{"version", "0.1.1"}}}}}};
  EXPECT_EQ(
      upgrade_details(version,
                      {pool("master", 1, {condition("Updating", "True", "1 of 3 machines have x")}),
                       pool("worker", 0, {condition("Updating", "True", "0 of 3"), condition("Degraded", "True", "Node w: no")})},
                      {cluster_operator("dns", "0.1.0", {condition("Progressing", "True", "2 of 3 pods")}),
                       cluster_operator("etcd", "0.1.1", {condition("Progressing", "True", "not asked")}),
                       cluster_operator("ingress", "0.1.0", {condition("Available", "False", "no router")}),
                       Json{{"metadata", {{"name", "new"}}}}}),
      R"(Machines:

  POOL    UPDATED  MESSAGE
  master  1 of 3   1 of 3 machines have x
  worker  0 of 3   Degraded: Node w: no

Operators that have not reached 0.1.1:

  OPERATOR  VERSION  MESSAGE
  dns       0.1.0    2 of 3 pods
  ingress   0.1.0    not Available: no router
  new       none
)");
  EXPECT_EQ(upgrade_details(version, {}, {cluster_operator("dns", "0.1.1", {})}), "All operators have reached 0.1.1.\n");
}

}  // namespace
}  // namespace slipway::cluster
