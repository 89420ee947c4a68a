#include "service/core.h"

#include "assist/replies.h"
#include "service/test_records.h"
#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace slipway::service {
namespace {

using assist::ClusterStatus;
using assist::HostStatus;

class FakeInstallation final : public Installation {
 public:
  Result<InstallationFiles> make(const InstallationRequest&, std::stop_token) override {
    ++calls;
    if (fails) return error(Code::invalid, "the pull secret is refused");
    return InstallationFiles{{"bootstrap.ign", "{}"}, {"master.ign", "{}"}};
  }
  std::atomic<int> calls = 0;
  std::atomic<bool> fails = false;
};

class CoreTest : public testing::Test {
 protected:
  CoreTest() { start(); }

  void start() {
    core.reset();
    core = Core::start(context.context(), Store::open(folder.path() + "/a.db").value(), installation, {}, {}).value();
  }

  // Three hosts that can be installed, and their cluster.
  void make_cluster() {
    const Result<> made = core->run([&](Edit& edit) -> Result<> {
      ClusterRecord cluster = test_cluster_record("c");
      edit.put(std::move(cluster));
      for (int i = 0; i < 3; ++i) {
        HostRecord host = test_host_record(std::to_string(i), "c");
        host.host.checked_in = edit.now();
        const auto give = [&](const char* type, const Json& output) {
          EXPECT_TRUE(assist::apply_output(host.host, type, output).ok()) << type;
          host.outputs[type] = output;
        };
        give("inventory",
             assist::to_json(assist::test_inventory("host-" + std::to_string(i), fmt::format("192.168.126.{}/24", 10 + i))));
        give("ntp-synchronizer", Json{{"ntp_sources", JsonArray{Json{{"source_name", "a"}, {"source_state", "synced"}}}}});
        give("domain-resolution", Json{{"resolutions", JsonArray{}}});
        give("verify-vips", JsonArray{Json{{"vip", "192.168.126.100"}, {"verification", "succeeded"}},
                                      Json{{"vip", "192.168.126.101"}, {"verification", "succeeded"}}});
        give("installation-disk-speed-check", Json{{"path", "/dev/vda"}, {"io_sync_duration", 2}});
        JsonArray peers;
        for (int other = 0; other < 3; ++other) {
          const std::string address = fmt::format("192.168.126.{}", 10 + other);
          const Json found = JsonArray{Json{{"remote_ip_address", address}, {"successful", true}}};
          if (other != i)
            peers.push_back(Json{{"host_id", std::to_string(other)}, {"l2_connectivity", found}, {"l3_connectivity", found}});
        }
        give("connectivity-check", Json{{"remote_hosts", std::move(peers)}});
        edit.put(std::move(host));
      }
      edit.touch_cluster("c");
      return Ok{};
    });
    ASSERT_TRUE(made.ok()) << made.error().message();
  }

  ClusterStatus cluster_status() const {
    return core->look([](const World& world) { return look_up(world.clusters, "c")->cluster.status; });
  }
  HostStatus host_status(const char* id) const {
    return core->look([&](const World& world) { return look_up(world.hosts, host_key("e", id))->host.status; });
  }

  sys::TempDir folder = sys::TempDir::make("core").value();
  testing_support::RealTimeContext context;
  FakeInstallation installation;
  std::unique_ptr<Core> core;
};

TEST_F(CoreTest, AFailedCommandChangesNothing) {
  const Result<> failed = core->run([](Edit& edit) -> Result<> {
    edit.put(test_cluster_record("c"));
    edit.put_file("c", "a", "b");
    return error(Code::conflict, "no");
  });
  EXPECT_EQ(failed.error().code(), Code::conflict);
  EXPECT_EQ(core->look([](const World& world) { return world.clusters.size(); }), 0u);
  EXPECT_EQ(core->file("c", "a").value(), std::nullopt);
}

TEST_F(CoreTest, AnsweredCommandsSurviveARestart) {
  std::vector<std::jthread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([this, i] {
      for (int k = 0; k < 20; ++k) {
        EXPECT_TRUE(core->run([&](Edit& edit) -> Result<> {
                          edit.put(test_cluster_record(fmt::format("c-{}-{}", i, k)));
                          return Ok{};
                        })
                        .ok());
      }
    });
  }
  clients.clear();
  start();
  EXPECT_EQ(core->look([](const World& world) { return world.clusters.size(); }), 160u);
}

TEST_F(CoreTest, StatesFollowTheirCauses) {
  make_cluster();
  EXPECT_EQ(assist::to_string(cluster_status()), "ready");
  EXPECT_EQ(assist::to_string(host_status("0")), "known");
  const EventPage page = core->events({.cluster = "c"}).value();
  EXPECT_GT(page.total, 3u);
  // One host loses its address: its cluster hears of it in the same transaction.
  EXPECT_TRUE(core->run([](Edit& edit) -> Result<> {
                    HostRecord host = *look_up(edit.world().hosts, host_key("e", "0"));
                    host.host.inventory->routes.clear();
                    edit.put(std::move(host));
                    edit.touch_cluster("c");
                    return Ok{};
                  })
                  .ok());
  EXPECT_EQ(assist::to_string(host_status("0")), "insufficient");
  EXPECT_EQ(assist::to_string(cluster_status()), "insufficient");
}

TEST_F(CoreTest, ASingleNodeIsInTheNetworkOfItsDefaultRoute) {
  EXPECT_TRUE(core->run([](Edit& edit) -> Result<> {
                    ClusterRecord cluster = test_cluster_record("c");
                    cluster.cluster.control_plane_count = 1;
                    cluster.cluster.api_addresses = {net::parse_ip("10.9.0.5").value()};  // has no effect
                    edit.put(std::move(cluster));
                    HostRecord host = test_host_record("0", "c");
                    host.host.inventory = assist::test_inventory("m0");
                    assist::Interface& first = host.host.inventory->interfaces.front();
                    first.addresses.push_back(net::parse_cidr("fd00::10/64").value());  // the cluster has no IPv6 network
                    host.host.inventory->interfaces.push_back({.name = "ens4",
                                                               .mac_address = "52:54:00:00:00:02",
                                                               .addresses = {net::parse_cidr("10.9.0.4/24").value()}});
                    edit.put(std::move(host));
                    edit.touch_cluster("c");
                    return Ok{};
                  })
                  .ok());
  const auto record = core->look([](const World& world) { return look_up(world.clusters, std::string("c")); });
  EXPECT_EQ(record->cluster.machine_networks, std::vector{net::parse_cidr("192.168.126.0/24").value()});
}

TEST_F(CoreTest, PreparationsGoOnAfterARestart) {
  make_cluster();
  ASSERT_TRUE(core->run([](Edit& edit) -> Result<> {
                    set_status(
                        edit, *look_up(edit.world().clusters, "c"),
                        {.status = ClusterStatus::preparing_for_installation, .rule = "installation requested", .info = "x"});
                    return Ok{};
                  })
                  .ok());
  // Not touched: no host has left known, as if the service had been killed right then.
  start();
  for (int i = 0; i < 1000 && !core->file("c", "bootstrap.ign").value(); ++i) {
    context.clock.wait(context.clock.steady() + Milliseconds(10), {}, nullptr, 0);
  }
  EXPECT_TRUE(core->file("c", "bootstrap.ign").value());
  EXPECT_EQ(assist::to_string(host_status("0")), "preparing-for-installation");
}

TEST_F(CoreTest, AFailedPreparationSaysWhy) {
  installation.fails = true;
  make_cluster();
  ASSERT_TRUE(core->run([](Edit& edit) -> Result<> {
                    set_status(
                        edit, *look_up(edit.world().clusters, "c"),
                        {.status = ClusterStatus::preparing_for_installation, .rule = "installation requested", .info = "x"});
                    edit.touch_cluster("c");
                    return Ok{};
                  })
                  .ok());
  for (int i = 0; i < 1000 && cluster_status() != ClusterStatus::ready; ++i) {
    context.clock.wait(context.clock.steady() + Milliseconds(10), {}, nullptr, 0);
  }
  const auto record = core->look([](const World& world) { return look_up(world.clusters, "c"); });
  EXPECT_EQ(record->preparation_status, "failed");
  EXPECT_EQ(record->preparation_reason, "the pull secret is refused");
  EXPECT_EQ(assist::to_string(host_status("0")), "known");
}

// A real clock that someone sets.
class SetClock final : public sys::Clock {
 public:
  WallTime now() override { return real_.now() + offset_.load(); }
  SteadyTime steady() override { return real_.steady(); }
  void wait(SteadyTime until, std::stop_token stop, sys::Wakeup* wakeup, std::uint64_t seen) override {
    real_.wait(until, std::move(stop), wakeup, seen);
  }
  void jump(Milliseconds by) { offset_ = offset_.load() + by; }

 private:
  sys::RealClock real_;
  std::atomic<Milliseconds> offset_{Milliseconds(0)};
};

TEST(CoreClock, NoHostIsLostOrFoundWhenTheClockIsSet) {
  const sys::TempDir folder = sys::TempDir::make("core").value();
  testing_support::TestContextWith<SetClock> context;
  FakeInstallation installation;
  const auto start = [&] {
    return Core::start(context.context(), Store::open(folder.path() + "/a.db").value(), installation, {}, {}).value();
  };
  std::unique_ptr<Core> core = start();
  const auto look = [&] { return core->look([](const World& world) { return look_up(world.hosts, host_key("e", "h")); }); };
  const auto refresh = [&] {
    EXPECT_TRUE(core->run([](Edit& edit) -> Result<> {
                      edit.touch_host(host_key("e", "h"));
                      return Ok{};
                    })
                    .ok());
  };
  const auto is_lost = [&] {
    refresh();
    return look()->host.status == HostStatus::disconnected_unbound;
  };
  ASSERT_TRUE(core->run([](Edit& edit) -> Result<> {
                    HostRecord host = test_host_record("h");
                    host.host.checked_in = host.host.status_since = edit.now();
                    edit.touch(host);
                    edit.put(std::move(host));
                    return Ok{};
                  })
                  .ok());
  EXPECT_FALSE(is_lost());
  core->note_contact(host_key("e", "h"));
  const auto silence = [&] { return context.clock.now() - core->contact_of(*look()); };
  for (const int hours : {2, -5, 3}) {
    const Milliseconds by = std::chrono::hours(hours);
    context.clock.jump(by);
    EXPECT_FALSE(is_lost());
    EXPECT_LT(silence(), Seconds(60)) << human_duration(by);
    EXPECT_GE(silence(), Milliseconds(0));
    core.reset();  // also with what was stored under the other time
    core = start();
    EXPECT_FALSE(is_lost());
    EXPECT_LT(silence(), Seconds(60)) << human_duration(by);
  }
}

}  // namespace
}  // namespace slipway::service
