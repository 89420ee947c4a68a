#include "components/controller/operand.h"

#include "kube/client.h"

#include <gtest/gtest.h>

namespace slipway::components {
namespace {

const Operand etcd{.name = "etcd",
                   .settings = kube::types::etcds,
                   .operator_space = "openshift-etcd-operator",
                   .space = "openshift-etcd",
                   .pod = "etcd",
                   .revisioned = {{Part::Kind::config_map, "etcd-pod"}, {Part::Kind::secret, "more", true}},
                   .unversioned = {{Part::Kind::secret, "etcd-all-certs"}}};

Json settings_with(JsonObject status) { return {{"metadata", {{"name", "cluster"}}}, {"status", std::move(status)}}; }

TEST(Operand, NamesItsFolders) {
  EXPECT_EQ(etcd.pod_config(), "etcd-pod");
  EXPECT_EQ(revision_folder(etcd, 12), "etcd-pod-12");
  EXPECT_EQ(certificate_folder(etcd), "etcd-certs");
}

TEST(RevisionObject, IsReadAsItWasWritten) {
  const Revision revision{
      .number = 3, .reason = "first", .revisioned = etcd.revisioned, .unversioned = etcd.unversioned, .forced = "because"};
  const Json object = revision_object(etcd, revision);
  EXPECT_EQ(kube::name_of(object), "revision-status-3");
  EXPECT_EQ(kube::namespace_of(object), "openshift-etcd");
  EXPECT_EQ(find_string(object, {"data", "revisioned"}), "configmaps/etcd-pod\nsecrets/more optional\n");
  const Result<Revision> read = parse_revision(object);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read.value(), revision);
}

TEST(RevisionObject, IsRefusedWhenItSaysNoRevision) {
  const Json good = revision_object(etcd, {.number = 3, .reason = "first", .revisioned = {}, .unversioned = {}});
  const struct {
    const char* key;
    const char* value;
    const char* complaint;
  } table[] = {{"revision", "4", "'4' differs from the number"},
               {"revision", "", "'' differs from the number"},
               {"revision", "-3", "differs from the number"},
               {"revisioned", "pods/etcd\n", "'pods/etcd' is not a part"},
               {"unversioned", "etcd", "data.unversioned: 'etcd' is not a part"}};
  for (const auto& row : table) {
    Json object = good;
    object.at("data").as_object()[row.key] = row.value;
    const Result<Revision> read = parse_revision(object);
    ASSERT_FALSE(read.ok()) << row.key;
    EXPECT_NE(read.error().message().find(row.complaint), std::string::npos) << read.error().message();
  }
}

TEST(NodeStatuses, AreReadAsTheyWereWritten) {
  const std::vector<NodeStatus> statuses = {{.node = "master-0", .current = 1, .target = 2},
                                            {.node = "master-1",
                                             .current = 1,
                                             .target = 0,
                                             .last_failed = 2,
                                             .last_failed_count = 3,
                                             .last_failed_reason = "InstallerFailed",
                                             .last_failed_errors = {"no space", "at all"},
                                             .last_failed_time = "2026-11-21T09:30:00Z"}};
  EXPECT_EQ(parse_node_statuses(with_node_statuses(settings_with({}), statuses)), statuses);
}

TEST(NodeStatuses, LeaveOutWhatIsZeroAndKeepWhatIsNotOurs) {
  const Json before = settings_with(
      {{"readyReplicas", 1},
       {"nodeStatuses", {{{"nodeName", "gone"}}, {{"nodeName", "master-0"}, {"nodeUID", "u"}, {"targetRevision", 2}}}}});
  const Json after = with_node_statuses(before, {{.node = "master-0", .current = 2}, {.node = "master-1"}});
  EXPECT_EQ(
      after.at("status"),
      (Json{{"readyReplicas", 1},
            {"nodeStatuses",
             {{{"nodeName", "master-0"}, {"nodeUID", "u"}, {"currentRevision", 2}}, JsonObject{{"nodeName", "master-1"}}}}}));
}

TEST(WantedRevision, IsTargetThenCurrentThenTheLatest) {
  const Json settings = settings_with({{"latestAvailableRevision", 7},
                                       {"nodeStatuses",
                                        {{{"nodeName", "has-target"}, {"currentRevision", 5}, {"targetRevision", 6}},
                                         {{"nodeName", "has-current"}, {"currentRevision", 5}},
                                         JsonObject{{"nodeName", "has-none"}}}}});
  EXPECT_EQ(wanted_revision(settings, "has-target"), 6);
  EXPECT_EQ(wanted_revision(settings, "has-current"), 5);
  EXPECT_EQ(wanted_revision(settings, "has-none"), 7);
  EXPECT_EQ(wanted_revision(settings, "not-known-yet"), 7);
  EXPECT_EQ(wanted_revision(settings_with({}), "has-none"), 0);
}

}  // namespace
}  // namespace slipway::components
