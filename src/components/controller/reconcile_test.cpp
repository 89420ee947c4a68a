#include "components/controller/reconcile.h"

#include "support/fake_kube.h"
#include "support/test_context.h"
#include "support/test_objects.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace slipway::components {
namespace {

using kube::types::config_maps;
using kube::types::nodes;
using testing_support::config_map;
using testing_support::FakeKube;
using testing_support::node;
using testing_support::RealTimeContext;
using testing_support::TestContext;

TEST(PlanAdd, TakesAllAndTheEarlierTime) {
  const WallTime noon{Milliseconds(1'795'262'400'000)};
  Plan plan;
  plan.add({.desired_objects = {{config_maps, config_map("a")}}, .replan_at = noon});
  plan.add({.desired_objects = {{config_maps, config_map("b")}},
            .tasks = {{"t", {}}},
            .notices = {{{}, "r", "m"}},
            .replan_at = noon - Seconds(1)});
  plan.add({.replan_at = noon + Seconds(1)});
  plan.add({});
  EXPECT_EQ(plan.desired_objects.size(), 2u);
  EXPECT_EQ(plan.tasks.size(), 1u);
  EXPECT_EQ(plan.notices.size(), 1u);
  EXPECT_EQ(plan.replan_at, noon - Seconds(1));
}

// Reconciles until `plan` calls stop(), or for ten seconds.
template <class Context>
struct WorldWith {
  Context test;
  FakeKube kube;
  kube::Api* api = &kube;
  View view;
  std::vector<Watched> watched{{config_maps, "kube-system"}};
  int rounds = 0;

  Plan stop() {
    test.stop.request_stop();
    return {};
  }

  Result<> run(const std::function<Result<Plan>(const Snapshot& seen, WallTime now)>& plan) {
    RealTimeContext alarm;
    std::atomic<bool> is_late = false;
    std::jthread guard([&](const std::stop_token& over) {
      alarm.clock.wait(alarm.clock.steady() + Seconds(10), over, nullptr, 0);
      if (over.stop_requested()) return;
      is_late = true;
      test.stop.request_stop();
    });
    const Reconciliation work{.manager = "tester",
                              .watched = watched,
                              .plan =
                                  [&](const Snapshot& seen, WallTime now) {
                                    ++rounds;
                                    return plan(seen, now);
                                  },
                              .view = view};
    Result<> ended = reconcile(test.context(), *api, work);
    EXPECT_FALSE(is_late) << "it did not come to its end";
    return ended;
  }

  int requests(std::string_view start) const {
    int count = 0;
    for (const std::string& request : kube.requests()) count += request.starts_with(start) ? 1 : 0;
    return count;
  }
  int logged(std::string_view text) const {
    int count = 0;
    for (const std::string& line : test.logged()) count += line.find(text) != std::string::npos ? 1 : 0;
    return count;
  }
  std::string data(const std::string& name) const {
    const std::optional<Json> object = kube.stored(config_maps, "kube-system", name);
    return object ? emit_json(find_object(*object, {"data"}), JsonStyle::compact) : "none";
  }
  // Changes an object that is watched, which triggers a plan.
  void poke() { kube.put(config_map(fmt::format("poke-{}", ++pokes))); }

 private:
  int pokes = 0;
};
using World = WorldWith<RealTimeContext>;
using TimelessWorld = WorldWith<TestContext>;  // virtual time

bool has(const Snapshot& seen, std::string_view name) { return seen.find(config_maps, "kube-system", name) != nullptr; }

TEST(Reconcile, WritesWhatIsWishedAndThenNothing) {
  World world;
  world.kube.put(config_map("changed", {{"a", "1"}, {"b", "2"}}, {{"x", "1"}, {"y", "2"}}));
  world.kube.put(config_map("left", {{"a", "1"}}));
  world.kube.put(config_map("gone"));
  const Plan wished{.desired_objects = {{config_maps, config_map("new", {{"k", "v"}}, {{"x", nullptr}, {"z", "3"}})},
                                        {config_maps, config_map("changed", {{"a", "9"}}, {{"x", nullptr}, {"z", "3"}})},
                                        {config_maps, config_map("left", {{"a", "2"}}), DesiredObject::How::create},
                                        {config_maps, config_map("made", {{"a", "2"}}), DesiredObject::How::create},
                                        {config_maps, config_map("gone"), DesiredObject::How::remove},
                                        {config_maps, config_map("never"), DesiredObject::How::remove},
                                        {nodes, node("m", "a")}}};  // not watched
  int written = 0;
  const Result<> ended = world.run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
    if (world.rounds == 1) {
      EXPECT_TRUE(has(seen, "changed")) << "all is seen before the first plan";
      return wished;
    }
    for (const DesiredObject& desired : wished.desired_objects)
      EXPECT_TRUE(is_fulfilled(desired, seen)) << kube::describe(desired.object);
    if (written == 0) written = world.kube.writes();
    if (world.rounds == 6) return world.stop();
    world.poke();
    return wished;
  });
  EXPECT_EQ(ended.error().code(), Code::cancelled);
  EXPECT_EQ(written, 5);
  EXPECT_EQ(world.kube.writes(), 5) << "nothing is written when all is so";
  EXPECT_EQ(world.data("new"), R"({"k":"v"})");
  EXPECT_EQ(world.data("changed"), R"({"a":"9"})");
  EXPECT_EQ(world.data("left"), R"({"a":"1"})");
  EXPECT_EQ(world.data("made"), R"({"a":"2"})");
  EXPECT_EQ(world.data("gone"), "none");
  for (const char* name : {"new", "changed"}) {
    const Json annotations = find_object(*world.kube.stored(config_maps, "kube-system", name), {"metadata", "annotations"});
    EXPECT_EQ(emit_json(annotations, JsonStyle::compact),
              name == std::string_view("new") ? R"({"z":"3"})" : R"({"y":"2","z":"3"})");
  }
  EXPECT_EQ(world.requests("GET /api/v1/nodes/m"), 1) << "what no watch covers is looked up once";
  EXPECT_EQ(world.requests("GET /api/v1/namespaces/kube-system/configmaps/"), 0) << "what a watch covers is not";
}

TEST(Reconcile, WritesAStatusAndOnlyThat) {
  World world;
  world.watched = {{nodes}};
  world.kube.put(node("m", "a"));
  ASSERT_EQ(world
                .run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
                  Json wanted = *seen.find(nodes, "", "m");
                  if (find(wanted, {"status"})) return world.stop();
                  wanted.at("metadata").at("labels") = {{"zone", "b"}};
                  wanted.as_object()["status"] = {{"phase", "fine"}};
                  return Plan{.desired_objects = {{nodes, wanted, DesiredObject::How::status}}};
                })
                .error()
                .code(),
            Code::cancelled);
  const Json live = *world.kube.stored(nodes, "", "m");
  EXPECT_EQ(find_string(live, {"status", "phase"}), "fine");
  EXPECT_EQ(find_string(live, {"metadata", "labels", "zone"}), "a");
  EXPECT_EQ(world.rounds, 2);
}

TEST(Reconcile, WritesAStatusThatIsAMemberLikeOthers) {
  World world;
  world.kube.serve(kube::types::networks, false);
  world.watched = {{kube::types::networks}};
  world.kube.put({{"apiVersion", "config.openshift.io/v1"}, {"kind", "Network"}, {"metadata", {{"name", "cluster"}}}});
  ASSERT_EQ(world
                .run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
                  Json wanted = *seen.find(kube::types::networks, "", "cluster");
                  if (find(wanted, {"status"})) return world.stop();
                  wanted.as_object()["status"] = {{"networkType", "Flannel"}};
                  return Plan{.desired_objects = {{kube::types::networks, wanted, DesiredObject::How::status}}};
                })
                .error()
                .code(),
            Code::cancelled);
  EXPECT_EQ(find_string(*world.kube.stored(kube::types::networks, "", "cluster"), {"status", "networkType"}), "Flannel");
  EXPECT_EQ(world.rounds, 2);
}

TEST(Reconcile, WritesNothingElseWhenTheObjectOfAStatusIsGone) {
  World world;
  world.watched = {{nodes}};
  world.kube.put(node("m", "a"));
  ASSERT_EQ(world
                .run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
                  const Json* known = seen.find(nodes, "", "m");
                  if (!known) return world.stop();
                  Json wanted = *known;
                  wanted.as_object()["status"] = {{"phase", "fine"}};
                  world.kube.drop(nodes, "", "m");
                  return Plan{.desired_objects = {{nodes, wanted, DesiredObject::How::status}}};
                })
                .error()
                .code(),
            Code::cancelled);
  EXPECT_EQ(world.requests("PUT /api/v1/nodes/m/status"), 1);
  EXPECT_EQ(world.requests("PUT /api/v1/nodes/m"), 1) << "only a type without the subresource gets its whole object written";
}

TEST(Reconcile, KnowsWhatItWroteBeforeTheWatchSaysSo) {
  World world;
  world.watched = {{nodes}};  // no watch covers ConfigMaps
  (void)world.run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
    Plan plan;
    if (!has(seen, "first")) {
      plan.desired_objects = {{config_maps, config_map("first")}};
    } else if (!has(seen, "second")) {
      plan.desired_objects = {{config_maps, config_map("second")}};
    } else {
      return world.stop();
    }
    return plan;
  });
  EXPECT_EQ(world.rounds, 3);
  EXPECT_EQ(world.kube.writes(), 2);
}

TEST(Reconcile, MakesObjectsOfCopiesOfOthers) {
  World world;
  world.kube.put(config_map("origin", {{"k", "v"}}));
  (void)world.run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
    if (has(seen, "copy")) return world.stop();
    Json copy = *seen.find(config_maps, "kube-system", "origin");
    copy.at("metadata").as_object()["name"] = "copy";
    return Plan{.desired_objects = {{config_maps, copy}}};
  });
  EXPECT_EQ(world.data("copy"), R"({"k":"v"})");
  EXPECT_EQ(world.logged("warning"), 0);
}

TEST(Reconcile, PlansAgainAfterAConflictAndSaysNothing) {
  World world;
  world.kube.put(config_map("c", {{"n", "1"}}));
  int tasks = 0;
  (void)world.run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
    const std::string known(find_string(*seen.find(config_maps, "kube-system", "c"), {"data", "n"}).value_or(""));
    if (known == "3") return world.stop();
    if (world.rounds == 1) world.kube.put(config_map("c", {{"n", "2"}}));  // another writer is faster
    const std::string message = "it was " + known;
    return Plan{.desired_objects = {{config_maps, config_map("c", {{"n", "3"}})}},
                .tasks = {{"counting",
                           [&](const sys::Context&) -> Result<> {
                             ++tasks;
                             return Ok{};
                           }}},
                .notices = {{config_map("c"), "Changed", message}}};
  });
  EXPECT_EQ(world.data("c"), R"({"n":"3"})");
  EXPECT_EQ(tasks, 1) << "not with a plan that did not come true";
  EXPECT_EQ(world.logged("it was 1"), 0) << "a mistaken error is not logged";
  EXPECT_EQ(world.logged("it was 2"), 1);
  EXPECT_EQ(world.logged("warning"), 0);
}

TEST(Reconcile, SaysWhatCameTrueBesideAConflict) {
  World world;
  world.kube.put(config_map("mine", {{"n", "1"}}));
  world.kube.put(config_map("c", {{"n", "1"}}));
  (void)world.run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
    const auto known = [&](std::string_view name) {
      return text_of(*seen.find(config_maps, "kube-system", name), {"data", "n"});
    };
    if (known("c") == "3") return world.stop();
    if (world.rounds == 1) world.kube.put(config_map("c", {{"n", "2"}}));  // another writer is faster
    Plan plan{.desired_objects = {{config_maps, config_map("mine", {{"n", "2"}})}, {config_maps, config_map("c", {{"n", "3"}})}}};
    // Like a notice about a status: after the write, no plan contains it again.
    if (known("mine") == "1") plan.notices = {{config_map("mine"), "Changed", "mine is new"}};
    return plan;
  });
  EXPECT_EQ(world.logged("mine is new"), 1);
}

TEST(Reconcile, TakesWhatAnotherMadeFirst) {
  World world;
  world.watched = {{nodes}};
  // Between the read and the write.
  world.kube.fail_request = [&](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method == "POST") world.kube.put(config_map("c", {{"theirs", "1"}}));
    return std::nullopt;
  };
  (void)world.run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
    if (has(seen, "c")) return world.stop();
    return Plan{.desired_objects = {{config_maps, config_map("c", {{"ours", "1"}}), DesiredObject::How::create}}};
  });
  EXPECT_EQ(world.data("c"), R"({"theirs":"1"})");
  EXPECT_EQ(world.logged("warning"), 0);
}

TEST(Reconcile, SaysWhenConflictsDoNotEnd) {
  World world;
  int refused = 0;
  world.kube.fail_request = [&](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method != "POST" || ++refused > 6) return std::nullopt;
    return error(Code::conflict, "POST configmaps: being deleted");
  };
  (void)world.run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
    if (has(seen, "c")) return world.stop();
    return Plan{.desired_objects = {{config_maps, config_map("c")}}};
  });
  EXPECT_EQ(refused, 7);
  EXPECT_EQ(world.logged("being deleted; retrying"), 1);
}

TEST(Reconcile, TriesAgainWhatFailedAndTheRestAtOnce) {
  TimelessWorld world;
  std::vector<Milliseconds> tries;
  world.kube.fail_request = [&](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method != "POST" || kube::name_of(*request.body) != "bad") return std::nullopt;
    tries.push_back(world.test.clock.elapsed());
    if (tries.size() == 12) return std::nullopt;
    return error(Code::unavailable, "POST configmaps: etcd has no leader");
  };
  int tasks = 0;
  std::string others;
  (void)world.run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
    if (has(seen, "bad")) return tasks > 0 ? world.stop() : Plan{.replan_at = WallTime()};
    if (world.rounds == 2) others = world.data("good");
    return Plan{.desired_objects = {{config_maps, config_map("bad")}, {config_maps, config_map("good", {{"k", "v"}})}},
                .tasks = {{"counting", [&](const sys::Context&) -> Result<> {
                             ++tasks;
                             return Ok{};
                           }}}};
  });
  EXPECT_EQ(others, R"({"k":"v"})") << "one that fails does not keep the others";
  EXPECT_EQ(tasks, 1);
  EXPECT_EQ(world.logged("warning: POST configmaps: etcd has no leader; retrying"), 1) << "once, not each try";
  ASSERT_EQ(tries.size(), 12u);
  for (std::size_t i = 1; i < tries.size(); ++i) {
    EXPECT_GE(tries[i] - tries[i - 1], Milliseconds(100)) << "not more than ten times a second";
    EXPECT_LE(tries[i] - tries[i - 1], Milliseconds(15'000));
  }
  EXPECT_EQ(tries[11] - tries[10], Milliseconds(15'000)) << "the pause grows";
  const std::string counted = world.kube.counted.samples({});
  EXPECT_NE(counted.find("slipway_reconciles_total{controller=\"tester\",result=\"failed\"} 11\n"), std::string::npos) << counted;
  EXPECT_NE(counted.find("slipway_reconciles_total{controller=\"tester\",result=\"done\"} 1\n"), std::string::npos) << counted;
}

TEST(Reconcile, TriesAgainAtOnceWhenSomethingChanges) {
  World world;
  std::atomic<bool> is_ready = false;
  SteadyTime ready;
  world.kube.fail_request = [&](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method != "POST" || is_ready) return std::nullopt;
    return error(Code::unavailable, "not yet");
  };
  (void)world.run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
    if (has(seen, "c")) return world.stop();
    if (world.rounds == 5) {  // the pause is 1.6 s by now
      is_ready = true;
      ready = world.test.clock.steady();
      world.poke();
    }
    return Plan{.desired_objects = {{config_maps, config_map("c")}}};
  });
  EXPECT_LT(world.test.clock.steady() - ready, Seconds(1));
}

TEST(Reconcile, TellsWhatFailsOnceMoreAfterItWentWell) {
  TimelessWorld world;
  int tries = 0;
  (void)world.run([&](const Snapshot&, WallTime now) -> Result<Plan> {
    if (tries == 8) return world.stop();
    return Plan{.tasks = {{"promoting master-1",
                           [&](const sys::Context&) -> Result<> {
                             if (++tries % 4 == 0) return Ok{};
                             return error(Code::unavailable, "etcd is away");
                           }},
                          {"removing the bootstrap",
                           [&](const sys::Context&) -> Result<> {
                             EXPECT_EQ(tries % 4, 0) << "the one before it failed";
                             return Ok{};
                           }}},
                .replan_at = now};
  });
  EXPECT_EQ(world.logged("warning: promoting master-1 failed: etcd is away; retrying"), 2);
}

TEST(Reconcile, TellsANoticeOnce) {
  World world;
  int refused = 0;
  world.kube.fail_request = [&](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method != "POST" || request.path.find("/events") == std::string::npos || ++refused > 2) return std::nullopt;
    return error(Code::unavailable, "connection reset");
  };
  (void)world.run([&](const Snapshot&, WallTime) -> Result<Plan> {
    Plan plan;
    if (world.rounds < 3) plan.notices = {{config_map("c"), "RevisionCreated", "revision 1: first"}};
    if (world.rounds == 2) plan.notices.push_back({config_map("c"), "NodeFailed", "master-1", true});
    if (world.rounds == 6) return world.stop();
    world.poke();
    return plan;
  });
  EXPECT_EQ(world.logged("info: RevisionCreated: revision 1: first"), 1);
  EXPECT_EQ(world.logged("warning: NodeFailed: master-1"), 1);
  const std::vector<Json> events = world.kube.stored_all(kube::types::events);
  ASSERT_EQ(events.size(), 2u) << "they are sent although the server did not answer at first";
  for (const Json& event : events) {
    EXPECT_EQ(find(event, {"count"})->as_int64(), 1);
    EXPECT_EQ(find_string(event, {"source", "component"}), "tester");
    const bool is_failure = find_string(event, {"reason"}) == "NodeFailed";
    EXPECT_EQ(find_string(event, {"type"}), is_failure ? "Warning" : "Normal");
  }
}

TEST(Reconcile, PlansAgainWhenThePlanSaysSo) {
  TimelessWorld world;
  std::optional<WallTime> first, second;
  (void)world.run([&](const Snapshot&, WallTime now) -> Result<Plan> {
    if (!first) first = now;
    if (now >= *first + Seconds(120)) {
      second = now;
      return world.stop();
    }
    return Plan{.replan_at = *first + Seconds(120)};
  });
  EXPECT_EQ(*second - *first, Seconds(120));
}

TEST(Reconcile, LooksNowAndThenAtWhatNoWatchCovers) {
  TimelessWorld world;
  bool is_dropped = false;
  Milliseconds dropped{};
  (void)world.run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
    const Plan plan{.desired_objects = {{nodes, node("m", "a")}}};
    if (!is_fulfilled(plan.desired_objects[0], seen)) return plan;
    if (!is_dropped) {
      world.kube.drop(nodes, "", "m");
      dropped = world.test.clock.elapsed();
    }
    is_dropped = true;
    return world.kube.stored(nodes, "", "m") ? world.stop() : plan;
  });
  EXPECT_TRUE(is_dropped);
  EXPECT_GE(world.test.clock.elapsed() - dropped, Seconds(299));
  EXPECT_LE(world.test.clock.elapsed() - dropped, Seconds(601));
}

// A server that does not store a status field that its schema does not know.
class Forgetful final : public kube::Api {
 public:
  explicit Forgetful(kube::Api& api) : api_(api) {}
  Result<Json> send(const sys::Context& context, const kube::ApiRequest& request) override {
    kube::ApiRequest kept = request;
    if (request.path.ends_with("/status")) kept.body->as_object()["status"] = JsonObject();
    return api_.send(context, kept);
  }
  Result<> stream(const sys::Context& context, const std::string& path,
                  const std::function<Result<>(kube::WatchEvent)>& on_event) override {
    return api_.stream(context, path, on_event);
  }

 private:
  kube::Api& api_;
};

TEST(Reconcile, WarnsOnceWhenTheServerKeepsSomethingElse) {
  World world;
  Forgetful api(world.kube);
  world.api = &api;
  world.watched = {{nodes}};
  world.kube.put(node("m", "a"));
  int tasks = 0;
  (void)world.run([&](const Snapshot& seen, WallTime) -> Result<Plan> {
    if (world.rounds == 4) return world.stop();
    Json wanted = *seen.find(nodes, "", "m");
    wanted.as_object()["status"] = {{"misspelt", 2}};
    return Plan{.desired_objects = {{nodes, wanted, DesiredObject::How::status}},
                .tasks = {{"poking", [&](const sys::Context&) -> Result<> {
                             world.kube.put(node("m", std::to_string(++tasks)));
                             return Ok{};
                           }}}};
  });
  EXPECT_EQ(world.logged("warning: Node m: written, but the server stores a different status"), 1);
  EXPECT_EQ(world.logged("warning"), 1);
  EXPECT_GE(tasks, 2) << "it is no failure";
}

TEST(Reconcile, EndsWhenItCannotPlanOrWatch) {
  World world;
  const Result<> ended =
      world.run([&](const Snapshot&, WallTime) -> Result<Plan> { return error(Code::invalid, "settings: no version"); });
  EXPECT_EQ(ended.error().code(), Code::invalid);
  EXPECT_EQ(ended.error().message(), "settings: no version");

  World denied;
  denied.kube.fail_request = [](const kube::ApiRequest&) { return error(Code::denied, "forbidden"); };
  EXPECT_EQ(denied.run([](const Snapshot&, WallTime) -> Result<Plan> { return Plan{}; }).error().code(), Code::denied);
}

}  // namespace
}  // namespace slipway::components
