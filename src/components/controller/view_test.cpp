#include "components/controller/view.h"

#include "base/queue.h"
#include "support/fake_kube.h"
#include "support/test_context.h"
#include "sys/wait_for.h"

#include <gtest/gtest.h>

#include <thread>

namespace slipway::components {
namespace {

using kube::WatchEvent;
using testing_support::FakeKube;
using testing_support::RealTimeContext;

const kube::ResourceType& config_maps = kube::types::config_maps;

Json config_map(std::string_view space, std::string_view name, std::string_view version = "", std::string_view uid = "") {
  JsonObject metadata{{"namespace", space}, {"name", name}};
  if (!version.empty()) metadata["resourceVersion"] = version;
  if (!uid.empty()) metadata["uid"] = uid;
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", std::move(metadata)}};
}

// "space/name" of all objects, in order.
std::string names(const std::vector<const Json*>& objects) {
  std::string text;
  for (const Json* object : objects) text += fmt::format("{}/{} ", kube::namespace_of(*object), kube::name_of(*object));
  return text;
}

std::string names(const View& view, std::string_view space = {}) { return names(view.snapshot().list(config_maps, space)); }

std::string version(const View& view, std::string_view name) {
  const Snapshot snapshot = view.snapshot();
  const Json* object = snapshot.find(config_maps, "a", name);
  return object ? text_of(*object, {"metadata", "resourceVersion"}) : "none";
}

TEST(Snapshot, FindsAndListsByNamespaceAndName) {
  View view;
  view.put(config_map("b", "z"));
  view.put(config_map("b", "y"));
  view.put(config_map("a", "x"));
  view.put(config_map("bb", "w"));
  EXPECT_EQ(names(view), "a/x b/y b/z bb/w ");
  EXPECT_EQ(names(view, "b"), "b/y b/z ");
  EXPECT_EQ(names(view, "c"), "");
  EXPECT_EQ(view.snapshot().find(config_maps, "b", "x"), nullptr);
  EXPECT_NE(view.snapshot().find(config_maps, "b", "y"), nullptr);
}

TEST(Snapshot, KeepsGroupsApart) {
  View view;
  const kube::ResourceType ours{"slipway.internal", "v1", "nodes", "Node", false};
  view.put({{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "m"}}}});
  EXPECT_EQ(view.snapshot().find(ours, "", "m"), nullptr);
  view.put({{"apiVersion", "slipway.internal/v1"}, {"kind", "Node"}, {"metadata", {{"name", "m"}}}, {"fact", 1}});
  EXPECT_EQ(view.snapshot().list(kube::types::nodes).size(), 1u);
  EXPECT_NE(find(*view.snapshot().find(ours, "", "m"), {"fact"}), nullptr);
}

TEST(Snapshot, NeverChanges) {
  View view;
  view.put(config_map("a", "x", "1"));
  const Snapshot before = view.snapshot();
  const Json* object = before.find(config_maps, "a", "x");
  view.put(config_map("a", "x", "2"));
  view.remove(config_maps, "a", "x");
  EXPECT_EQ(before.find(config_maps, "a", "x"), object);
  EXPECT_EQ(find_string(*object, {"metadata", "resourceVersion"}), "1");
  EXPECT_EQ(names(view), "");
}

TEST(View, TakesWhatIsNotOlder) {
  View view;
  view.put(config_map("a", "x", "9"));
  view.put(config_map("a", "x", "10"));
  EXPECT_EQ(version(view, "x"), "10") << "numbers, not texts";
  view.put(config_map("a", "x", "9"));
  EXPECT_EQ(version(view, "x"), "10");
  Json other = config_map("a", "x", "10");
  other.as_object()["data"] = {{"k", "v"}};
  view.put(other);
  EXPECT_NE(find(*view.snapshot().find(config_maps, "a", "x"), {"data"}), nullptr);
}

TEST(View, TellsOnlyWhatDiffers) {
  View view;
  view.put(config_map("a", "x", "9"));
  const std::uint64_t seen = view.changed().count();
  view.put(config_map("a", "x", "9"));
  view.put(config_map("a", "x", "8"));
  view.remove(config_maps, "a", "y");
  EXPECT_EQ(view.changed().count(), seen);
  view.put(config_map("a", "x", "10"));
  EXPECT_EQ(view.changed().count(), seen + 1);
  view.remove(config_maps, "a", "x");
  EXPECT_EQ(view.changed().count(), seen + 2);
}

TEST(View, IsNotCompleteBeforeItFollows) {
  View view;
  EXPECT_FALSE(view.is_complete());
}

// Follows on its own thread; `until` waits for a change.
class Follower {
 public:
  Follower(kube::Api& api, std::vector<Watched> watched) : watched_(std::move(watched)) {
    thread_ = std::jthread([this, &api] { ended_ = view.follow(test_.context(), api, watched_); });
  }
  ~Follower() { (void)stop(); }

  Result<> stop() {
    test_.stop.request_stop();
    if (thread_.joinable()) thread_.join();
    return ended_;
  }

  bool until(const std::function<bool()>& is_so) {
    return sys::wait_for(
               test_.context(), "the view", Seconds(10),
               [&]() -> Result<sys::Observation> { return is_so() ? sys::Observation::done() : sys::Observation::not_yet("no"); },
               &view.changed())
        .ok();
  }
  bool until(std::string_view expected) {
    const bool is_so = until([&] { return view.is_complete() && names(view) == expected; });
    EXPECT_TRUE(is_so) << "there is " << names(view) << "instead of " << expected;
    return is_so;
  }

  View view;

 private:
  RealTimeContext test_;
  std::vector<Watched> watched_;
  Result<> ended_ = Ok{};
  std::jthread thread_;
};

TEST(View, FollowsSeveralNamespacesAndTypes) {
  FakeKube kube;
  kube.put(config_map("a", "x"));
  kube.put(config_map("b", "x"));
  kube.put(config_map("c", "unseen"));
  Follower follower(kube, {{config_maps, "a"}, {config_maps, "b"}, {kube::types::nodes}});
  ASSERT_TRUE(follower.until("a/x b/x "));
  kube.drop(config_maps, "a", "x");
  ASSERT_TRUE(follower.until("b/x ")) << "a watch takes away only what is its own";
  kube.put(config_map("a", "y"));
  kube.put(config_map("c", "z"));
  ASSERT_TRUE(follower.until("a/y b/x "));
  kube.put({{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "m"}}}});
  EXPECT_TRUE(follower.until([&] { return follower.view.snapshot().list(kube::types::nodes).size() == 1; }));
  EXPECT_EQ(follower.stop().error().code(), Code::cancelled);
}

TEST(View, IsCompleteWhenEachWatchHasTold) {
  FakeKube kube;
  std::atomic<bool> is_open = false;
  kube.fail_request = [&](const kube::ApiRequest& request) -> std::optional<Error> {
    if (is_open || !request.path.starts_with("/api/v1/nodes")) return std::nullopt;
    return error(Code::unavailable, "not yet");
  };
  kube.put(config_map("a", "x"));
  Follower follower(kube, {{config_maps, "a"}, {kube::types::nodes}});
  ASSERT_TRUE(follower.until([&] { return names(follower.view) == "a/x "; }));
  EXPECT_FALSE(follower.view.is_complete());
  is_open = true;
  EXPECT_TRUE(follower.until([&] { return follower.view.is_complete(); })) << "an empty list is a list, and wakes";
}

TEST(View, IsCompleteAtOnceWhenNothingIsWatched) {
  FakeKube kube;
  Follower follower(kube, {});
  EXPECT_TRUE(follower.until([&] { return follower.view.is_complete(); }));
  EXPECT_EQ(follower.stop().error().code(), Code::cancelled);
}

TEST(View, EndsWhenAWatchIsDenied) {
  FakeKube kube;
  kube.fail_request = [](const kube::ApiRequest& request) -> std::optional<Error> {
    if (!request.path.starts_with("/api/v1/nodes")) return std::nullopt;
    return error(Code::denied, "nodes is forbidden");
  };
  RealTimeContext test;
  View view;
  const Result<> ended = view.follow(test.context(), kube, {{config_maps, "a"}, {kube::types::nodes}});
  EXPECT_EQ(ended.error().code(), Code::denied);
  EXPECT_EQ(ended.error().message(), "watching nodes: nodes is forbidden");
}

// A server whose watch delivers what the test gives it, when the test says so: a watch that is behind.
class SlowServer final : public kube::Api {
 public:
  explicit SlowServer(JsonArray first) : list_(std::move(first)) {}

  Result<Json> send(const sys::Context&, const kube::ApiRequest&) override {
    return list_.with_lock([](const JsonArray& list) { return Json{{"items", list}, {"metadata", {{"resourceVersion", "1"}}}}; });
  }
  Result<> stream(const sys::Context& context, const std::string&, const std::function<Result<>(WatchEvent)>& on_event) override {
    while (const std::optional<std::optional<WatchEvent>> event = events_.pop(context.stop)) {
      if (!*event) return error(Code::conflict, "too old resource version");
      TRY(on_event(**event));
    }
    return error(Code::cancelled, "stopped");
  }

  void tell(WatchEvent::Kind kind, Json object) { events_.push(WatchEvent{kind, std::move(object)}); }
  void list_again(JsonArray objects) {
    list_.with_lock([&](JsonArray& list) { list = std::move(objects); });
    events_.push(std::nullopt);
  }

 private:
  Guarded<JsonArray> list_;
  Queue<std::optional<WatchEvent>> events_;
};

struct BehindTheTimes : testing::Test {
  SlowServer server{{config_map("a", "x", "5", "one")}};
  Follower follower{server, {{config_maps, "a"}}};
  View& view = follower.view;

  void SetUp() override { ASSERT_TRUE(follower.until("a/x ")); }

  // Returns when the watch has delivered everything up to now.
  void settle() {
    const std::string mark = fmt::format("mark-{}", ++marks_);
    server.tell(WatchEvent::Kind::added, config_map("a", mark, "1"));
    ASSERT_TRUE(follower.until([&] { return version(view, mark) == "1"; }));
  }

 private:
  int marks_ = 0;
};

TEST_F(BehindTheTimes, WhatWasWrittenStays) {
  view.put(config_map("a", "x", "9", "one"));
  view.put(config_map("a", "new", "10", "two"));
  server.tell(WatchEvent::Kind::modified, config_map("a", "x", "7", "one"));
  settle();
  EXPECT_EQ(version(view, "x"), "9");
  EXPECT_EQ(version(view, "new"), "10") << "that it does not tell yet does not mean that it is gone";
  server.tell(WatchEvent::Kind::modified, config_map("a", "x", "11", "one"));
  settle();
  EXPECT_EQ(version(view, "x"), "11");
}

TEST_F(BehindTheTimes, WhatWasRemovedStaysAway) {
  view.remove(config_maps, "a", "x");
  settle();
  EXPECT_EQ(version(view, "x"), "none");
  server.tell(WatchEvent::Kind::modified, config_map("a", "x", "7", "one"));
  settle();
  EXPECT_EQ(version(view, "x"), "none") << "changed by another just before";
  server.tell(WatchEvent::Kind::deleted, config_map("a", "x", "8", "one"));
  server.tell(WatchEvent::Kind::added, config_map("a", "x", "9", "two"));
  settle();
  EXPECT_EQ(version(view, "x"), "9");
}

TEST_F(BehindTheTimes, WhatWasRemovedButHasFinalizersIsSeenLeaving) {
  view.remove(config_maps, "a", "x");
  Json leaving = config_map("a", "x", "7", "one");
  leaving.at("metadata").as_object()["deletionTimestamp"] = "2026-11-21T12:00:00Z";
  server.tell(WatchEvent::Kind::modified, leaving);
  settle();
  EXPECT_EQ(version(view, "x"), "7");
  server.tell(WatchEvent::Kind::deleted, leaving);
  settle();
  EXPECT_EQ(version(view, "x"), "none");
}

TEST_F(BehindTheTimes, WhatWasMadeAnewIsNotTheOldOne) {
  view.remove(config_maps, "a", "x");
  view.put(config_map("a", "x", "9", "two"));
  server.tell(WatchEvent::Kind::modified, config_map("a", "x", "7", "one"));
  settle();
  EXPECT_EQ(version(view, "x"), "9");
  server.tell(WatchEvent::Kind::deleted, config_map("a", "x", "8", "one"));
  settle();
  EXPECT_EQ(version(view, "x"), "9");
}

TEST_F(BehindTheTimes, WhatWasMadeAnewAndRemovedStaysAwayToo) {
  view.put(config_map("a", "x", "9", "two"));
  view.remove(config_maps, "a", "x");
  server.tell(WatchEvent::Kind::modified, config_map("a", "x", "7", "one"));
  settle();
  EXPECT_EQ(version(view, "x"), "none");
  server.tell(WatchEvent::Kind::deleted, config_map("a", "x", "8", "one"));
  server.tell(WatchEvent::Kind::added, config_map("a", "x", "9", "two"));
  settle();
  EXPECT_EQ(version(view, "x"), "none");
  server.tell(WatchEvent::Kind::deleted, config_map("a", "x", "10", "two"));
  server.tell(WatchEvent::Kind::added, config_map("a", "x", "11", "three"));
  settle();
  EXPECT_EQ(version(view, "x"), "11");
}

TEST_F(BehindTheTimes, WhatIsGoneWhenItListsAgainIsGone) {
  view.put(config_map("a", "ours", "20", "two"));
  server.list_again({config_map("a", "other", "30", "three")});
  ASSERT_TRUE(follower.until("a/other ")) << "x was reported before, ours was made and removed in between";
}

}  // namespace
}  // namespace slipway::components
