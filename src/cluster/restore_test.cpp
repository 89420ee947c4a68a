#include "cluster/restore.h"

#include "base/check.h"
#include "net/curl_http.h"
#include "support/fake_kube.h"
#include "support/seeded_random.h"
#include "support/test_context.h"
#include "sys/files.h"
#include "sys/runner.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway::cluster {
namespace {

using Names = std::vector<std::string>;

constexpr const char* members = R"({"members":[
  {"name":"m-1","peerURLs":["https://10.0.0.2:2380"]},
  {"name":"m-0","peerURLs":["https://10.0.0.1:2380"]},
  {"name":"m-2","peerURLs":["https://10.0.0.3:2380"],"isLearner":true},
  {"name":"etcd-bootstrap","peerURLs":["https://10.0.0.9:2380"]},
  {"name":"","peerURLs":["https://10.0.0.4:2380"]}]})";

TEST(ChooseBackup, TakesTheNewestPair) {
  const Names names = {"snapshot_2026-11-25_030000.db",
                       "static_kuberesources_2026-11-25_030000.tar.gz",
                       "snapshot_2026-11-26_030000.db.age",
                       "static_kuberesources_2026-11-26_030000.tar.gz.age",
                       "snapshot_2026-11-27_030000.db",  // without its resources
                       "snapshot_2026-11-28_030000.db.new",
                       "static_kuberesources_2026-11-28_030000.tar.gz",
                       "snapshot_.db"};
  const BackupFiles newest = choose_backup("/b", "", names).value();
  EXPECT_EQ(newest, (BackupFiles{"2026-11-26_030000", "/b/snapshot_2026-11-26_030000.db.age",
                                 "/b/static_kuberesources_2026-11-26_030000.tar.gz.age"}));
  EXPECT_TRUE(newest.is_encrypted());
  EXPECT_EQ(choose_backup("/b", "snapshot_2026-11-25_030000.db", names).value().id, "2026-11-25_030000");
  for (const char* file : {"snapshot_2026-11-27_030000.db", "other"})
    EXPECT_EQ(choose_backup("/b", file, names).error().code(), Code::not_found) << file;
  EXPECT_EQ(choose_backup("/b", "", {}).error().code(), Code::not_found);
}

TEST(ParseMembers, AreTheVotersOnMasters) {
  EXPECT_EQ(parse_members(members).value(), (std::vector<MasterOfBackup>{{"m-0", "10.0.0.1", "https://10.0.0.1:2380"},
                                                                         {"m-1", "10.0.0.2", "https://10.0.0.2:2380"}}));
  for (const char* text : {"", "{}", R"({"members":[{"name":"m","peerURLs":["x"]}]})"})
    EXPECT_FALSE(parse_members(text).ok()) << text;
}

TEST(ShareAuthority, ComparesWholeCertificates) {
  const auto pem = [](const std::string& text) {
    return fmt::format("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", text);
  };
  EXPECT_TRUE(share_authority(pem("a") + pem("b"), pem("b")));
  EXPECT_TRUE(share_authority(pem("b"), pem("a") + pem("b"))) << "a rotated authority stays in the bundle for a while";
  EXPECT_FALSE(share_authority(pem("a"), pem("b")));
  EXPECT_FALSE(share_authority("", pem("b")));
  EXPECT_FALSE(share_authority(pem("a"), ""));
}

TEST(MissingMembers, SayWhatEachMasterLacks) {
  const std::vector<MasterOfBackup> masters = {{"m-0", "", "https://10.0.0.1:2380"},
                                               {"m-2", "", "https://10.0.0.3:2380"},
                                               {"m-3", "", "https://10.0.0.4:2380"},
                                               {"m-4", "", "https://10.0.0.5:2380"}};
  EXPECT_EQ(missing_members(members, masters).value(),
            (Names{"m-2: a learner", "m-3: has not started yet", "m-4: not a member yet"}));
}

Json static_pod(const std::string& space, const std::string& node, const std::string& started,
                const std::string& ready = "True") {
  return {{"metadata", {{"name", "x-" + node}, {"namespace", space}, {"annotations", {{"kubernetes.io/config.mirror", "1"}}}}},
          {"spec", {{"nodeName", node}}},
          {"status",
           {{"conditions", JsonArray{{{"type", "Ready"}, {"status", ready}}}},
            {"containerStatuses", JsonArray{{{"state", {{"running", {{"startedAt", started}}}}}}}}}}};
}

TEST(MissingPods, CountOnlyIfTheyStartedAfterwards) {
  const std::vector<MasterOfBackup> masters = {{"m-0", "", ""}};
  std::vector<Json> pods = {static_pod("openshift-etcd", "m-0", "2026-11-27T12:00:01Z"),
                            static_pod("openshift-kube-apiserver", "m-0", "2026-11-27T11:59:59Z"),
                            static_pod("openshift-kube-controller-manager", "m-0", "2026-11-27T12:00:01Z", "False"),
                            static_pod("openshift-kube-scheduler", "m-1", "2026-11-27T12:00:01Z")};
  EXPECT_EQ(missing_pods(pods, masters, "2026-11-27T12:00:00Z"),
            (Names{"openshift-kube-apiserver on m-0: not started again", "openshift-kube-controller-manager on m-0: not ready",
                   "openshift-kube-scheduler on m-0: no static pod"}));
}

TEST(SilentNodes, HaveAnOldLease) {
  const auto node = [](const char* name) { return Json{{"metadata", {{"name", name}}}}; };
  const auto lease = [](const char* name, const char* time) {
    return Json{{"metadata", {{"name", name}}}, {"spec", {{"renewTime", time}}}};
  };
  EXPECT_EQ(silent_nodes({node("a"), node("b"), node("c")},
                         {lease("a", "2026-11-27T12:00:01.000001Z"), lease("b", "2026-11-27T11:00:00.000000Z")},
                         "2026-11-27T12:00:00Z"),
            (Names{"b", "c"}));
}

// Masters that record the actions of the script; an action fails once if it is listed.
class RestoreTest : public testing::Test {
 protected:
  RestoreTest() {
    kube.serve_openshift();
    for (const std::string name : {"m-0", "m-1"}) {
      kube.put({{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", name}}}});
      kube.put({{"apiVersion", "coordination.k8s.io/v1"},
                {"kind", "Lease"},
                {"metadata", {{"name", name}, {"namespace", "kube-node-lease"}}},
                {"spec", {{"renewTime", "2026-11-27T12:30:00.000000Z"}}}});
      for (const char* space :
           {"openshift-etcd", "openshift-kube-apiserver", "openshift-kube-controller-manager", "openshift-kube-scheduler"}) {
        Json pod = static_pod(space, name, "2026-11-27T12:10:00Z");
        pod.as_object()["apiVersion"] = "v1";
        pod.as_object()["kind"] = "Pod";
        kube.put(pod);
      }
    }
    for (const char* file : {"snapshot", "resources"})
      CHECK(files.write(fmt::format("{}/{}", folder.path(), file), std::string(40u << 20, 'x'), 0600).ok());
    request = {.folder = folder.path() + "/state",
               .files = {"2026-11-27_030000", folder.path() + "/snapshot", folder.path() + "/resources"},
               .masters = parse_members(members).value(),
               .recovery = "m-1"};
  }

  Result<sys::Output> run(const Master& master, const sys::Command& command) {
    const std::lock_guard lock(mutex);
    std::string action = command.argv.at(4);
    if (action == "members") return sys::Output{0, members, ""};
    if (action == "facts") return sys::Output{0, facts[master.name], ""};
    if (action == "put") {
      sizes[command.argv.at(5)] = std::stoul(command.argv.at(6)) + command.input.size();
      actions.push_back(fmt::format("put on {}", master.name));
      return sys::Output{0, std::to_string(sizes[command.argv.at(5)]) + "\n", ""};
    }
    actions.push_back(fmt::format("{} on {}", action, master.name));
    if (failing.erase(action) > 0) return sys::Output{1, "", "killed\n"};
    return sys::Output{};
  }

  Result<> restore_it() {
    const sys::Context context = test.context();
    const Environment environment{context, files, runner, random, http};
    return restore(environment, kube, request, {.snapshot = {}, .began = "2026-11-27T12:00:00Z"},
                   [this](const sys::Context&, const Master& master, sys::Command command) { return run(master, command); });
  }

  std::size_t count(const std::string& action) const { return static_cast<std::size_t>(std::ranges::count(actions, action)); }

  testing_support::FakeKube kube;
  testing_support::RealTimeContext test;
  sys::RealFiles files;
  sys::RealRunner runner;
  testing_support::SeededRandom random{1};
  net::CurlHttp http;
  sys::TempDir folder = sys::TempDir::make("restore-test").value();
  RestoreRequest request;
  std::mutex mutex;
  std::map<std::string, std::string> facts;
  std::map<std::string, std::size_t> sizes;
  std::set<std::string> failing;
  Names actions;
};

TEST_F(RestoreTest, NoMasterStartsBeforeAllHaveStopped) {
  const Result<> done = restore_it();
  ASSERT_TRUE(done.ok()) << done.error().message();
  const auto at = [&](const std::string& action) { return std::ranges::find(actions, action) - actions.begin(); };
  for (const char* stopped : {"stop on m-0", "stop on m-1"}) {
    for (const char* aside : {"set-aside on m-0", "set-aside on m-1"}) EXPECT_LT(at(stopped), at(aside));
  }
  EXPECT_LT(at("set-aside on m-0"), at("resources on m-1"));
  EXPECT_LT(at("data on m-1"), at("start on m-1"));
  EXPECT_LT(at("start on m-1"), at("start on m-0"));
  EXPECT_EQ(count("data on m-0"), 0u) << "only the recovery master gets data";
  EXPECT_EQ(sizes, (std::map<std::string, std::size_t>{{"resources.tar.gz", 40u << 20}, {"snapshot.db", 40u << 20}}));
  EXPECT_FALSE(files.info(request.folder).value()) << "no state is left";
}

TEST_F(RestoreTest, AFailureInAnyStageIsContinued) {
  failing = {"stop", "set-aside", "resources", "data", "start", "clean"};
  int failures = 0;
  Result<> done = restore_it();
  for (; !done.ok() && failures < 20; ++failures) done = restore_it();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(failures, 6);
  EXPECT_EQ(count("data on m-1"), 2u) << "a stage that is done is not repeated";
  EXPECT_EQ(count("put on m-1"), 4u);
}

TEST_F(RestoreTest, AnotherBackupIsRefusedUntilTheFirstIsRestored) {
  failing = {"data"};
  ASSERT_FALSE(restore_it().ok());
  request.files.id = "2026-11-26_030000";
  const Result<> other = restore_it();
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code(), Code::conflict);
  EXPECT_NE(other.error().message().find("the restore of backup 2026-11-27_030000 on m-1 is not finished"), std::string::npos);
}

TEST_F(RestoreTest, AnUnfinishedOneNamesItsBackup) {
  EXPECT_EQ(unfinished_backup(files, request.folder).value(), std::nullopt);
  failing = {"data"};
  ASSERT_FALSE(restore_it().ok());
  EXPECT_EQ(unfinished_backup(files, request.folder).value(), "2026-11-27_030000");
}

// The data of the survivor may be newer than the backup, and are set aside already.
TEST_F(RestoreTest, ARestoreOfABackupIsNotContinuedAsOneOfASurvivor) {
  failing = {"data"};
  ASSERT_FALSE(restore_it().ok());
  failing.clear();
  request.is_of_survivor = true;
  const Result<> other = restore_it();
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message().find("is not finished"), std::string::npos);
}

TEST_F(RestoreTest, MastersThatAnswerAreNotLost) {
  const sys::Context context = test.context();
  const Environment environment{context, files, runner, random, http};
  const Result<Names> answering = answering_masters(
      environment, request.masters, [](const sys::Context&, const Master& master, sys::Command) -> Result<sys::Output> {
        if (master.name == "m-0") return error(Code::conflict, "machine m-0 does not run");
        return sys::Output{};
      });
  EXPECT_EQ(answering.value(), Names{"m-1"});
}

// Nothing waits for the kubelet of a machine that is gone.
TEST_F(RestoreTest, LostMastersAreNotAwaited) {
  kube.drop(kube::types::leases, "kube-node-lease", "m-0");
  std::erase_if(request.masters, [](const MasterOfBackup& it) { return it.name == "m-0"; });
  request.lost = {"m-0"};
  const Result<> done = restore_it();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(count("stop on m-0"), 0u);
}

TEST_F(RestoreTest, ABackupThatCannotBeReadChangesNothing) {
  const sys::Context context = test.context();
  const Environment environment{context, files, runner, random, http};
  const Result<RestoreCheck> refused =
      check_restore(environment, request,
                    [this](const sys::Context&, const Master& master, sys::Command command) { return run(master, command); });
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("not a snapshot"), std::string::npos) << refused.error().message();
  EXPECT_TRUE(actions.empty());
}

TEST(RestoreStages, HaveWorkAndOneOrder) {
  std::set<std::string_view> names;
  for (const RestoreStage& stage : restore_stages()) {
    EXPECT_TRUE(names.insert(stage.name).second) << stage.name;
    EXPECT_FALSE(stage.what.empty());
  }
  EXPECT_EQ(names.size(), 11u);
}

}  // namespace
}  // namespace slipway::cluster
