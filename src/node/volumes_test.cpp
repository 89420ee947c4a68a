#include "node/volumes.h"

#include "support/fake_kube.h"
#include "support/node_world.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace slipway::node {
namespace {

using kube::VolumeOrder;
using kube::VolumeOrders;
using kube::VolumeState;
using Names = std::vector<std::string>;

VolumesOnDisk disk(std::set<std::string> names, std::int64_t available = 640) {
  return {.names = std::move(names), .size = 640, .available = available, .is_shared = false};
}

const VolumeOrder make{VolumeOrder::Kind::make, 100};
const VolumeOrder keep{VolumeOrder::Kind::keep, 100};
const VolumeOrder remove_it{VolumeOrder::Kind::remove, 100};

VolumeState state_of(const VolumeSteps& steps, const std::string& name) { return steps.report.volumes.at(name); }

TEST(VolumeSteps, CreatesWhatIsOrderedAndFits) {
  const VolumeSteps steps = plan_volumes({{"a", make}, {"b", make}}, disk({}, 150), {}, {});
  EXPECT_EQ(steps.make, Names{"a"});
  EXPECT_EQ(state_of(steps, "a").kind, VolumeState::Kind::ready);
  EXPECT_EQ(state_of(steps, "b").kind, VolumeState::Kind::refused);
  EXPECT_EQ(state_of(steps, "b").reason, "100 B requested, and the disk has 50 B for volumes");
}

TEST(VolumeSteps, LeavesTheKubeletItsReserve) {
  VolumesOnDisk shared = disk({}, 160);
  shared.is_shared = true;
  EXPECT_EQ(plan_volumes({{"a", make}}, shared, {}, {}).report.volumes.at("a").kind, VolumeState::Kind::refused);
}

TEST(VolumeSteps, CompletesAFolderThatAKilledProcessBegan) {
  EXPECT_EQ(plan_volumes({{"a", make}}, disk({"a"}), {}, {}).make, Names{"a"});
  const VolumeSteps again = plan_volumes({{"a", make}}, disk({"a"}, 0), {"a"}, {});
  EXPECT_EQ(again.make, Names());
  EXPECT_EQ(state_of(again, "a").kind, VolumeState::Kind::ready) << "it has its space already";
}

TEST(VolumeSteps, NeverCreatesAVolumeThatExists) {
  const VolumeSteps steps = plan_volumes({{"a", keep}, {"b", keep}}, disk({"a"}), {}, {});
  EXPECT_EQ(steps.make, Names());
  EXPECT_EQ(steps.discard, Names());
  EXPECT_EQ(state_of(steps, "a").kind, VolumeState::Kind::ready);
  EXPECT_EQ(state_of(steps, "b").kind, VolumeState::Kind::missing);
}

TEST(VolumeSteps, RemovesInTwoSteps) {
  const VolumeOrders orders = {{"a", remove_it}};
  const VolumeSteps first = plan_volumes(orders, disk({"a"}), {}, {});
  EXPECT_EQ(first.discard, Names{"a"});
  EXPECT_EQ(state_of(first, "a").kind, VolumeState::Kind::removing);
  const VolumeSteps second = plan_volumes(orders, disk({".removing-a"}), {}, {{"a", "busy"}});
  EXPECT_EQ(second.discard, Names());
  EXPECT_EQ(state_of(second, "a"), (VolumeState{VolumeState::Kind::removing, "busy"}));
  EXPECT_EQ(state_of(plan_volumes(orders, disk({}), {}, {}), "a").kind, VolumeState::Kind::removed);
}

TEST(VolumeSteps, WaitsForTheEndOfARemovalBeforeANameIsUsedAgain) {
  const VolumeSteps steps = plan_volumes({{"a", make}}, disk({".removing-a"}), {}, {});
  EXPECT_EQ(steps.make, Names());
  EXPECT_EQ(state_of(steps, "a").kind, VolumeState::Kind::removing);
}

TEST(VolumeSteps, RemovesNothingWithoutAnOrder) {
  const VolumeSteps steps = plan_volumes({}, disk({"a", ".removing-b", "lost+found"}), {}, {});
  EXPECT_EQ(steps.discard, Names());
  EXPECT_EQ(steps.make, Names());
  EXPECT_EQ(steps.report.unclaimed, (Names{"a"}));
}

TEST(VolumeSteps, ReportsTheFreeSpaceRoughly) {
  EXPECT_EQ(plan_volumes({}, disk({}, 319), {}, {}).report.free, 310);
  EXPECT_EQ(plan_volumes({}, disk({}, 311), {}, {}).report.free, 310);
}

// With real folders and threads.
class KeepVolumes : public testing::Test {
 protected:
  KeepVolumes() : temp_(sys::TempDir::make("test").value()), folder(temp_.path()) { folder /= "volumes"; }
  ~KeepVolumes() override { end(); }

  void start() {
    std::filesystem::create_directories(folder);  // the files of the world are in memory
    stop_ = std::stop_source();
    context_.emplace(world_.test.context().with_stop(stop_.get_token()));
    runner_ = std::jthread([this] {
      const Environment environment = world_.environment().with(*context_);
      keep_volumes(environment, kube, "worker-0", folder.string());
    });
  }
  void end() {
    stop_.request_stop();
    if (runner_.joinable()) runner_.join();
  }
  void order(const VolumeOrders& orders) { kube.put(kube::orders_object("worker-0", orders)); }
  kube::NodeStorage reported() {
    const auto stored = kube.stored(kube::types::config_maps, std::string(kube::volumes_space), "state-worker-0");
    return stored ? kube::parse_storage(*stored).value() : kube::NodeStorage{};
  }
  // Whether the report says so within some seconds.
  bool becomes(const std::string& name, VolumeState::Kind kind) {
    for (int i = 0; i < 1000; ++i) {
      const kube::NodeStorage storage = reported();
      const auto found = storage.volumes.find(name);
      if (found != storage.volumes.end() && found->second.kind == kind) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  bool is_logged(std::string_view text) {
    for (int i = 0; i < 1000; ++i) {
      for (const std::string& line : world_.test.logged()) {
        if (line.find(text) != std::string::npos) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  sys::TempDir temp_;
  std::filesystem::path folder;
  testing_support::FakeKube kube;

 private:
  testing_support::RealTimeNodeWorld world_;
  std::stop_source stop_;
  std::optional<sys::Context> context_;
  std::jthread runner_;
};

TEST_F(KeepVolumes, FollowsTheOrdersAndContinuesAfterAnEnd) {
  order({{"a", {VolumeOrder::Kind::make, 1}}});
  start();
  ASSERT_TRUE(becomes("a", VolumeState::Kind::ready));
  struct stat info {};
  ASSERT_EQ(::stat((folder / "a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777u, 0777u);
  std::ofstream(folder / "a/data") << "text";
  order({{"a", keep}});
  end();
  start();
  ASSERT_TRUE(becomes("a", VolumeState::Kind::ready));
  EXPECT_TRUE(std::filesystem::exists(folder / "a/data"));
  order({{"a", remove_it}});
  ASSERT_TRUE(becomes("a", VolumeState::Kind::removed));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(KeepVolumes, ContinuesRemovalsWithoutOrders) {
  std::filesystem::create_directories(folder / ".removing-old/a/b");
  std::filesystem::create_directories(folder / "unknown");
  order({{"old", remove_it}});
  start();
  ASSERT_TRUE(becomes("old", VolumeState::Kind::removed));
  EXPECT_TRUE(std::filesystem::exists(folder / "unknown"));
  EXPECT_EQ(reported().unclaimed, Names{"unknown"});
  EXPECT_GT(reported().size, 0);
}

TEST_F(KeepVolumes, DoesNothingAfterOrdersThatItCannotRead) {
  std::filesystem::create_directories(folder / "a");
  order({{"a", keep}});
  start();
  ASSERT_TRUE(becomes("a", VolumeState::Kind::ready));
  Json broken = kube::orders_object("worker-0", {{"a", remove_it}});
  broken.at("data").as_object()["volumes"] = R"({"a":{"order":"remove"},"../b":{"order":"remove"}})";
  kube.put(broken);
  ASSERT_TRUE(is_logged("volumes stay as they are"));
  order({{"a", keep}, {"c", {VolumeOrder::Kind::make, 1}}});
  ASSERT_TRUE(becomes("c", VolumeState::Kind::ready));
  EXPECT_TRUE(std::filesystem::exists(folder / "a"));
}

}  // namespace
}  // namespace slipway::node
