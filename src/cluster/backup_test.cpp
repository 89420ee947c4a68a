#include "cluster/backup.h"

#include "base/digest.h"
#include "base/text.h"
#include "net/curl_http.h"
#include "support/fake_kube.h"
#include "support/seeded_random.h"
#include "support/test_context.h"
#include "sys/files.h"
#include "sys/runner.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <map>

namespace slipway::cluster {
namespace {

using testing_support::FakeKube;

Json node(const std::string& name, const std::string& ready = "True", bool is_master = true) {
  JsonObject labels;
  if (is_master) labels["node-role.kubernetes.io/master"] = "";
  return {
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata", {{"name", name}, {"labels", std::move(labels)}}},
      {"status",
       {{"addresses", JsonArray{{{"type", "Hostname"}, {"address", name}}, {{"type", "InternalIP"}, {"address", "10.0.0.1"}}}},
        {"conditions", JsonArray{{{"type", "Ready"}, {"status", ready}}}}}}};
}

Json etcd_pod(const std::string& node, const std::string& ready = "True") {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", "etcd-" + node}, {"namespace", "openshift-etcd"}, {"labels", {{"app", "etcd"}}}}},
          {"spec", {{"nodeName", node}}},
          {"status", {{"conditions", JsonArray{{{"type", "Ready"}, {"status", ready}}}}}}};
}

Json cluster_operator(const std::string& name, const std::string& progressing) {
  return {{"apiVersion", "config.openshift.io/v1"},
          {"kind", "ClusterOperator"},
          {"metadata", {{"name", name}}},
          {"status",
           {{"conditions", JsonArray{{{"type", "Progressing"}, {"status", progressing}, {"message", "1 of 3 at revision 7"}}}}}}};
}

TEST(ChooseMaster, TakesOneWhoseEtcdWorks) {
  struct Case {
    const char* what;
    std::vector<Json> nodes, pods;
    const char* wanted;
    const char* chosen;  // or the problem
  };
  const std::vector<Case> cases = {
      {"the first", {node("m-0"), node("m-1")}, {etcd_pod("m-0"), etcd_pod("m-1")}, "", "m-0"},
      {"the wanted", {node("m-0"), node("m-1")}, {etcd_pod("m-0"), etcd_pod("m-1")}, "m-1", "m-1"},
      {"the ready one", {node("m-0", "False"), node("m-1")}, {etcd_pod("m-0"), etcd_pod("m-1")}, "", "m-1"},
      {"the one with etcd", {node("m-0"), node("m-1")}, {etcd_pod("m-0", "False"), etcd_pod("m-1")}, "", "m-1"},
      {"none is ready", {node("m-0", "False"), node("m-1")}, {}, "", "m-0: not Ready; m-1: it has no pod of etcd"},
      {"a worker", {node("w-0", "True", false)}, {}, "w-0", "w-0 is not a master"},
  };
  for (const Case& c : cases) {
    const Result<Master> master = choose_master(c.nodes, c.pods, c.wanted);
    if (master.ok()) {
      EXPECT_EQ(master.value(), (Master{.name = c.chosen, .address = "10.0.0.1"})) << c.what;
    } else {
      EXPECT_NE(master.error().message().find(c.chosen), std::string::npos) << c.what << ": " << master.error().message();
    }
  }
}

TEST(RootCommandBySsh, IsRunWithSudo) {
  const std::vector<std::string> argv = root_command_by_ssh("10.0.0.1", {"/k"}, "/known", {"bash", "-s", "--", "take", "x"});
  EXPECT_EQ(argv.front(), "ssh");
  EXPECT_EQ(argv.back(), "sudo bash -s -- take x");
  EXPECT_EQ(argv[argv.size() - 2], "10.0.0.1");
  EXPECT_NE(std::ranges::find(argv, "/k"), argv.end());
}

// A machine with the files of a backup in memory.
class BackupTest : public testing::Test {
 protected:
  BackupTest() {
    kube.serve_openshift();
    kube.put(node("m-0"));
    kube.put(etcd_pod("m-0"));
    kube.put(cluster_operator("etcd", "False"));
    kube.put(cluster_operator("dns", "True"));  // not of the control plane
  }

  Result<sys::Output> run(sys::Command command) {
    const std::string action = command.argv.at(3), id = command.argv.at(4);
    actions.push_back(action);
    EXPECT_NE(command.input.find("etcdctl"), std::string::npos);
    if (const auto failed = failures.find(action); failed != failures.end()) return sys::Output{1, "", failed->second};
    if (action == "take") {
      std::string lines;
      for (const auto& [prefix, suffix, content] :
           {std::tuple("snapshot_", ".db", snapshot), std::tuple("static_kuberesources_", ".tar.gz", resources)})
        lines += fmt::format("{}{}{} {} {}\n", prefix, id, suffix, content.size(), sha256_hex(content));
      return sys::Output{0, lines, "Snapshot saved"};
    }
    if (action == "remove") return sys::Output{};
    const std::string& content = command.argv.at(5).starts_with("snapshot") ? snapshot : resources;
    const std::size_t start = std::stoul(command.argv.at(6)) * (64u << 20);
    return sys::Output{0, start < content.size() ? content.substr(start, 64u << 20) : "", ""};
  }

  Result<Backup> take(bool is_forced = false) {
    const sys::Context context = test.context();
    const Environment environment{context, files, runner, random, http};
    return take_backup(environment, kube, {.folder = target, .is_forced = is_forced},
                       [this](const sys::Context&, const Master& master, sys::Command command) {
                         EXPECT_EQ(master.name, "m-0");
                         return run(std::move(command));
                       });
  }

  FakeKube kube;
  testing_support::RealTimeContext test;
  sys::RealFiles files;
  sys::RealRunner runner;
  testing_support::SeededRandom random{1};
  net::CurlHttp http;
  sys::TempDir folder = sys::TempDir::make("backup-test").value();
  std::string target = folder.path() + "/new/backup";
  std::string snapshot = "no database", resources = "an archive";
  std::map<std::string, std::string> failures;
  std::vector<std::string> actions;
};

TEST_F(BackupTest, WhatCannotBeReadBackIsNoBackup) {
  const Result<Backup> backup = take();
  ASSERT_FALSE(backup.ok());
  EXPECT_NE(backup.error().message().find("not a snapshot with a hash at its end"), std::string::npos)
      << backup.error().message();
  EXPECT_EQ(files.list(target).value(), std::vector<std::string>()) << "no file is left";
  EXPECT_EQ(actions, (std::vector<std::string>{"take", "read", "read", "remove"}));
  EXPECT_FALSE(kube.stored(kube::types::config_maps, "openshift-etcd", "recent-backup"));
}

TEST_F(BackupTest, AFailureOnTheMachineIsTold) {
  failures["take"] = "etcd does not run on this machine\n";
  const Result<Backup> backup = take();
  ASSERT_FALSE(backup.ok());
  EXPECT_EQ(backup.error().message(), "m-0: take: exit status 1: etcd does not run on this machine");
  EXPECT_EQ(actions.back(), "remove");
}

TEST_F(BackupTest, AChangeOfTheControlPlaneHoldsItBack) {
  kube.put(cluster_operator("kube-apiserver", "True"));
  const Result<Backup> backup = take();
  ASSERT_FALSE(backup.ok());
  EXPECT_EQ(backup.error().code(), Code::conflict);
  EXPECT_NE(backup.error().message().find("kube-apiserver: 1 of 3 at revision 7"), std::string::npos) << backup.error().message();
  EXPECT_TRUE(actions.empty());
  (void)take(true).ok();
  EXPECT_EQ(actions.front(), "take");
}

}  // namespace
}  // namespace slipway::cluster
