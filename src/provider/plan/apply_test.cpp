#include "provider/plan/apply.h"

#include "base/text.h"
#include "support/fake_platform.h"
#include "support/test_context.h"
#include "sys/files.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>

namespace slipway::provider::plan {
namespace {

using testing_support::FakePlatform;
using testing_support::TestContext;
using Kill = FakePlatform::Kill;
using Lines = std::vector<std::string>;

constexpr Kill kills[] = {Kill::before, Kill::half_way, Kill::after};

// A cluster with a network, a shared base volume and, for each machine, a config, a disk and the machine.
Plan plan_of(const std::string& cluster, int machines = 2) {
  Plan plan = {{.kind = "network", .name = cluster + "-net"}, {.kind = "volume", .name = "base", .is_shared = true}};
  for (int i = 0; i < machines; ++i) {
    const std::string machine = fmt::format("master-{}", i);
    const auto add = [&](std::string kind, const std::string& suffix, Lines needs) {
      plan.push_back({.kind = std::move(kind),
                      .name = fmt::format("{}-{}{}", cluster, machine, suffix),
                      .machine = machine,
                      .needs = std::move(needs)});
      return plan.back().key();
    };
    const std::string config = add("volume", ".ign", {});
    const std::string disk = add("volume", ".qcow2", {"volume/base"});
    add("machine", "", {"network/" + cluster + "-net", config, disk});
  }
  return plan;
}

// A folder in memory: the tests of kills sync a journal thousands of times.
class MemoryFolder {
 public:
  MemoryFolder() { EXPECT_NE(::mkdtemp(path_), nullptr); }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  ~MemoryFolder() { (void)sys::RealFiles().remove(path_); }

  std::string path() const { return path_; }

 private:
  char path_[32] = "/dev/shm/apply-test-XXXXXX";
};

// One process after another that creates and removes the resources of a cluster. Each has a journal object of its own.
class Runs {
 public:
  explicit Runs(const std::string& cluster = "c1") : plan(plan_of(cluster)), path_(folder_.path() + "/resources.jsonl") {
    platform.cluster = cluster;
    // A resource of another cluster whose name begins with the name of this one.
    platform.items.push_back({.resource = {.kind = "volume", .name = "c10-master-0.qcow2"}, .owner = "c10", .is_complete = true});
    before = platform.inventory();
  }

  Result<> apply() {
    return run([&](Journal& journal) { return plan::apply(test.context(), platform, journal, plan); });
  }
  Result<> destroy(const Chosen& chosen = {}) {
    return run([&](Journal& journal) { return plan::destroy(test.context(), platform, journal, chosen); });
  }
  // The same, killed at call k; whether the run got so far.
  bool apply_until(std::size_t k, Kill kill) {
    return until(k, kill, [&] { return apply(); });
  }
  bool destroy_until(std::size_t k, Kill kill) {
    return until(k, kill, [&] { return destroy(); });
  }
  void lose_journal() { EXPECT_TRUE(sys::RealFiles().remove(path_).ok()); }
  bool has_journal() const { return sys::RealFiles().info(path_).value().has_value(); }

  Journal::State state_of(const std::string& key) {
    const Result<Journal> journal = Journal::open(test.clock, path_);
    EXPECT_TRUE(journal.ok());
    return journal.ok() ? journal->state_of(key) : Journal::State::unknown;
  }
  // The numbers of the resources whose creation is in the journal: none of them may be created again.
  std::map<std::string, int> completed() {
    std::map<std::string, int> completed = numbers();
    std::erase_if(completed, [&](const auto& entry) { return state_of(entry.first) != Journal::State::created; });
    return completed;
  }
  std::map<std::string, int> numbers() const {
    std::map<std::string, int> numbers;
    for (const FakePlatform::Item& item : platform.items) numbers[item.resource.key()] = item.number;
    return numbers;
  }

  TestContext test;
  FakePlatform platform;
  Plan plan;
  Lines before;

 private:
  Result<> run(const std::function<Result<>(Journal&)>& work) {
    Journal journal = TRY(Journal::open(test.clock, path_));
    return work(journal);
  }
  bool until(std::size_t k, Kill kill, const std::function<Result<>()>& work) {
    platform.calls.clear();
    platform.kill_at = k;
    platform.kill = kill;
    const Result<> outcome = work();
    const bool was_reached = platform.calls.size() > k;
    platform.kill_at.reset();
    platform.calls.clear();
    EXPECT_NE(outcome.ok(), was_reached);
    EXPECT_TRUE(outcome.ok() || outcome.error().code() == Code::cancelled);
    return was_reached;
  }

  const MemoryFolder folder_;
  const std::string path_;
};

void expect_ok(const Result<>& result) { EXPECT_TRUE(result.ok()) << result.error().message(); }

Lines undisturbed_inventory() {
  Runs runs;
  expect_ok(runs.apply());
  return runs.platform.inventory();
}

// Calls `check` for a kill at each call of a run, with each kind of kill, until the run ends before the kill.
void for_each_kill(const std::function<bool(std::size_t k, Kill kill)>& check) {
  for (const Kill kill : kills) {
    std::size_t k = 0;
    while (check(k, kill)) {
      if (testing::Test::HasFailure()) FAIL() << "at call " << k << ", kill " << static_cast<int>(kill);
      ++k;
    }
    EXPECT_GT(k, 8u);
  }
}

TEST(Apply, LooksUpACallWithoutAnswerAndRepeatsIt) {
  for (const int tries : {1, 3}) {
    Runs runs;
    runs.platform.tries = tries;
    runs.platform.fail = [failures = 2](const std::string& call) mutable -> std::optional<Error> {
      if (call != "create volume/base" || failures-- <= 0) return std::nullopt;
      return error(Code::unavailable, "no answer");
    };
    const Result<> outcome = runs.apply();
    EXPECT_EQ(outcome.ok(), tries == 3);
    const auto first = std::ranges::find(runs.platform.calls, "create volume/base");
    const auto looked_up = std::find(first, runs.platform.calls.end(), "find volume/base");
    EXPECT_EQ(looked_up != runs.platform.calls.end(), tries == 3);
    if (tries == 3) {
      EXPECT_EQ(runs.platform.inventory(), undisturbed_inventory());
    }
  }
}

TEST(ApplyTest, CreatesWhatIsPlannedInOrder) {
  Runs runs;
  expect_ok(runs.apply());
  EXPECT_EQ(runs.platform.inventory(),
            (Lines{"machine/c1-master-0 of c1", "machine/c1-master-1 of c1", "network/c1-net of c1", "volume/base of slipway",
                   "volume/c1-master-0.ign of c1", "volume/c1-master-0.qcow2 of c1", "volume/c1-master-1.ign of c1",
                   "volume/c1-master-1.qcow2 of c1", "volume/c10-master-0.qcow2 of c10"}));
  EXPECT_TRUE(runs.has_journal());
}

TEST(ApplyTest, SecondRunChangesNothing) {
  Runs runs;
  expect_ok(runs.apply());
  const auto numbers = runs.numbers();
  expect_ok(runs.apply());
  EXPECT_EQ(runs.numbers(), numbers);
  EXPECT_EQ(runs.platform.calls_with("create"), runs.plan.size());
  EXPECT_EQ(runs.platform.calls_with("remove"), 0u);
}

TEST(ApplyTest, EmitsAnEventForEachResource) {
  Runs runs;
  runs.plan.resize(1);
  expect_ok(runs.apply());
  expect_ok(runs.apply());
  expect_ok(runs.destroy());
  EXPECT_EQ(runs.test.event_lines(),
            (Lines{"resource network/c1-net started", "resource network/c1-net finished", "resource network/c1-net skipped",
                   "resource network/c1-net started", "resource network/c1-net finished"}));
  Lines changes;
  for (const sys::Event& event : runs.test.events()) changes.push_back(text_of(event.fields, {"description"}));
  const std::string created = "network/c1-net is created", removed = "network/c1-net is removed";
  EXPECT_EQ(changes, (Lines{created, created, created, removed, removed}));
}

TEST(ApplyTest, KillAtEachCallThenApply) {
  const Lines expected = undisturbed_inventory();
  for_each_kill([&](std::size_t k, Kill kill) {
    Runs runs;
    const bool was_killed = runs.apply_until(k, kill);
    const std::map<std::string, int> completed = runs.completed();
    expect_ok(runs.apply());
    EXPECT_EQ(runs.platform.inventory(), expected);
    const std::map<std::string, int> numbers = runs.numbers();
    for (const auto& [key, number] : completed) EXPECT_EQ(numbers.at(key), number) << key;
    return was_killed;
  });
}

TEST(ApplyTest, KillAtEachCallThenApplyWithoutTheJournal) {
  const Lines expected = undisturbed_inventory();
  for_each_kill([&](std::size_t k, Kill kill) {
    Runs runs;
    const bool was_killed = runs.apply_until(k, kill);
    runs.lose_journal();
    expect_ok(runs.apply());
    EXPECT_EQ(runs.platform.inventory(), expected);
    return was_killed;
  });
}

TEST(ApplyTest, KillAtEachCallThenDestroy) {
  for_each_kill([&](std::size_t k, Kill kill) {
    Runs runs;
    const bool was_killed = runs.apply_until(k, kill);
    expect_ok(runs.destroy());
    EXPECT_EQ(runs.platform.inventory(), runs.before);
    EXPECT_FALSE(runs.has_journal());
    return was_killed;
  });
}

TEST(ApplyTest, KillAtEachCallThenDestroyWithoutTheJournal) {
  for_each_kill([&](std::size_t k, Kill kill) {
    Runs runs;
    const bool was_killed = runs.apply_until(k, kill);
    runs.lose_journal();
    expect_ok(runs.destroy());
    EXPECT_EQ(runs.platform.inventory(), runs.before);
    return was_killed;
  });
}

TEST(ApplyTest, KillOfDestroyAtEachCallThenDestroyOrApply) {
  const Lines expected = undisturbed_inventory();
  for_each_kill([&](std::size_t k, Kill kill) {
    Runs destroyed, applied;
    expect_ok(destroyed.apply());
    expect_ok(applied.apply());
    const bool was_killed = destroyed.destroy_until(k, kill);
    applied.destroy_until(k, kill);
    expect_ok(destroyed.destroy());
    EXPECT_EQ(destroyed.platform.inventory(), destroyed.before);
    expect_ok(applied.apply());
    EXPECT_EQ(applied.platform.inventory(), expected);
    return was_killed;
  });
}

TEST(ApplyTest, SeriesOfKills) {
  const Lines expected = undisturbed_inventory();
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  for (int series = 0; series < 20; ++series) {
    Runs runs;
    for (int run = 0; run < 4; ++run) {
      const std::size_t k = random() % 16;
      const Kill kill = kills[random() % 3];
      random() % 4 == 0 ? runs.destroy_until(k, kill) : runs.apply_until(k, kill);
    }
    expect_ok(runs.apply());
    EXPECT_EQ(runs.platform.inventory(), expected);
    expect_ok(runs.destroy());
    EXPECT_EQ(runs.platform.inventory(), runs.before);
  }
}

TEST(ApplyTest, ResourceThatSomebodyRemovedIsCreatedAgain) {
  for (const Kill kill : kills) {
    Runs runs;
    expect_ok(runs.apply());
    const Lines expected = runs.platform.inventory();
    std::erase_if(runs.platform.items, [](const auto& item) { return item.resource.key() == "machine/c1-master-1"; });
    // The last call creates the machine. The journal still has it as created.
    runs.apply_until(runs.plan.size(), kill);
    expect_ok(runs.apply());
    EXPECT_EQ(runs.platform.inventory(), expected);
  }
}

TEST(ApplyTest, ResourceThatIsWholeIsKeptAlsoWhenItsUsersAreGone) {
  Runs runs;
  expect_ok(runs.apply());
  const auto numbers = runs.numbers();
  runs.lose_journal();
  expect_ok(runs.apply());
  expect_ok(runs.destroy([](const Found& found) { return found.kind == "machine"; }));
  expect_ok(runs.apply());
  EXPECT_EQ(runs.numbers().at("volume/c1-master-0.qcow2"), numbers.at("volume/c1-master-0.qcow2"));
}

TEST(ApplyTest, ForeignResourceWithAPlannedNameStays) {
  Runs runs;
  runs.platform.items.push_back({.resource = {.kind = "network", .name = "c1-net"}, .owner = "somebody", .is_complete = true});
  const Result<> refused = runs.apply();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::conflict);
  EXPECT_EQ(refused.error().message(),
            "network/c1-net: exists, but does not belong to this cluster (remove or rename it, then run the command again)");
  EXPECT_EQ(runs.platform.items[1].owner, "somebody");
  EXPECT_EQ(runs.platform.items[1].number, 0);
}

TEST(ApplyTest, ErrorHasTheKeyAndTheNextRunContinues) {
  Runs runs;
  runs.platform.fail = [](const std::string& call) -> std::optional<Error> {
    if (call == "create volume/c1-master-1.qcow2") return error(Code::unavailable, "pool is full");
    return std::nullopt;
  };
  const Result<> failed = runs.apply();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), Code::unavailable);
  EXPECT_EQ(failed.error().message(), "volume/c1-master-1.qcow2: pool is full");
  EXPECT_TRUE(std::ranges::count(runs.test.event_lines(), "resource volume/c1-master-1.qcow2 failed"));
  runs.platform.fail = {};
  expect_ok(runs.apply());
  EXPECT_EQ(runs.platform.inventory(), undisturbed_inventory());
}

TEST(ApplyTest, StopEndsIt) {
  Runs runs;
  runs.test.stop.request_stop();
  const Result<> stopped = runs.apply();
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code(), Code::cancelled);
  EXPECT_EQ(runs.platform.inventory(), runs.before);
}

TEST(ApplyTest, EightCallsAtOnce) {
  for (const bool removes : {false, true}) {
    Runs runs;
    runs.plan.clear();
    for (int i = 0; i < 100; ++i) {
      runs.plan.push_back({.kind = "volume", .name = fmt::format("c1-{}", i), .machine = fmt::format("worker-{}", i)});
    }
    if (removes) expect_ok(runs.apply());
    runs.platform.most_in_flight = 0;
    // Each call waits until eight are in flight, and then long enough for a ninth.
    std::mutex mutex;
    std::condition_variable changed;
    int most = 0, in_flight = 0;
    runs.platform.during = [&](const std::string& call) {
      if (call == "scan") return;
      std::unique_lock lock(mutex);
      most = std::max(most, ++in_flight);
      changed.notify_all();
      changed.wait_for(lock, std::chrono::seconds(10), [&] { return most >= calls_at_once; });
      changed.wait_for(lock, Milliseconds(1), [&] { return most > calls_at_once; });
      --in_flight;
    };
    expect_ok(removes ? runs.destroy() : runs.apply());
    EXPECT_EQ(runs.platform.most_in_flight, calls_at_once);
    EXPECT_EQ(runs.platform.items.size(), removes ? 1u : 101u);
  }
}

TEST(DestroyTest, RemovesInTheOrderOfTheScan) {
  Runs runs;
  expect_ok(runs.apply());
  runs.platform.calls.clear();
  expect_ok(runs.destroy());
  EXPECT_EQ(runs.platform.inventory(), runs.before);
  EXPECT_EQ(runs.platform.calls_with("remove"), runs.plan.size());
  EXPECT_EQ(runs.platform.calls_with("scan"), 3u);  // the last two find nothing
  EXPECT_EQ(runs.test.clock.elapsed(), Milliseconds(0));
}

TEST(DestroyTest, ResourcesOfNoMachineAreRemovedOneAfterAnother) {
  Runs runs;
  runs.plan.clear();
  for (int i = 0; i < 20; ++i) runs.plan.push_back({.kind = "volume", .name = fmt::format("base-{}", i), .is_shared = true});
  expect_ok(runs.apply());
  Lines expected = {"scan"};
  for (const FakePlatform::Item& item : runs.platform.items) {
    if (item.resource.is_shared) expected.insert(expected.begin() + 1, "remove " + item.resource.key());
  }
  runs.platform.calls.clear();
  runs.platform.most_in_flight = 0;
  expect_ok(runs.destroy());
  runs.platform.calls.resize(expected.size());
  EXPECT_EQ(runs.platform.calls, expected);
  EXPECT_EQ(runs.platform.most_in_flight, 1);
}

TEST(DestroyTest, SharedResourceStaysWhileAnotherClusterUsesIt) {
  Runs runs, other("c2");
  expect_ok(runs.apply());
  other.platform.items = runs.platform.items;
  const auto numbers = runs.numbers();
  expect_ok(other.apply());
  EXPECT_EQ(other.numbers().at("volume/base"), numbers.at("volume/base"));
  runs.platform.items = other.platform.items;
  expect_ok(runs.destroy());
  EXPECT_TRUE(runs.numbers().contains("volume/base"));
  other.platform.items = runs.platform.items;
  expect_ok(other.destroy());
  EXPECT_EQ(other.platform.inventory(), runs.before);
}

TEST(DestroyTest, ResourceInUseIsRemovedInALaterRound) {
  Runs runs;
  expect_ok(runs.apply());
  runs.platform.scans_needs_first = true;
  expect_ok(runs.destroy());
  EXPECT_EQ(runs.platform.inventory(), runs.before);
  EXPECT_EQ(runs.test.clock.elapsed(), Milliseconds(0));  // each round removed something
  // The removal in several rounds is one event.
  EXPECT_EQ(std::ranges::count(runs.test.event_lines(), "resource network/c1-net started"), 2);
  EXPECT_EQ(std::ranges::count(runs.test.event_lines(), "resource network/c1-net finished"), 2);
  EXPECT_EQ(std::ranges::count(runs.test.event_lines(), "resource network/c1-net failed"), 0);
}

TEST(DestroyTest, UnavailablePlatformIsAskedAgain) {
  for (const std::string unavailable : {"scan", "remove network/c1-net"}) {
    Runs runs;
    expect_ok(runs.apply());
    int failures = 3;
    runs.platform.fail = [&](const std::string& call) -> std::optional<Error> {
      if (call != unavailable || failures-- <= 0) return std::nullopt;
      return error(Code::unavailable, "connection refused");
    };
    expect_ok(runs.destroy());
    EXPECT_EQ(runs.platform.inventory(), runs.before);
    EXPECT_EQ(failures, unavailable == "scan" ? -3 : -1);
  }
}

TEST(DestroyTest, ListsWhatIsLeft) {
  Runs runs;
  expect_ok(runs.apply());
  runs.platform.fail = [](const std::string& call) -> std::optional<Error> {
    if (call != "remove machine/c1-master-1") return std::nullopt;
    return error(Code::internal, "domain is paused");
  };
  const Result<> left = runs.destroy();
  ASSERT_FALSE(left.ok());
  EXPECT_EQ(left.error().code(), Code::unavailable);
  Lines lines;
  for (const std::string_view line : split(left.error().message(), '\n')) lines.emplace_back(line);
  EXPECT_EQ(lines.front(), "resources that could not be removed: 5 (fix the reasons below, then run the command again)");
  EXPECT_EQ(lines.at(1), "machine/c1-master-1: domain is paused");
  std::ranges::sort(lines);
  EXPECT_EQ(lines,
            (Lines{"machine/c1-master-1: domain is paused", "network/c1-net: in use by machine/c1-master-1",
                   "resources that could not be removed: 5 (fix the reasons below, then run the command again)",
                   "volume/base: in use by volume/c1-master-1.qcow2", "volume/c1-master-1.ign: in use by machine/c1-master-1",
                   "volume/c1-master-1.qcow2: in use by machine/c1-master-1"}));
  EXPECT_EQ(runs.test.clock.elapsed(), Seconds(4));  // between five rounds
  EXPECT_EQ(std::ranges::count(runs.test.event_lines(), "resource machine/c1-master-1 failed"), 1);
  runs.platform.fail = {};
  expect_ok(runs.destroy());
  EXPECT_EQ(runs.platform.inventory(), runs.before);
}

TEST(DestroyTest, PlatformThatDoesNotListItsResourcesIsAnError) {
  Runs runs;
  runs.platform.fail = [](const std::string&) { return std::optional(error(Code::unavailable, "connection refused")); };
  const Result<> failed = runs.destroy();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), Code::unavailable);
  EXPECT_EQ(failed.error().message(), "listing the resources of the cluster: connection refused");
  EXPECT_EQ(runs.platform.calls_with("scan"), 5u);
}

TEST(DestroyTest, DeniedEndsIt) {
  Runs runs;
  expect_ok(runs.apply());
  runs.platform.calls.clear();
  runs.platform.fail = [](const std::string& call) -> std::optional<Error> {
    if (!call.starts_with("remove machine")) return std::nullopt;
    return error(Code::denied, "not permitted");
  };
  const Result<> denied = runs.destroy();
  ASSERT_FALSE(denied.ok());
  EXPECT_EQ(denied.error().code(), Code::denied);
  EXPECT_TRUE(denied.error().message().starts_with("machine/c1-master-")) << denied.error().message();
  EXPECT_TRUE(denied.error().message().ends_with(": not permitted")) << denied.error().message();
  EXPECT_EQ(runs.platform.items.size(), runs.plan.size() + 1);
  EXPECT_EQ(runs.platform.calls_with("scan"), 1u);
  EXPECT_EQ(runs.test.clock.elapsed(), Milliseconds(0));
}

TEST(DestroyTest, StopEndsAPause) {
  Runs runs;
  runs.plan.resize(1);
  expect_ok(runs.apply());
  runs.platform.fail = [&](const std::string& call) -> std::optional<Error> {
    if (call == "scan") return std::nullopt;
    runs.test.stop.request_stop();
    return error(Code::unavailable, "connection refused");
  };
  const Result<> stopped = runs.destroy();
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code(), Code::cancelled);
  EXPECT_EQ(runs.platform.calls_with("scan"), 1u);
}

// A platform with resources that have the same name in two places, and that may stay when they are removed.
class PlacesPlatform final : public Platform {
 public:
  std::vector<Found> resources;
  bool removes = true;

  Result<std::optional<Found>> find(const sys::Context&, const Resource&) override { return std::optional<Found>(); }
  Result<> create(const sys::Context&, const Resource&) override { return Ok{}; }
  Result<> remove(const sys::Context&, const Found& found) override {
    if (removes) std::erase(resources, found);
    return Ok{};
  }
  Result<std::vector<Found>> scan(const sys::Context&) override { return resources; }
};

TEST(DestroyTest, SameNameInTwoPlaces) {
  const sys::TempDir temporary = sys::TempDir::make("destroy-test").value();
  TestContext test;
  PlacesPlatform platform;
  for (const char* pool : {"fast", "slow"}) {
    platform.resources.push_back({.kind = "volume", .name = "base", .is_ours = true, .place = pool});
  }
  Journal journal = Journal::open(test.clock, temporary.path() + "/resources.jsonl").value();
  platform.removes = false;
  const Result<> left = destroy(test.context(), platform, journal);
  ASSERT_FALSE(left.ok());
  EXPECT_EQ(left.error().message(),
            "resources that could not be removed: 2 (fix the reasons below, then run the command again)\n"
            "volume/base in fast: still exists after its removal\n"
            "volume/base in slow: still exists after its removal");
  platform.removes = true;
  expect_ok(destroy(test.context(), platform, journal));
  EXPECT_TRUE(platform.resources.empty());
  EXPECT_EQ(test.event_lines().size(), 12u);  // the removals that seemed to succeed, those that failed, and the last ones
}

TEST(DestroyTest, RemovesOnlyWhatIsChosen) {
  Runs runs;
  expect_ok(runs.apply());
  expect_ok(runs.destroy([](const Found& found) { return found.machine == "master-1"; }));
  EXPECT_EQ(runs.platform.inventory(),
            (Lines{"machine/c1-master-0 of c1", "network/c1-net of c1", "volume/base of slipway", "volume/c1-master-0.ign of c1",
                   "volume/c1-master-0.qcow2 of c1", "volume/c10-master-0.qcow2 of c10"}));
  EXPECT_EQ(runs.state_of("machine/c1-master-0"), Journal::State::created);
  EXPECT_EQ(runs.state_of("machine/c1-master-1"), Journal::State::unknown);
  expect_ok(runs.apply());
  EXPECT_EQ(runs.platform.inventory(), undisturbed_inventory());
}

TEST(DestroyTest, ClusterWithoutResourcesIsDestroyed) {
  Runs runs;
  expect_ok(runs.destroy());
  EXPECT_FALSE(runs.has_journal());
  EXPECT_EQ(runs.platform.calls, (Lines{"scan", "scan"}));
}

}  // namespace
}  // namespace slipway::provider::plan
