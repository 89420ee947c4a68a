#include "kube/ensure.h"

#include "base/queue.h"
#include "support/fake_kube.h"
#include "support/kube_suite.h"
#include "support/test_context.h"
#include "sys/wait_for.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>

namespace slipway::kube {
namespace {

using testing_support::FakeKube;
using testing_support::sample_definition;
using testing_support::TestContext;

Json config_map(const std::string& space, const std::string& name) {
  return {
      {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}, {"namespace", space}}}, {"data", {{"k", "v"}}}};
}

Json widget(const std::string& name) {
  return {{"apiVersion", "late.example.com/v1"}, {"kind", "Widget"}, {"metadata", {{"name", name}}}, {"spec", {{"size", 1}}}};
}

class EnsureAll : public ::testing::Test {
 protected:
  Result<> run(std::vector<Manifest> manifests, bool update = false) {
    Mapper mapper(kube_);
    told_.clear();
    return ensure_all(test_.context(), kube_, mapper, std::move(manifests),
                      {.update = update, .manager = "test", .limit = Seconds(60)},
                      [&](const Manifest& manifest, const Outcome& outcome) { told_[manifest.name].push_back(outcome.kind); });
  }

  TestContext test_;
  FakeKube kube_;
  std::map<std::string, std::vector<Outcome::Kind>> told_;
};

using Kinds = std::vector<Outcome::Kind>;

TEST_F(EnsureAll, WritesEachObjectOnceAndNothingTheSecondTime) {
  std::vector<Manifest> manifests;
  for (int i = 0; i < 50; ++i) {
    manifests.push_back({fmt::format("map-{}", i), config_map("new", fmt::format("map-{}", i))});
    manifests.push_back({fmt::format("widget-{}", i), widget(fmt::format("widget-{}", i))});
  }
  manifests.push_back({"ns", {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "new"}}}}});
  manifests.push_back({"crd", sample_definition("late.example.com", "Widget", "widgets")});
  const Result<> done = run(manifests);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(kube_.writes(), 102);
  for (const bool update : {false, true}) {
    kube_.forget();
    ASSERT_TRUE(run(manifests, update).ok());
    EXPECT_EQ(kube_.writes(), 0);
    EXPECT_EQ(told_.size(), 102u);
    for (const auto& [name, kinds] : told_) EXPECT_EQ(kinds, Kinds{Outcome::Kind::unchanged}) << name;
  }
}

TEST_F(EnsureAll, ListsEverythingThatIsMissingWhenTheTimeIsOver) {
  const Result<> done = run({{"a.yaml", config_map("nowhere", "a")},
                             {"b.yaml", widget("b")},
                             {"c.yaml", config_map("default", "c")},
                             {"d.yaml", {{"apiVersion", "v1"}}}});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::invalid);
  EXPECT_EQ(done.error().message(), R"(3 of 4 manifests are not created:
a.yaml (ConfigMap nowhere/a): namespace nowhere does not exist
b.yaml (Widget b): the server does not know Widget of late.example.com/v1
d.yaml (object ): kind: missing, must be a string)");
  EXPECT_EQ(test_.clock.elapsed(), Seconds(60));
  EXPECT_EQ(told_, (std::map<std::string, Kinds>{{"a.yaml", {Outcome::Kind::waits}},
                                                 {"b.yaml", {Outcome::Kind::waits}},
                                                 {"c.yaml", {Outcome::Kind::created}},
                                                 {"d.yaml", {Outcome::Kind::failed}}}));
  EXPECT_EQ(run({{"b.yaml", widget("b")}}).error().code(), Code::timeout);
}

TEST_F(EnsureAll, AsksOnceARoundForAHundredThatWaitForTheSame) {
  std::vector<Manifest> manifests;
  for (int i = 0; i < 100; ++i) manifests.push_back({"map", config_map("nowhere", fmt::format("map-{}", i))});
  EXPECT_EQ(run(manifests).error().code(), Code::timeout);
  const std::vector<std::string> all = kube_.requests();
  const auto asked = std::count(all.begin(), all.end(), "GET /api/v1/namespaces/nowhere");
  EXPECT_LE(all.size(), static_cast<std::size_t>(100 + asked + 2));
  EXPECT_GT(asked, 100);
}

TEST_F(EnsureAll, PostsWhatMayNotBeApplied) {
  kube_.serve({"late.example.com", "v1", "widgets", "Widget", false});
  kube_.fail_request = [](const ApiRequest& request) -> std::optional<Error> {
    if (request.method != "PATCH") return std::nullopt;
    return error(Code::unavailable, "failed to create typed patch object: .spec.old: field not declared in schema");
  };
  const auto posted = [&] {
    const std::vector<std::string> all = kube_.requests();
    return std::count(all.begin(), all.end(), "POST /apis/late.example.com/v1/widgets");
  };
  ASSERT_TRUE(run({{"b.yaml", widget("b")}}).ok());
  EXPECT_EQ(told_["b.yaml"], Kinds{Outcome::Kind::created});
  EXPECT_EQ(posted(), 1);
  ASSERT_TRUE(run({{"b.yaml", widget("b")}}).ok());
  EXPECT_EQ(told_["b.yaml"], Kinds{Outcome::Kind::unchanged});
  EXPECT_EQ(posted(), 1);
}

TEST_F(EnsureAll, AppliesFirstObjectsOfCustomTypes) {
  kube_.serve({"late.example.com", "v1", "widgets", "Widget", false});
  ASSERT_TRUE(run({{"b.yaml", widget("b")}}).ok());
  for (const std::string& request : kube_.requests()) EXPECT_FALSE(request.starts_with("POST ")) << request;
  EXPECT_EQ(told_["b.yaml"], Kinds{Outcome::Kind::created});
}

TEST_F(EnsureAll, FindsWhatOthersMakeMeanwhile) {
  kube_.fail_request = [&](const ApiRequest&) -> std::optional<Error> {
    if (test_.clock.elapsed() > Seconds(20)) kube_.serve({"late.example.com", "v1", "widgets", "Widget", false});
    return std::nullopt;
  };
  ASSERT_TRUE(run({{"b.yaml", widget("b")}}).ok());
  EXPECT_LT(test_.clock.elapsed(), Seconds(21));
}

TEST_F(EnsureAll, TriesAgainWhileTheServerIsAway) {
  std::atomic<int> tries = 0;
  kube_.fail_request = [&](const ApiRequest&) -> std::optional<Error> {
    if (++tries > 30) return std::nullopt;
    return error(Code::unavailable, "cannot connect: Connection refused");
  };
  ASSERT_TRUE(run({{"a", config_map("default", "a")}, {"b", config_map("default", "b")}}).ok());
  EXPECT_EQ(kube_.writes(), 2);
}

TEST_F(EnsureAll, SetsAStatusThatIsMissingAndNoOther) {
  kube_.put(sample_definition("late.example.com", "Widget", "widgets"));
  Json known = widget("known");
  known.as_object()["status"] = {{"phase", "theirs"}};
  kube_.put(known);
  kube_.put(widget("bare"));
  auto manifest = [](const char* name) {
    Json object = widget(name);
    object.as_object()["status"] = {{"phase", "ours"}};
    return Manifest{name, object};
  };
  ASSERT_TRUE(run({manifest("known"), manifest("bare"), manifest("new")}).ok());
  const ResourceType type{"late.example.com", "v1", "widgets", "Widget", false};
  for (const auto& [name, phase] : std::map<std::string, std::string>{{"known", "theirs"}, {"bare", "ours"}, {"new", "ours"}}) {
    EXPECT_EQ(find_string(*kube_.stored(type, "", name), {"status", "phase"}), phase) << name;
  }
  EXPECT_EQ(told_["bare"], Kinds{Outcome::Kind::updated});
}

// Answers the first request after a minute, and no other request.
class HangingApi final : public Api {
 public:
  Result<Json> send(const sys::Context& context, const ApiRequest&) override {
    if (calls_++ > 0) {
      Queue<Ok>().pop(context.stop);
      return error(Code::cancelled, "stopped");
    }
    sys::pause(context, Seconds(61));
    return error(Code::unavailable, "nothing came or went for 1 min 1 s");
  }
  Result<> stream(const sys::Context&, const std::string&, const std::function<Result<>(WatchEvent)>&) override { return Ok{}; }

 private:
  std::atomic<int> calls_ = 0;
};

TEST_F(EnsureAll, LeavesOffWhenTheTimeIsOverAlthoughMuchIsLeft) {
  std::vector<Manifest> manifests;
  for (int i = 0; i < 100; ++i) manifests.push_back({"map", config_map("default", fmt::format("map-{}", i))});
  HangingApi api;
  Mapper mapper(api);
  const Result<> done =
      ensure_all(test_.context(), api, mapper, manifests, {.manager = "test", .at_once = 2, .limit = Seconds(60)}, nullptr);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::timeout);
  EXPECT_NE(done.error().message().find("100 of 100 manifests are not created"), std::string::npos);
  EXPECT_NE(done.error().message().find("nothing came or went"), std::string::npos);
  EXPECT_NE(done.error().message().find("map (ConfigMap default/map-99): not attempted"), std::string::npos);
}

TEST_F(EnsureAll, StopsWhenItIsTold) {
  kube_.fail_request = [&](const ApiRequest&) -> std::optional<Error> {
    test_.stop.request_stop();
    return std::nullopt;
  };
  EXPECT_EQ(run({{"b.yaml", widget("b")}}).error().code(), Code::cancelled);
}

}  // namespace
}  // namespace slipway::kube
