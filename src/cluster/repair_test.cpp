#include "cluster/repair.h"

#include "base/text.h"
#include "kube/machine_table.h"
#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::cluster {
namespace {

using kube::types::config_maps;
using kube::types::namespaces;

Json node(const std::string& name, const std::string& address) {
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}}},
          {"status",
           {{"addresses",
             JsonArray{Json{{"type", "Hostname"}, {"address", name}}, Json{{"type", "InternalIP"}, {"address", address}}}}}}};
}

Json endpoints(const JsonObject& data) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"namespace", "openshift-etcd"}, {"name", "etcd-endpoints"}}},
          {"data", data}};
}

Json name_space(const std::string& name, JsonObject labels = {}) {
  return {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}, {"labels", std::move(labels)}}}};
}

TEST(AccessManifests, AreRolesBindingsAndPolicies) {
  const std::vector<kube::Manifest> manifests = access_manifests();
  EXPECT_GT(manifests.size(), 10u);
  for (const kube::Manifest& manifest : manifests) {
    const std::string_view kind = find_string(manifest.object, {"kind"}).value_or("");
    EXPECT_TRUE(kind.find("Role") != std::string_view::npos || kind.starts_with("ValidatingAdmissionPolicy")) << manifest.name;
    for (const auto& [key, value] : find_object(manifest.object, {"metadata", "annotations"})) {
      EXPECT_EQ(std::string_view(key).find("release.openshift.io/"), std::string_view::npos) << manifest.name;
    }
  }
}

TEST(NeedsPodSecurityLabels, LeavesThePlatformAndThoseWhoDecidedAlone) {
  for (const char* name : {"shop", "default", "openshiftish"}) EXPECT_TRUE(needs_pod_security_labels(name_space(name))) << name;
  for (const char* name : {"openshift", "openshift-dns", "kube-system", "kube-node-lease"}) {
    EXPECT_FALSE(needs_pod_security_labels(name_space(name))) << name;
  }
  EXPECT_FALSE(needs_pod_security_labels(name_space("own", {{"pod-security.kubernetes.io/enforce", "privileged"}})));
}

// A cluster without any of the objects; its server warns about namespace shop.
class RepairTest : public testing::Test {
 protected:
  RepairTest() {
    for (const kube::Manifest& manifest : access_manifests()) {
      kube.serve(type_of(manifest.object), false);
      if (const std::string space(kube::namespace_of(manifest.object)); !space.empty()) {
        kube.put(name_space(space));
      }
    }
    kube.put(name_space("openshift-config"));
    kube.put(name_space("shop"));
    kube.put(node("master-0", "10.0.0.1"));
    kube.put(node("worker-0", "10.0.0.4"));
    kube.put(endpoints({{"a", "10.0.0.1"}}));
    kube.fail_request = [this](const kube::ApiRequest& request) -> std::optional<Error> {
      const bool is_trial = request.path.ends_with("?dryRun=All");
      if (is_trial && request.path.find("/shop?") != std::string::npos)
        warnings = {"existing pods violate \"baseline\"", "web: host"};
      return std::nullopt;
    };
  }

  static kube::ResourceType type_of(const Json& object) {
    const std::string version(find_string(object, {"apiVersion"}).value());
    const std::string kind(find_string(object, {"kind"}).value());
    const std::size_t slash = version.find('/');
    std::string plural = to_lower(kind);
    plural = plural.ends_with("y") ? plural.substr(0, plural.size() - 1) + "ies" : plural + "s";
    return {version.substr(0, slash), version.substr(slash + 1), plural, kind, !kube::namespace_of(object).empty()};
  }

  std::vector<RepairLine> run() {
    std::vector<RepairLine> lines;
    const Result<> repaired = repair(
        test.context(), kube, [this] { return std::exchange(warnings, {}); },
        [&](const RepairLine& line) { lines.push_back(line); });
    EXPECT_TRUE(repaired.ok()) << repaired.error().message();
    return lines;
  }

  static int count(const std::vector<RepairLine>& lines, std::string_view state) {
    return static_cast<int>(std::ranges::count(lines, state, &RepairLine::state));
  }

  testing_support::FakeKube kube;
  testing_support::TestContext test;
  std::vector<std::string> warnings;
};

TEST_F(RepairTest, CreatesWhatIsMissingOnce) {
  const std::vector<RepairLine> first = run();
  const int manifests = static_cast<int>(access_manifests().size());
  EXPECT_EQ(count(first, "created"), manifests + 1);
  EXPECT_TRUE(std::ranges::count(
      first, RepairLine{"ConfigMap openshift-config/machine-addresses", "created", "masters: master-0; workers: worker-0"}));
  EXPECT_TRUE(std::ranges::count(first, RepairLine{"Namespace shop", "labelled",
                                                   "enforcement would refuse: existing pods violate \"baseline\"; web: host"}));
  const Json shop = kube.stored(namespaces, "", "shop").value();
  EXPECT_EQ(find_string(shop, {"metadata", "labels", "pod-security.kubernetes.io/warn"}), "baseline");
  EXPECT_EQ(find_string(shop, {"metadata", "labels", "pod-security.kubernetes.io/audit"}), "baseline");
  EXPECT_EQ(
      find(kube.stored(namespaces, "", "openshift-config").value(), {"metadata", "labels", "pod-security.kubernetes.io/warn"}),
      nullptr);

  const std::vector<RepairLine> second = run();
  EXPECT_EQ(count(second, "created") + count(second, "labelled"), 0);
  EXPECT_EQ(count(second, "unchanged"), static_cast<int>(second.size()));
  EXPECT_EQ(second.size(), first.size());
}

TEST_F(RepairTest, KeepsATableAndRolesThatDiffer) {
  const kube::MachineTable rows = {{"worker-7", "worker", {}}};
  kube.put(kube::with_machine_table({{"apiVersion", "v1"},
                                     {"kind", "ConfigMap"},
                                     {"metadata", {{"namespace", "openshift-config"}, {"name", "machine-addresses"}}}},
                                    rows));
  const Json wanted = access_manifests().front().object;
  Json other = wanted;
  other.as_object()["roleRef"] = {{"name", "another"}};
  other.as_object()["rules"] = JsonArray{Json{{"verbs", JsonArray{"list"}}}};
  kube.put(other);
  const std::vector<RepairLine> lines = run();
  EXPECT_EQ(kube::parse_machine_table(kube.stored(config_maps, "openshift-config", "machine-addresses").value()).value(), rows);
  EXPECT_EQ(count(lines, "kept"), 1);
}

}  // namespace
}  // namespace slipway::cluster
