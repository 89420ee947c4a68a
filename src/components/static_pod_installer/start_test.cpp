#include "components/static_pod_installer/start.h"

#include "components/render/manifest.h"
#include "support/fake_kube.h"
#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace slipway::components::static_pod_installer {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

const Operand& etcd() { return operands().front(); }
const Part pod_part{Part::Kind::config_map, "etcd-pod"};
const Part leaf_part{Part::Kind::secret, "leaf"};
const std::string manifest = "/etc/kubernetes/manifests/etcd-pod.yaml";
const std::string leaf_file = "/etc/kubernetes/static-pod-resources/etcd-certs/secrets/leaf/tls.crt";
const std::string resources = "/etc/kubernetes/static-pod-resources";

Json settings(const std::vector<NodeStatus>& nodes) {
  return with_node_statuses({{"apiVersion", "operator.openshift.io/v1"},
                             {"kind", "Etcd"},
                             {"metadata", {{"name", "cluster"}}},
                             {"status", {{"readyReplicas", 3}}}},
                            nodes);
}
Json leaf(const std::string& text) { return secret({"openshift-etcd", "leaf"}, "Opaque", {{"tls.crt", text}}); }

// What an operator creates for a revision, the marker last.
std::vector<Json> revision(int number) {
  return {leaf("CRT"),
          config_map({"openshift-etcd", fmt::format("etcd-pod-{}", number)}, {{"pod.yaml", "pod REVISION of NODE_NAME"}}),
          revision_object(etcd(), {number, "first", {pod_part}, {leaf_part}})};
}

// An installer; the test runs its plans.
struct World {
  World() {
    for (const Json& object : revision(1)) view.put(object);
  }

  // Runs the tasks of a plan. Returns the names of those that succeeded.
  Names run(const Plan& plan) {
    Names done;
    for (const Task& task : plan.tasks) {
      if (task.run(test.context()).ok()) done.push_back(task.name);
    }
    return done;
  }
  Plan plan() { return installer.plan(view.snapshot(), test.clock.now()); }
  Plan plan(Milliseconds later) { return installer.plan(view.snapshot(), test.clock.now() + later); }
  void nodes(const std::vector<NodeStatus>& nodes) { view.put(settings(nodes)); }
  NodeStatus master() const { return parse_node_statuses(*view.snapshot().find(kube::types::etcds, "", "cluster")).at(0); }

  testing_support::TestContext test;
  testing_support::MemoryFiles files;
  View view;
  Installer installer{files, view, {"", "master-0"}};
};

Names messages(const Plan& plan) {
  Names result;
  for (const Notice& notice : plan.notices) result.push_back(fmt::format("{}: {}", notice.reason, notice.message));
  return result;
}

TEST(Installer, InstallsOnceAndTellsIt) {
  World world;
  EXPECT_TRUE(world.plan().tasks.empty());
  world.nodes({{.node = "master-0", .target = 1}});
  const std::uint64_t before = world.view.changed().count();
  EXPECT_EQ(world.run(world.plan()), Names{"installing etcd revision 1"});
  EXPECT_EQ(world.files.read(manifest).value(), "pod 1 of master-0");
  EXPECT_GT(world.view.changed().count(), before) << "it is planned again at once";

  const Plan next = world.plan();
  EXPECT_EQ(messages(next), Names{"InstallCompleted: etcd revision 1 is installed on master-0"});
  EXPECT_TRUE(next.tasks.empty());
  EXPECT_TRUE(next.desired_objects.empty());
  EXPECT_EQ(next.replan_at, world.test.clock.now() + 10min);

  world.nodes({{.node = "master-0", .current = 1}});
  const Plan later = world.plan();
  EXPECT_TRUE(later.tasks.empty()) << "the disk is not looked at when nothing of it changed";
  EXPECT_TRUE(later.notices.empty());
}

TEST(Installer, LooksAtTheDiskNowAndThen) {
  World world;
  world.nodes({{.node = "master-0", .current = 1}});
  world.run(world.plan());
  ASSERT_TRUE(world.files.remove(leaf_file).ok());
  EXPECT_TRUE(world.plan(9min).tasks.empty());
  world.run(world.plan(10min));
  EXPECT_EQ(world.files.read(leaf_file).value(), "CRT");
}

TEST(Installer, KeepsCertificatesUpToDate) {
  World world;
  world.nodes({{.node = "master-0", .target = 1}});
  world.run(world.plan());
  world.plan();
  world.view.put(leaf("NEW"));
  EXPECT_EQ(world.run(world.plan()).size(), 1u);
  EXPECT_EQ(world.files.read(leaf_file).value(), "NEW");
  EXPECT_EQ(messages(world.plan()), Names{}) << "the pod is the same";
}

TEST(Installer, TellsAFailureOnceAndGoesOnTrying) {
  World world;
  world.nodes({{.node = "master-0", .target = 1}, {.node = "master-1", .current = 7}});
  ASSERT_TRUE(world.files.write(resources, "in the way", 0600).ok());
  EXPECT_EQ(world.run(world.plan()), Names{});

  const Plan telling = world.plan();
  ASSERT_EQ(telling.desired_objects.size(), 1u);
  EXPECT_EQ(telling.desired_objects[0].how, DesiredObject::How::status);
  EXPECT_EQ(find(telling.desired_objects[0].object, {"status", "readyReplicas"})->as_int64(), 3) << "what else is there stays";
  ASSERT_EQ(telling.notices.size(), 1u);
  EXPECT_TRUE(telling.notices[0].is_warning);
  EXPECT_TRUE(telling.notices[0].message.starts_with("etcd revision 1 not installed on master-0: creating folder /etc/"))
      << telling.notices[0].message;
  world.view.put(telling.desired_objects[0].object);
  const NodeStatus first = world.master();
  EXPECT_EQ(first.last_failed, 1);
  EXPECT_EQ(first.last_failed_count, 1);
  EXPECT_EQ(first.last_failed_reason, "InstallerFailed");
  EXPECT_EQ(first.last_failed_time, "2026-11-21T09:30:00Z");
  EXPECT_EQ(first.last_failed_errors.size(), 1u);

  for (int round = 0; round < 3; ++round) {
    const Plan again = world.plan();
    EXPECT_TRUE(again.desired_objects.empty());
    EXPECT_EQ(again.tasks.size(), 1u);
    world.run(again);
  }

  // The installer does not overwrite what the operator writes into the entry.
  NodeStatus judged = first;
  judged.last_failed_reason = "PodMissing";
  world.nodes({judged});
  EXPECT_TRUE(world.plan().desired_objects.empty());

  // The operator removes the target and sets it again: a new attempt, which is reported again.
  world.nodes({{.node = "master-0"}});
  EXPECT_TRUE(world.plan().tasks.empty());
  NodeStatus retried = first;
  world.nodes({retried});
  world.test.clock.wait(world.test.clock.steady() + 30s, {}, nullptr, 0);
  world.run(world.plan());
  const Plan second = world.plan();
  ASSERT_EQ(second.desired_objects.size(), 1u);
  world.view.put(second.desired_objects[0].object);
  EXPECT_EQ(world.master().last_failed_count, 2);
  EXPECT_EQ(world.master().last_failed_time, "2026-11-21T09:30:30Z");

  ASSERT_TRUE(world.files.remove(resources).ok());
  EXPECT_EQ(world.run(world.plan()).size(), 1u);
  EXPECT_EQ(messages(world.plan()), Names{"InstallCompleted: etcd revision 1 is installed on master-0"});
}

TEST(Installer, TellsNoFailureOfWhatRunsAlready) {
  World world;
  world.nodes({{.node = "master-0", .current = 1}});
  ASSERT_TRUE(world.files.write(resources, "in the way", 0600).ok());
  EXPECT_EQ(world.run(world.plan()), Names{});
  const Plan next = world.plan();
  EXPECT_TRUE(next.desired_objects.empty());
  EXPECT_EQ(next.tasks.size(), 1u);
}

TEST(Installer, SaysForWhatItWaits) {
  World world;
  world.nodes({{.node = "master-0", .target = 1}});
  world.view.remove(kube::types::config_maps, "openshift-etcd", "etcd-pod-1");
  const Plan first = world.plan();
  EXPECT_EQ(messages(first), Names{});
  EXPECT_EQ(first.replan_at, world.test.clock.now() + 10s);
  EXPECT_EQ(world.run(first).size(), 1u) << "certificates";
  EXPECT_FALSE(world.files.info(manifest).value());
  const Plan late = world.plan(10s);
  EXPECT_EQ(messages(late), Names{"InstallerWaits: etcd revision 1 on master-0: waiting for missing objects: "
                                  "ConfigMap openshift-etcd/etcd-pod-1"});
  EXPECT_TRUE(late.tasks.empty());
}

// A cluster with an installer on its own thread.
class KeepInstalled : public testing::Test {
 protected:
  KeepInstalled() {
    for (const Operand& operand : operands()) kube_.serve(operand.settings);
    kube_.after_write = [this](const Json& written) {
      if (find_string(written, {"kind"}) != "Event") return;
      const std::lock_guard lock(mutex_);
      told_.push_back(fmt::format("{} {}", find_string(written, {"source", "component"}).value_or(""),
                                  find_string(written, {"message"}).value_or("")));
      changed_.notify_all();
    };
  }
  ~KeepInstalled() override { test_.stop.request_stop(); }

  void start() {
    thread_ = std::jthread([this] {
      const auto connect = [this]() -> Result<std::shared_ptr<kube::Api>> {
        ++connections_;
        return std::shared_ptr<kube::Api>(&kube_, [](kube::Api*) {});
      };
      const Result<> kept = keep_installed(test_.context(), connect, files_, {"", "master-0"});
      EXPECT_TRUE(kept.ok()) << kept.error().message();
    });
  }
  bool wait_for_event(const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return std::ranges::find(told_, text) != told_.end(); });
  }

  testing_support::FakeKube kube_;
  testing_support::RealTimeContext test_;
  testing_support::MemoryFiles files_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> connections_ = 0;
  Names told_;
  std::jthread thread_;
};

TEST_F(KeepInstalled, FollowsTheCluster) {
  kube_.put(settings({{.node = "master-0", .target = 1}}));
  start();
  for (const Json& object : revision(1)) kube_.put(object);
  ASSERT_TRUE(wait_for_event("static-pod-installer-master-0 etcd revision 1 is installed on master-0"));
  EXPECT_EQ(files_.read(manifest).value(), "pod 1 of master-0");
  for (const Json& object : revision(2)) kube_.put(object);
  kube_.put(settings({{.node = "master-0", .current = 1, .target = 2}}));
  ASSERT_TRUE(wait_for_event("static-pod-installer-master-0 etcd revision 2 is installed on master-0"));
  EXPECT_EQ(files_.read(manifest).value(), "pod 2 of master-0");
}

TEST_F(KeepInstalled, WritesAFailureIntoTheStatus) {
  ASSERT_TRUE(files_.write(resources, "in the way", 0600).ok());
  for (const Json& object : revision(1)) kube_.put(object);
  kube_.put(settings({{.node = "master-0", .target = 1}}));
  start();
  ASSERT_TRUE(wait_for_event(
      fmt::format("static-pod-installer-master-0 etcd revision 1 not installed on master-0: creating folder {}/etcd-certs/"
                  "secrets: Not a directory",
                  resources)));
  const NodeStatus here = parse_node_statuses(*kube_.stored(kube::types::etcds, "", "cluster")).at(0);
  EXPECT_EQ(here.last_failed, 1);
  EXPECT_EQ(here.target, 1) << "what to do about it is the operator's business";
  ASSERT_TRUE(files_.remove(resources).ok());
  EXPECT_TRUE(wait_for_event("static-pod-installer-master-0 etcd revision 1 is installed on master-0"));
}

TEST_F(KeepInstalled, WaitsForItsPermissions) {
  const auto refusals = std::make_shared<std::atomic<int>>(3);
  kube_.fail_request = [refusals](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method == "GET" && request.path.find("/secrets") != std::string::npos && (*refusals)-- > 0) {
      return error(Code::denied, "secrets is forbidden");
    }
    return std::nullopt;
  };
  for (const Json& object : revision(1)) kube_.put(object);
  kube_.put(settings({{.node = "master-0", .target = 1}}));
  start();
  EXPECT_TRUE(wait_for_event("static-pod-installer-master-0 etcd revision 1 is installed on master-0"));
  EXPECT_GT(connections_, 1) << "with a token that is read anew";
}

}  // namespace
}  // namespace slipway::components::static_pod_installer
