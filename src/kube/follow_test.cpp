#include "kube/client.h"
#include "support/fake_kube.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace slipway::kube {
namespace {

using testing_support::FakeKube;
using testing_support::RealTimeContext;
using testing_support::TestContext;

Json node(const char* name) { return {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", name}}}}; }

std::string names(const Objects& objects) {
  std::string text;
  for (const Json& object : objects) text += fmt::format("{} ", name_of(object));
  return text;
}

int count(const FakeKube& kube, std::string_view start) {
  int found = 0;
  for (const std::string& request : kube.requests()) found += request.starts_with(start) ? 1 : 0;
  return found;
}

const Error enough = error(Code::internal, "enough");

// Follows nodes. Each call of `changed` runs the next step; the last step ends it.
Result<> follow_nodes(const sys::Context& context, FakeKube& kube,
                      const std::vector<std::pair<std::string, std::function<void()>>>& steps) {
  std::size_t step = 0;
  return follow(context, kube, types::nodes, "", {}, [&](const Objects& objects) -> Result<> {
    EXPECT_EQ(names(objects), steps[step].first) << "step " << step;
    steps[step].second();
    if (++step == steps.size()) return enough;
    return Ok{};
  });
}

TEST(Follow, GoesOnFromItsVersionWhenTheServerEndsAWatch) {
  TestContext test;
  FakeKube kube;
  kube.put(node("a"));
  const Result<> ended = follow_nodes(test.context(), kube,
                                      {{"a ", [&] { kube.put(node("b")); }},
                                       {"a b ",
                                        [&] {
                                          kube.end_watches();
                                          kube.put(node("c"));
                                        }},
                                       {"a b c ", [&] { kube.drop(types::nodes, "", "a"); }},
                                       {"b c ", [] {}}});
  EXPECT_EQ(ended.error().message(), "enough");
  EXPECT_EQ(count(kube, "GET /api/v1/nodes"), 1);
  EXPECT_GE(count(kube, "WATCH /api/v1/nodes?"), 1);
}

// Keeps nodes with a label, and of them the name and the label.
Json reduce_node(const Json& object) {
  const auto label = find_string(object, {"metadata", "labels", "keep"});
  if (!label) return nullptr;
  return {{"metadata", {{"name", name_of(object)}, {"label", *label}}}};
}

TEST(Follow, ReducesObjects) {
  TestContext test;
  FakeKube kube;
  const auto put = [&](const char* name, const char* label, int other) {
    Json object = node(name);
    if (label) object.as_object()["metadata"].as_object()["labels"] = JsonObject{{"keep", label}};
    object.as_object()["spec"] = JsonObject{{"other", other}};
    kube.put(object);
  };
  put("a", "x", 1);
  put("b", nullptr, 1);
  std::vector<std::string> seen;
  const std::vector<std::function<void()>> steps = {[&] {
                                                      put("a", "x", 2);      // no difference
                                                      put("c", nullptr, 1);  // not kept
                                                      put("b", "y", 2);
                                                    },
                                                    [&] { put("a", nullptr, 3); }, [] {}};
  const Result<> ended = follow(
      test.context(), kube, types::nodes, "", {},
      [&](const Objects& objects) -> Result<> {
        seen.push_back(names(objects));
        EXPECT_EQ(objects[0].as_object().size(), 1u);
        if (seen.size() > steps.size()) return enough;
        steps[seen.size() - 1]();
        if (seen.size() == steps.size()) return enough;
        return Ok{};
      },
      reduce_node);
  EXPECT_EQ(ended.error().message(), "enough");
  EXPECT_EQ(seen, (std::vector<std::string>{"a ", "a b ", "b "}));
}

TEST(Follow, ListsAgainWhenItsVersionIsGone) {
  TestContext test;
  FakeKube kube;
  kube.put(node("a"));
  const Result<> ended = follow_nodes(test.context(), kube,
                                      {{"a ",
                                        [&] {
                                          kube.put(node("b"));
                                          kube.drop(types::nodes, "", "a");
                                          kube.compact();
                                        }},
                                       {"b ", [] {}}});
  EXPECT_EQ(ended.error().message(), "enough");
  EXPECT_EQ(count(kube, "GET /api/v1/nodes"), 2);
}

// The first requests fail.
void be_away(FakeKube& kube, int requests) {
  kube.fail_request = [left = requests](const ApiRequest&) mutable -> std::optional<Error> {
    if (left-- <= 0) return std::nullopt;
    return error(Code::unavailable, "127.0.0.1:6443: cannot connect: Connection refused");
  };
}

TEST(Follow, PausesLongerWhileTheServerIsAway) {
  TestContext test;
  FakeKube kube;
  kube.put(node("a"));
  be_away(kube, 8);
  EXPECT_EQ(follow_nodes(test.context(), kube, {{"a ", [] {}}}).error().message(), "enough");
  // 50, 100, 200, 400, 800, then 1000 ms each
  EXPECT_EQ(test.clock.elapsed(), Milliseconds(50 + 100 + 200 + 400 + 800 + 3 * 1000));
}

TEST(Follow, TellsOnceThatTheServerIsAway) {
  TestContext test;
  FakeKube kube;
  kube.put(node("a"));
  be_away(kube, 60);
  EXPECT_EQ(follow_nodes(test.context(), kube, {{"a ", [] {}}}).error().message(), "enough");
  std::vector<std::string> told;
  for (const std::string& line : test.logged()) {
    if (!line.starts_with("debug")) told.push_back(line);
  }
  EXPECT_EQ(told,
            (std::vector<std::string>{"warning: watching nodes: 127.0.0.1:6443: cannot connect: Connection refused; retrying",
                                      "info: watching nodes: the API server answers again"}));
}

TEST(Follow, WaitsForATypeThatIsNotServedYet) {
  TestContext test;
  FakeKube kube;
  kube.fail_request = [&](const ApiRequest&) -> std::optional<Error> {
    if (test.clock.elapsed() > Milliseconds(500)) kube.serve_openshift();
    return std::nullopt;
  };
  const Result<> ended =
      follow(test.context(), kube, types::cluster_operators, "", {}, [](const Objects&) -> Result<> { return enough; });
  EXPECT_EQ(ended.error().message(), "enough");
}

TEST(Follow, EndsWhenItIsDeniedOrStopped) {
  TestContext test;
  FakeKube kube;
  kube.fail_request = [](const ApiRequest&) { return error(Code::denied, "GET /api/v1/nodes: Unauthorized"); };
  auto ignore = [](const Objects&) -> Result<> { return Ok{}; };
  EXPECT_EQ(follow(test.context(), kube, types::nodes, "", {}, ignore).error().code(), Code::denied);
  kube.fail_request = nullptr;
  const Result<> stopped = follow(test.context(), kube, types::nodes, "", {}, [&](const Objects&) -> Result<> {
    test.stop.request_stop();
    return Ok{};
  });
  EXPECT_EQ(stopped.error().code(), Code::cancelled);
}

TEST(Follow, TakesBookmarksAsItsVersion) {
  RealTimeContext test;
  FakeKube kube;
  kube.put(node("a"));
  std::atomic<int> watches = 0;
  kube.fail_request = [&](const ApiRequest& request) -> std::optional<Error> {
    if (request.method != "WATCH") return std::nullopt;
    if (++watches == 2) kube.put(node("b"));
    return std::nullopt;
  };
  std::jthread server;
  const Result<> ended = follow(test.context(), kube, types::nodes, "", {}, [&](const Objects& objects) -> Result<> {
    if (names(objects) == "a b ") return enough;
    server = std::jthread([&] {
      while (kube.requests().size() < 2) std::this_thread::yield();
      // Versions advance without events of this watch until a bookmark reports the current one.
      kube.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "other"}}}});
      while (watches < 2) {
        kube.bookmark();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        kube.compact();
        kube.end_watches();
      }
    });
    return Ok{};
  });
  server.join();
  EXPECT_EQ(ended.error().message(), "enough");
  EXPECT_EQ(count(kube, "GET /api/v1/nodes"), 1);
}

TEST(WaitUntil, SaysTheLastReasonWhenTheServerNeverAnswers) {
  TestContext test;
  FakeKube kube;
  kube.fail_request = [](const ApiRequest&) { return error(Code::unavailable, "cannot connect: Connection refused"); };
  const Result<> late =
      wait_until(test.context(), kube, "three masters", Seconds(60), types::nodes, "", {},
                 [](const Objects&) -> Result<std::optional<std::string>> { return std::optional<std::string>(); });
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Code::timeout);
  EXPECT_EQ(late.error().message(), "waiting for three masters: timed out after 1 min 0 s: cannot connect: Connection refused");
  EXPECT_EQ(test.clock.elapsed(), Seconds(60));
}

TEST(WaitUntil, EndsAtOnceOnAnErrorThatCannotPass) {
  TestContext test;
  FakeKube kube;
  const Result<> ended = wait_until(
      test.context(), kube, "masters", Seconds(60), types::nodes, "", {},
      [](const Objects&) -> Result<std::optional<std::string>> { return error(Code::invalid, "a node without a name"); });
  EXPECT_EQ(ended.error().code(), Code::invalid);
  EXPECT_EQ(ended.error().message(), "waiting for masters: a node without a name");
}

TEST(WaitUntil, TakesABusyMomentOfTheLookAsAReason) {
  TestContext test;
  FakeKube kube;
  const Result<> ended =
      wait_until(test.context(), kube, "etcd", Seconds(5), types::nodes, "", {},
                 [](const Objects&) -> Result<std::optional<std::string>> { return error(Code::unavailable, "etcd is away"); });
  EXPECT_EQ(ended.error().message(), "waiting for etcd: timed out after 5.0 s: etcd is away");
}

}  // namespace
}  // namespace slipway::kube
