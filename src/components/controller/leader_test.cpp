#include "components/controller/leader.h"

#include "support/fake_kube.h"
#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace slipway::components {
namespace {

const LeaderOptions options{.space = "kube-system", .name = "lock", .identity = "me"};
const WallTime now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 21} + Milliseconds(5);

SteadyTime at(int seconds) { return SteadyTime(Seconds(seconds)); }

SeenLease lease(std::string_view holder, int changed, int duration = 15) {
  return {Json{{"apiVersion", "coordination.k8s.io/v1"},
               {"kind", "Lease"},
               {"metadata", {{"name", "lock"}, {"resourceVersion", "7"}}},
               {"spec", {{"holderIdentity", holder}, {"leaseDurationSeconds", duration}, {"leaseTransitions", 3}}}},
          at(changed)};
}

TEST(LeaderDecides, ByWhatIsSeenOfTheLease) {
  EXPECT_EQ(decide(std::nullopt, options, at(0)), LeaderStep::create);
  EXPECT_EQ(decide(lease("me", 0), options, at(1)), LeaderStep::take);
  EXPECT_EQ(decide(lease("", 0), options, at(0)), LeaderStep::take);
  EXPECT_EQ(decide(lease("other", 0), options, at(14)), LeaderStep::wait);
  EXPECT_EQ(decide(lease("other", 0), options, at(15)), LeaderStep::take);
}

TEST(LeaderDecides, ByTheDurationThatTheHolderSaid) {
  EXPECT_EQ(decide(lease("other", 0, 137), options, at(100)), LeaderStep::wait);
  EXPECT_EQ(expiry(lease("other", 2, 137), options), at(139));
}

TEST(HeldLease, CountsChangesOfTheHolderOnly) {
  const Json taken = held_lease(lease("other", 0), options, now);
  EXPECT_EQ(find(taken, {"spec", "leaseTransitions"})->as_int64(), 4);
  EXPECT_EQ(find_string(taken, {"spec", "acquireTime"}), "2026-11-21T00:00:00.005000Z");
  EXPECT_EQ(find_string(taken, {"metadata", "resourceVersion"}), "7");
  const Json renewed = held_lease(SeenLease{taken, {}}, options, now + Seconds(2));
  EXPECT_EQ(find(renewed, {"spec", "leaseTransitions"})->as_int64(), 4);
  EXPECT_EQ(find_string(renewed, {"spec", "acquireTime"}), "2026-11-21T00:00:00.005000Z");
  EXPECT_EQ(find_string(renewed, {"spec", "renewTime"}), "2026-11-21T00:00:02.005000Z");
  EXPECT_EQ(find(held_lease(std::nullopt, options, now), {"spec", "leaseTransitions"})->as_int64(), 0);
}

TEST(ReleasedLease, IsTakenAtOnce) {
  const Json released = released_lease(held_lease(std::nullopt, options, now), now);
  LeaderOptions other = options;
  other.identity = "other";
  EXPECT_EQ(decide(SeenLease{released, at(0)}, other, at(0)), LeaderStep::take);
}

TEST(LeaderOptions, LeaveTimeForMoreThanOneTry) {
  EXPECT_LT(options.renew_deadline, options.duration);
  EXPECT_GE(options.renew_deadline, 3 * options.retry);
}

// A restarted container is the same holder. Processes without POD_NAME never are.
TEST(PodIdentity, IsThePodWhereItIsKnown) {
  testing_support::MemoryFiles files;
  testing_support::SeededRandom random(1);
  ASSERT_TRUE(files.write("/proc/sys/kernel/hostname", "master-0\n", 0644).ok());
  const std::string first = pod_identity(files, random).value(), second = pod_identity(files, random).value();
  EXPECT_TRUE(first.starts_with("master-0_")) << first;
  EXPECT_NE(first, second);
  ::setenv("POD_NAME", "etcd-operator-5c7", 1);
  EXPECT_EQ(pod_identity(files, random).value(), "etcd-operator-5c7");
  ::unsetenv("POD_NAME");
}

// Runs in real time: another thread changes the lease.
struct World {
  testing_support::RealTimeContext test;
  testing_support::FakeKube kube;
  LeaderOptions quick{.space = "kube-system", .name = "lock", .identity = "me", .retry = Milliseconds(10)};

  void hold(std::string_view holder) {
    Json object = lease(holder, 0, 60).object;
    object.at("metadata") = {{"name", "lock"}, {"namespace", "kube-system"}};
    kube.put(std::move(object));
  }
  std::string holder() {
    const std::optional<Json> object = kube.stored(kube::types::leases, "kube-system", "lock");
    return object ? text_of(*object, {"spec", "holderIdentity"}) : "no lease";
  }
};

Result<> until_stopped(const sys::Context& context) {
  while (!context.stop.stop_requested()) context.clock.wait(context.clock.steady() + Seconds(10), context.stop, nullptr, 0);
  return error(Code::cancelled, "stopped");
}

// A server whose answers take a while, in virtual time.
struct SlowServer {
  testing_support::TestContext test;
  testing_support::FakeKube kube;
  LeaderOptions options{.space = "kube-system",
                        .name = "lock",
                        .identity = "me",
                        .duration = Seconds(15),
                        .renew_deadline = Seconds(10),
                        .retry = Seconds(2)};
  struct Question {
    SteadyTime asked;
    Milliseconds limit;
  };
  std::vector<Question> questions;

  // takes: duration of each renewal; fails: number of renewals that succeed before the others fail
  Result<> keep(Milliseconds takes, std::size_t fails) {
    kube.put(held_lease(std::nullopt, options, test.clock.now()));
    const Json object = *kube.stored(kube::types::leases, "kube-system", "lock");
    kube.fail_request = [this, takes, fails](const kube::ApiRequest& request) -> std::optional<Error> {
      if (request.method != "PUT") return std::nullopt;
      questions.push_back({test.clock.steady(), request.limit});
      test.clock.wait(test.clock.steady() + std::min(takes, request.limit), {}, nullptr, 0);
      if (questions.size() > fails) return error(Code::unavailable, "timed out");
      return std::nullopt;
    };
    Guarded<HeldLease> held(HeldLease{object, test.clock.steady()});
    return keep_lease(test.context(), kube, options, held);
  }
};

TEST(KeepLease, NoRenewalOutlastsTheDeadline) {
  SlowServer server;
  const Result<> kept = server.keep(Seconds(60), 0);
  ASSERT_FALSE(kept.ok());
  EXPECT_EQ(kept.error().message(), "Lease kube-system/lock: not renewed: timed out");
  EXPECT_EQ(server.test.clock.steady(), at(10));
  ASSERT_EQ(server.questions.size(), 1u);
  EXPECT_EQ(server.questions[0].limit, Seconds(8));
}

TEST(KeepLease, TimeCountsFromBeforeTheQuestion) {
  SlowServer server;
  // The first renewal is sent at 2 s and answered at 9 s: the next deadline is at 12 s, not at 19 s.
  const Result<> kept = server.keep(Seconds(7), 1);
  ASSERT_FALSE(kept.ok());
  EXPECT_EQ(server.questions[0].asked, at(2));
  EXPECT_EQ(server.test.clock.steady(), at(12));
  for (const SlowServer::Question& question : server.questions) EXPECT_LE(question.asked + question.limit, at(12));
}

TEST(Leader, WorksWithTheLeaseAndGivesItBack) {
  World world;
  std::string during, counted;
  const Result<> led = lead(world.test.context(), world.kube, world.quick, [&](const sys::Context&) -> Result<> {
    during = world.holder();
    counted = world.kube.counted.samples({});
    return Ok{};
  });
  ASSERT_TRUE(led.ok()) << led.error().message();
  EXPECT_EQ(during, "me");
  EXPECT_EQ(world.holder(), "");
  const std::string lease = fmt::format("slipway_leader{{lease=\"{}/{}\"}}", world.quick.space, world.quick.name);
  EXPECT_EQ(counted, lease + " 1\n");
  EXPECT_EQ(world.kube.counted.samples({}), lease + " 0\n");
}

TEST(Leader, TakesOverAtOnceWhenAnotherLeaves) {
  World world;
  world.hold("other");
  std::jthread other([&] { world.hold(""); });
  const SteadyTime begin = world.test.clock.steady();
  ASSERT_TRUE(lead(world.test.context(), world.kube, world.quick, [](const sys::Context&) -> Result<> { return Ok{}; }).ok());
  EXPECT_LT(world.test.clock.steady() - begin, Seconds(10));
}

TEST(Leader, StopsItsWorkWhenTheLeaseIsAnothers) {
  World world;
  const Result<> led = lead(world.test.context(), world.kube, world.quick, [&](const sys::Context& context) {
    world.hold("other");
    return until_stopped(context);
  });
  ASSERT_FALSE(led.ok());
  EXPECT_EQ(led.error().code(), Code::unavailable) << led.error().message();
  EXPECT_EQ(world.holder(), "other");
}

TEST(Leader, StopsItsWorkWhenTheServerIsGoneForTooLong) {
  World world;
  world.quick.renew_deadline = Milliseconds(50);
  world.kube.fail_request = [&](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method == "PUT") return error(Code::unavailable, "nobody there");
    return std::nullopt;
  };
  const Result<> led = lead(world.test.context(), world.kube, world.quick, until_stopped);
  ASSERT_FALSE(led.ok());
  EXPECT_NE(led.error().message().find("not renewed"), std::string::npos) << led.error().message();
}

TEST(Leader, GivesTheLeaseBackOnAStop) {
  World world;
  const Result<> led = lead(world.test.context(), world.kube, world.quick, [&](const sys::Context& context) {
    world.test.stop.request_stop();
    return until_stopped(context);
  });
  ASSERT_FALSE(led.ok());
  EXPECT_EQ(led.error().code(), Code::cancelled);
  EXPECT_EQ(world.holder(), "");
}

// The lease has changed since it was last read, by our own renewal or by another process.
TEST(Leader, GivesAChangedLeaseBackOnlyIfItIsItsOwn) {
  const std::pair<std::string, std::string> rows[] = {{"me", ""}, {"other", "other"}};
  for (const auto& [holder, left] : rows) {
    World world;
    const Result<> led = lead(world.test.context(), world.kube, world.quick, [&](const sys::Context&) -> Result<> {
      world.hold(holder);
      return Ok{};
    });
    ASSERT_TRUE(led.ok()) << holder;
    EXPECT_EQ(world.holder(), left);
  }
}

}  // namespace
}  // namespace slipway::components
