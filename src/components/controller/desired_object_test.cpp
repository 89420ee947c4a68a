#include "components/controller/desired_object.h"

#include "base/digest.h"
#include "support/test_objects.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

using kube::types::config_maps;
using kube::types::nodes;
using kube::types::secrets;
using testing_support::config_map;
using testing_support::node;

Snapshot with(const Json& object) {
  View view;
  view.put(object);
  return view.snapshot();
}

bool fulfils(DesiredObject::How how, const kube::ResourceType& type, const Json& wanted, const Json& live) {
  return is_fulfilled({type, wanted, how}, with(live));
}

TEST(Fulfilled, NeedsTheObject) {
  const Snapshot empty = View().snapshot();
  const Json wanted = config_map("c");
  EXPECT_FALSE(is_fulfilled({config_maps, wanted}, empty));
  EXPECT_FALSE(is_fulfilled({config_maps, wanted, DesiredObject::How::create}, empty));
  EXPECT_FALSE(is_fulfilled({config_maps, wanted, DesiredObject::How::status}, empty));
  EXPECT_TRUE(is_fulfilled({config_maps, wanted, DesiredObject::How::remove}, empty));
  EXPECT_FALSE(is_fulfilled({config_maps, wanted, DesiredObject::How::remove}, with(wanted)));
  EXPECT_FALSE(is_fulfilled({config_maps, wanted}, with(config_map("d"))));
}

TEST(Fulfilled, ComparesDataExactly) {
  const Json live = config_map("c", {{"a", "1"}, {"b", "2"}}, {{"x", "1"}, {"y", "2"}});
  const auto holds = [&](const Json& wanted) { return fulfils(DesiredObject::How::apply, config_maps, wanted, live); };
  EXPECT_TRUE(holds(config_map("c", {{"b", "2"}, {"a", "1"}})));
  EXPECT_TRUE(holds(config_map("c", {{"a", "1"}, {"b", "2"}}, {{"x", "1"}, {"z", nullptr}})));
  EXPECT_FALSE(holds(config_map("c", {{"a", "1"}}))) << "one too many";
  EXPECT_FALSE(holds(config_map("c", {{"a", "1"}, {"b", "2"}, {"c", "3"}}))) << "one too few";
  EXPECT_FALSE(holds(config_map("c", {{"a", "1"}, {"b", "3"}})));
  EXPECT_FALSE(holds(config_map("c", {{"a", "1"}, {"b", "2"}}, {{"x", "2"}})));
  EXPECT_FALSE(holds(config_map("c", {{"a", "1"}, {"b", "2"}}, {{"x", nullptr}})));
  Json labelled = config_map("c", {{"a", "1"}, {"b", "2"}});
  labelled.at("metadata").as_object()["labels"] = {{"l", "1"}};
  EXPECT_FALSE(holds(labelled));
  Json binary = config_map("c", {{"a", "1"}, {"b", "2"}});
  binary.as_object()["binaryData"] = {{"c", "AA=="}};
  EXPECT_FALSE(holds(binary));
}

TEST(Fulfilled, ReadsSecretsAsTheServerKeepsThem) {
  Json wanted = {
      {"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "s"}, {"namespace", "n"}}}, {"stringData", {{"k", "v"}}}};
  Json live = wanted;
  live.as_object().erase("stringData");
  EXPECT_FALSE(fulfils(DesiredObject::How::apply, secrets, wanted, live));
  live.as_object()["data"] = {{"k", base64_encode("v")}};
  EXPECT_TRUE(fulfils(DesiredObject::How::apply, secrets, wanted, live));
}

TEST(Fulfilled, TakesFieldsOfOtherTypesAsTheLeastThereIs) {
  Json live = node("m", "a");
  live.as_object()["spec"] = {{"podCIDR", "10.0.0.0/24"}, {"unschedulable", true}};
  Json wanted = node("m", "a");
  EXPECT_TRUE(fulfils(DesiredObject::How::apply, nodes, wanted, live));
  wanted.as_object()["spec"] = {{"unschedulable", false}};
  EXPECT_FALSE(fulfils(DesiredObject::How::apply, nodes, wanted, live));
}

TEST(Fulfilled, ComparesAStatusExactlyAndNothingElse) {
  Json live = node("m", "a");
  live.as_object()["status"] = {{"x", 1}, {"y", 2}};
  Json wanted = node("m", "b");
  wanted.as_object()["status"] = {{"y", 2}, {"x", 1}};
  EXPECT_TRUE(fulfils(DesiredObject::How::status, nodes, wanted, live));
  wanted.as_object()["status"] = {{"x", 1}};
  EXPECT_FALSE(fulfils(DesiredObject::How::status, nodes, wanted, live));
}

TEST(Fulfilled, CountsWhatIsBeingRemovedAsRemoved) {
  Json live = config_map("c");
  live.at("metadata").as_object()["deletionTimestamp"] = "2026-11-21T12:00:00Z";
  EXPECT_TRUE(fulfils(DesiredObject::How::remove, config_maps, config_map("c"), live));
}

TEST(CopyOf, TakesTypeAndDataOnly) {
  const Json original = {{"apiVersion", "v1"},
                         {"kind", "Secret"},
                         {"metadata", {{"name", "a"}, {"namespace", "one"}, {"resourceVersion", "7"}}},
                         {"type", "kubernetes.io/tls"},
                         {"data", {{"tls.crt", "YQ=="}}}};
  EXPECT_EQ(copy_of(original, "two", "b"), (Json{{"apiVersion", "v1"},
                                                 {"kind", "Secret"},
                                                 {"metadata", {{"name", "b"}, {"namespace", "two"}}},
                                                 {"data", {{"tls.crt", "YQ=="}}},
                                                 {"type", "kubernetes.io/tls"}}));
}

}  // namespace
}  // namespace slipway::components
