#include "support/kube_suite.h"

#include "base/queue.h"
#include "base/text.h"
#include "kube/ensure.h"
#include "kube/mapper.h"
#include "support/test_context.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <gtest/gtest.h>

#include <map>

namespace slipway::testing_support {

using namespace kube;

Json sample_definition(const std::string& group, const std::string& kind, const std::string& plural) {
  JsonArray versions;
  versions.push_back({{"name", "v1"},
                      {"served", true},
                      {"storage", true},
                      {"subresources", {{"status", JsonObject()}}},
                      {"schema", {{"openAPIV3Schema", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}});
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", plural + "." + group}}},
          {"spec",
           {{"group", group},
            {"scope", "Cluster"},
            {"names", {{"plural", plural}, {"singular", to_lower(kind)}, {"kind", kind}, {"listKind", kind + "List"}}},
            {"versions", versions}}}};
}

namespace {

class KubeSuite : public ::testing::Test {
 protected:
  // Each test has its own namespace.
  void SetUp() override {
    space_ = fmt::format("suite-{}", to_lower(::testing::UnitTest::GetInstance()->current_test_info()->name()).substr(0, 50));
    Result<Json> made = create(context(), api(), types::namespaces, namespace_object(space_));
    ASSERT_TRUE(made.ok()) << made.error().message();
  }

  static Json namespace_object(const std::string& name) {
    return {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
  }
  Json config_map(const std::string& name, const std::string& text = "a", JsonObject labels = {}) const {
    return {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata", {{"name", name}, {"namespace", space_}, {"labels", labels}}},
            {"data", {{"text", text}}}};
  }
  Json make(const Json& object) {
    Result<Json> made = create(context(), api(), types::config_maps, object);
    EXPECT_TRUE(made.ok()) << made.error().message();
    return made.ok() ? made.value() : Json();
  }
  static std::string version_of(const Json& object) { return text_of(object, {"metadata", "resourceVersion"}); }
  static Json with_text(Json object, const char* text) {
    object.as_object()["data"] = {{"text", text}};
    return object;
  }
  // Applies a CustomResourceDefinition and waits until its objects can be created.
  ResourceType define(const std::string& group, const std::string& kind, const std::string& plural) {
    const Result<> done = ensure({{"crd", sample_definition(group, kind, plural)}});
    EXPECT_TRUE(done.ok()) << done.error().message();
    const ResourceType type{group, "v1", plural, kind, false};
    const Result<> served =
        wait_until(context(), api(), "the type", Seconds(20), type, "", {},
                   [](const Objects&) -> Result<std::optional<std::string>> { return std::optional<std::string>(); });
    EXPECT_TRUE(served.ok()) << served.error().message();
    return type;
  }
  Result<> ensure(std::vector<Manifest> manifests, EnsureOptions options = {.manager = "suite", .limit = Seconds(30)}) {
    Mapper mapper(api());
    outcomes_.clear();
    return ensure_all(context(), api(), mapper, std::move(manifests), options,
                      [&](const Manifest& manifest, const Outcome& outcome) { outcomes_.emplace(manifest.name, outcome); });
  }
  // The first `count` events of a watch as "ADDED name".
  std::vector<std::string> watch(const std::string& version, std::size_t count, const std::string& query = "") {
    std::vector<std::string> seen;
    const std::string path =
        fmt::format("{}?watch=true&resourceVersion={}{}", path_of(types::config_maps, space_), version, query);
    const Result<> ended = api().stream(context(), path, [&](WatchEvent event) -> Result<> {
      const char* words[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"};
      seen.push_back(fmt::format("{} {}", words[static_cast<int>(event.kind)], name_of(event.object)));
      if (seen.size() == count) return error(Code::internal, "enough");
      return Ok{};
    });
    EXPECT_EQ(ended.ok() ? "ended" : ended.error().message(), "enough");
    return seen;
  }

  sys::Context context() { return test_.context(); }
  static Api& api() { return api_under_test(); }

  RealTimeContext test_;
  std::string space_;
  std::multimap<std::string, Outcome> outcomes_;
};

TEST_F(KubeSuite, ObjectsLiveAndDie) {
  const Json made = make(config_map("one"));
  EXPECT_FALSE(version_of(made).empty());
  const Result<Json> read = get(context(), api(), types::config_maps, space_, "one");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read.value(), made);
  EXPECT_EQ(describe(read.value()), "ConfigMap " + space_ + "/one");
  ASSERT_TRUE(remove(context(), api(), types::config_maps, space_, "one").ok());
  EXPECT_TRUE(remove(context(), api(), types::config_maps, space_, "one").ok());
  const auto gone = kube::find(context(), api(), types::config_maps, space_, "one");
  ASSERT_TRUE(gone.ok());
  EXPECT_FALSE(gone.value().has_value());
}

TEST_F(KubeSuite, ErrorsHaveCodeMethodPathAndWords) {
  make(config_map("one"));
  Json homeless = config_map("two");
  homeless.as_object()["metadata"].as_object()["namespace"] = "suite-nowhere";
  Json nameless = config_map("x");
  nameless.as_object()["metadata"].as_object().erase("name");
  const std::string path = path_of(types::config_maps, space_);
  struct Case {
    Result<Json> result;
    Code code;
    std::string message;  // the start of the message
  };
  const Case cases[] = {
      {get(context(), api(), types::config_maps, space_, "two"), Code::not_found,
       fmt::format("GET {}/two: configmaps \"two\" not found", path)},
      {create(context(), api(), types::config_maps, config_map("one")), Code::conflict,
       fmt::format("POST {}: configmaps \"one\" already exists", path)},
      {create(context(), api(), types::config_maps, homeless), Code::not_found,
       "POST /api/v1/namespaces/suite-nowhere/configmaps: namespaces \"suite-nowhere\" not found"},
      {create(context(), api(), types::config_maps, nameless), Code::invalid, fmt::format("POST {}: ", path)},
      {get(context(), api(), {"nothing.example.com", "v1", "things", "Thing", false}, "", "x"), Code::not_found,
       "GET /apis/nothing.example.com/v1/things/x: "},
      {update(context(), api(), types::config_maps, config_map("three")), Code::not_found, fmt::format("PUT {}/three: ", path)},
  };
  for (const Case& c : cases) {
    ASSERT_FALSE(c.result.ok()) << c.message;
    EXPECT_EQ(c.result.error().code(), c.code) << c.result.error().message();
    EXPECT_TRUE(c.result.error().message().starts_with(c.message)) << c.result.error().message();
  }
}

TEST_F(KubeSuite, OldVersionsDoNotOverwrite) {
  const Json first = make(config_map("one"));
  const Result<Json> second = update(context(), api(), types::config_maps, with_text(first, "b"));
  ASSERT_TRUE(second.ok()) << second.error().message();
  EXPECT_NE(version_of(second.value()), version_of(first));
  const Result<Json> late = update(context(), api(), types::config_maps, with_text(first, "c"));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Code::conflict);
  const Result<Json> same = update(context(), api(), types::config_maps, second.value());
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(version_of(same.value()), version_of(second.value()));
}

TEST_F(KubeSuite, PatchesChangeWhatTheyName) {
  make(config_map("one", "a", {{"keep", "yes"}}));
  const Result<Json> patched =
      merge_patch(context(), api(), types::config_maps, space_, "one", {{"data", {{"more", "b"}, {"text", nullptr}}}});
  ASSERT_TRUE(patched.ok()) << patched.error().message();
  EXPECT_EQ(find_object(patched.value(), {"data"}), JsonObject({{"more", "b"}}));
  EXPECT_EQ(find_string(patched.value(), {"metadata", "labels", "keep"}), "yes");
}

TEST_F(KubeSuite, ApplyCreatesChangesAndRepeats) {
  const Result<Json> created = apply(context(), api(), types::config_maps, config_map("one", "a"), "suite");
  ASSERT_TRUE(created.ok()) << created.error().message();
  const Result<Json> changed = apply(context(), api(), types::config_maps, config_map("one", "b"), "suite");
  ASSERT_TRUE(changed.ok()) << changed.error().message();
  EXPECT_EQ(find_string(changed.value(), {"data", "text"}), "b");
  const Result<Json> again = apply(context(), api(), types::config_maps, config_map("one", "b"), "suite");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(version_of(again.value()), version_of(changed.value()));
}

TEST_F(KubeSuite, ListsSelectByLabelsAndFields) {
  for (const char* name : {"b", "a", "c"}) make(config_map(name, "x", {{"app", name}, {"all", "yes"}}));
  struct Case {
    Selection selection;
    std::vector<std::string> names;
  };
  const Case cases[] = {
      {{.labels = "all=yes"}, {"a", "b", "c"}},
      {{.labels = "app!=a,all"}, {"b", "c"}},
      {{.labels = "!all"}, {}},
      {{.labels = "all=yes", .fields = "metadata.name=b"}, {"b"}},
  };
  for (const Case& c : cases) {
    std::string version;
    const auto found = list(context(), api(), types::config_maps, space_, c.selection, &version);
    ASSERT_TRUE(found.ok()) << found.error().message();
    std::vector<std::string> names;
    for (const Json& object : found.value()) {
      if (name_of(object) != "kube-root-ca.crt") names.push_back(std::string(name_of(object)));
      EXPECT_EQ(find_string(object, {"kind"}), "ConfigMap");
      EXPECT_EQ(find_string(object, {"apiVersion"}), "v1");
    }
    EXPECT_EQ(names, c.names) << c.selection.labels;
    EXPECT_FALSE(version.empty());
  }
}

TEST_F(KubeSuite, WatchesLoseNothingBehindTheList) {
  make(config_map("old"));
  std::string version;
  ASSERT_TRUE(list(context(), api(), types::config_maps, space_, {}, &version).ok());
  const Json one = make(config_map("one", "a", {{"app", "x"}}));
  ASSERT_TRUE(update(context(), api(), types::config_maps, with_text(one, "b")).ok());
  ASSERT_TRUE(
      merge_patch(context(), api(), types::config_maps, space_, "one", {{"metadata", {{"labels", {{"app", "y"}}}}}}).ok());
  ASSERT_TRUE(remove(context(), api(), types::config_maps, space_, "one").ok());
  EXPECT_EQ(watch(version, 4), (std::vector<std::string>{"ADDED one", "MODIFIED one", "MODIFIED one", "DELETED one"}));
  // An object that no longer matches the selector is deleted for this watch.
  EXPECT_EQ(watch(version, 3, "&labelSelector=app%3Dx"), (std::vector<std::string>{"ADDED one", "MODIFIED one", "DELETED one"}));
}

TEST_F(KubeSuite, VersionsThatAreGoneConflict) {
  const ResourceType type = define("gone.example.com", "Gone", "gones");
  // An API server lists a new type from etcd at once. It refuses watches with 429 until its watch cache has the type.
  Result<> ended = Ok{};
  const Result<> ready = sys::wait_for(context(), "the watch cache of the type", Seconds(20), [&]() -> Result<sys::Observation> {
    ended = api().stream(context(), path_of(type, "") + "?watch=true&resourceVersion=1",
                         [](WatchEvent) -> Result<> { return error(Code::internal, "an event came"); });
    if (!ended.ok() && ended.error().code() == Code::unavailable) return ended.error();
    return sys::Observation::done();
  });
  ASSERT_TRUE(ready.ok()) << ready.error().message();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code(), Code::conflict) << ended.error().message();
}

TEST_F(KubeSuite, StatusIsWrittenApart) {
  const ResourceType type = define("status.example.com", "Thing", "things");
  const Json thing = {{"apiVersion", "status.example.com/v1"},
                      {"kind", "Thing"},
                      {"metadata", {{"name", "one"}}},
                      {"spec", {{"size", 1}}},
                      {"status", {{"phase", "Made"}}}};
  const Result<Json> made = create(context(), api(), type, thing);
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(slipway::find(made.value(), {"status"}), nullptr);
  Json both = made.value();
  both.as_object()["status"] = {{"phase", "Ready"}};
  both.as_object()["spec"] = {{"size", 2}};
  const Result<Json> set = update(context(), api(), type, both, "status");
  ASSERT_TRUE(set.ok()) << set.error().message();
  EXPECT_EQ(find_string(set.value(), {"status", "phase"}), "Ready");
  EXPECT_EQ(*slipway::find(set.value(), {"spec", "size"}), Json(1));
  EXPECT_EQ(*slipway::find(set.value(), {"metadata", "generation"}), Json(1));
  const Result<Json> grown =
      merge_patch(context(), api(), type, "", "one", {{"spec", {{"size", 3}}}, {"status", {{"phase", "x"}}}});
  ASSERT_TRUE(grown.ok()) << grown.error().message();
  EXPECT_EQ(find_string(grown.value(), {"status", "phase"}), "Ready");
  EXPECT_EQ(*slipway::find(grown.value(), {"metadata", "generation"}), Json(2));
}

TEST_F(KubeSuite, FinalizersHoldAnObject) {
  Json held = config_map("held");
  JsonArray finalizers;
  finalizers.push_back("example.com/hold");
  held.as_object()["metadata"].as_object()["finalizers"] = finalizers;
  make(held);
  ASSERT_TRUE(remove(context(), api(), types::config_maps, space_, "held").ok());
  const Result<Json> dying = get(context(), api(), types::config_maps, space_, "held");
  ASSERT_TRUE(dying.ok()) << dying.error().message();
  EXPECT_NE(slipway::find(dying.value(), {"metadata", "deletionTimestamp"}), nullptr);
  ASSERT_TRUE(merge_patch(context(), api(), types::config_maps, space_, "held", {{"metadata", {{"finalizers", nullptr}}}}).ok());
  EXPECT_FALSE(get(context(), api(), types::config_maps, space_, "held").ok());
}

TEST_F(KubeSuite, FollowTellsEveryState) {
  make(config_map("b", "1", {{"suite", "follow"}}));
  Queue<std::string> seen;
  sys::TaskGroup tasks(context());
  tasks.run("follow", [&](const sys::Context& own) {
    return follow(own, api(), types::config_maps, space_, {.labels = "suite=follow"}, [&](const Objects& objects) -> Result<> {
      std::string text;
      for (const Json& object : objects) text += fmt::format("{}={} ", name_of(object), *find_string(object, {"data", "text"}));
      seen.push(text);
      return Ok{};
    });
  });
  auto next = [&] { return seen.pop(test_.stop.get_token()).value_or("stopped"); };
  EXPECT_EQ(next(), "b=1 ");
  const Json a = make(config_map("a", "1", {{"suite", "follow"}}));
  EXPECT_EQ(next(), "a=1 b=1 ");
  ASSERT_TRUE(update(context(), api(), types::config_maps, with_text(a, "2")).ok());
  EXPECT_EQ(next(), "a=2 b=1 ");
  ASSERT_TRUE(remove(context(), api(), types::config_maps, space_, "b").ok());
  EXPECT_EQ(next(), "a=2 ");
  tasks.request_stop();
  EXPECT_TRUE(tasks.wait().ok());
}

TEST_F(KubeSuite, WaitUntilSeesWhatOthersDoAndGivesUpInTime) {
  auto missing = [](const Objects& objects) -> Result<std::optional<std::string>> {
    if (objects.size() == 1) return std::optional<std::string>();
    return std::optional(fmt::format("{} of 1 are there", objects.size()));
  };
  const Selection selection{.labels = "suite=wait"};
  const Result<> late =
      wait_until(context(), api(), "one ConfigMap", Milliseconds(200), types::config_maps, space_, selection, missing);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), Code::timeout);
  EXPECT_EQ(late.error().message(), "waiting for one ConfigMap: timed out after 200 ms: 0 of 1 are there");
  sys::TaskGroup tasks(context());
  tasks.run("wait", [&](const sys::Context& own) {
    return wait_until(own, api(), "one ConfigMap", Seconds(20), types::config_maps, space_, selection, missing);
  });
  make(config_map("one", "a", {{"suite", "wait"}}));
  const Result<> done = tasks.wait();
  EXPECT_TRUE(done.ok()) << done.error().message();
}

TEST_F(KubeSuite, MapperLearnsTypesWhenTheyCome) {
  Mapper mapper(api());
  auto plural = [&](const char* version, const char* kind) -> std::string {
    const auto type = mapper.type_of(context(), {{"apiVersion", version}, {"kind", kind}});
    if (!type.ok()) return type.error().message();
    const std::optional<ResourceType>& found = type.value();
    return found ? fmt::format("{} {}", found->plural, found->namespaced) : "none";
  };
  EXPECT_EQ(plural("v1", "Namespace"), "namespaces false");
  EXPECT_EQ(plural("apps/v1", "Deployment"), "deployments true");
  EXPECT_EQ(plural("apps/v1", "Nothing"), "none");
  EXPECT_EQ(plural("mapper.example.com/v1", "Late"), "none");
  define("mapper.example.com", "Late", "lates");
  EXPECT_EQ(plural("mapper.example.com/v1", "Late"), "none");
  mapper.refresh();
  EXPECT_EQ(plural("mapper.example.com/v1", "Late"), "lates false");
}

TEST_F(KubeSuite, EnsureAllTakesManifestsInAnyOrderAndRepeatsWithoutWriting) {
  const std::string inside = space_ + "-new";
  Json map = config_map("one");
  map.as_object()["metadata"].as_object()["namespace"] = inside;
  const Json thing = {{"apiVersion", "ensure.example.com/v1"},
                      {"kind", "Early"},
                      {"metadata", {{"name", "cluster"}}},
                      {"spec", {{"size", 1}}},
                      {"status", {{"phase", "Known"}}}};
  const std::vector<Manifest> manifests = {{"thing", thing},
                                           {"map", map},
                                           {"namespace", namespace_object(inside)},
                                           {"crd", sample_definition("ensure.example.com", "Early", "earlies")}};
  const ResourceType type{"ensure.example.com", "v1", "earlies", "Early", false};
  const Result<> done = ensure(manifests);
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(outcomes_.size(), manifests.size());
  for (const auto& [name, outcome] : outcomes_) EXPECT_EQ(outcome.kind, Outcome::Kind::created) << name;
  auto versions = [&] {
    std::vector<std::string> all;
    for (const Result<Json>& object :
         {get(context(), api(), type, "", "cluster"), get(context(), api(), types::config_maps, inside, "one")}) {
      EXPECT_TRUE(object.ok()) << object.error().message();
      all.push_back(object.ok() ? version_of(object.value()) : "");
    }
    return all;
  };
  const Result<Json> live = get(context(), api(), type, "", "cluster");
  ASSERT_TRUE(live.ok());
  EXPECT_EQ(find_string(live.value(), {"status", "phase"}), "Known");
  const std::vector<std::string> before = versions();
  for (const bool with_update : {false, true}) {
    const Result<> again = ensure(manifests, {.update = with_update, .manager = "suite", .limit = Seconds(30)});
    ASSERT_TRUE(again.ok()) << again.error().message();
    for (const auto& [name, outcome] : outcomes_) EXPECT_EQ(outcome, Outcome{Outcome::Kind::unchanged}) << name << outcome.detail;
    EXPECT_EQ(versions(), before);
  }
}

TEST_F(KubeSuite, EnsureAllLeavesOrUpdatesWhatDiffers) {
  make(config_map("one", "mine"));
  ASSERT_TRUE(ensure({{"map", config_map("one", "theirs")}}).ok());
  EXPECT_EQ(outcomes_.find("map")->second, (Outcome{Outcome::Kind::differs, "data.text"}));
  EXPECT_EQ(find_string(get(context(), api(), types::config_maps, space_, "one").value(), {"data", "text"}), "mine");
  ASSERT_TRUE(ensure({{"map", config_map("one", "theirs")}}, {.update = true, .manager = "suite", .limit = Seconds(30)}).ok());
  EXPECT_EQ(outcomes_.find("map")->second, Outcome{Outcome::Kind::updated});
  EXPECT_EQ(find_string(get(context(), api(), types::config_maps, space_, "one").value(), {"data", "text"}), "theirs");
}

TEST_F(KubeSuite, EnsureAllTellsWhatIsRefusedAndGoesOn) {
  Json nameless = config_map("x");
  nameless.as_object()["metadata"].as_object().erase("name");
  const Result<> done = ensure({{"bad.yaml", nameless}, {"good.yaml", config_map("one")}});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::invalid);
  EXPECT_TRUE(done.error().message().starts_with("1 of 2 manifests are not created:\nbad.yaml (")) << done.error().message();
  EXPECT_EQ(outcomes_.count("bad.yaml"), 1u);
  EXPECT_EQ(outcomes_.find("bad.yaml")->second.kind, Outcome::Kind::failed);
  EXPECT_EQ(outcomes_.find("good.yaml")->second.kind, Outcome::Kind::created);
}

TEST_F(KubeSuite, EventsAreCountedAndAboutTheClusterTheyAreInDefault) {
  const Json map = make(config_map("one"));
  const Json space = get(context(), api(), types::namespaces, "", space_).value();
  for (int i = 0; i < 2; ++i) {
    for (const Json& about : {map, space}) {
      const Result<> emitted = emit_event(context(), api(), about, "suite", "Warning", "Tested", fmt::format("time {}", i));
      ASSERT_TRUE(emitted.ok()) << emitted.error().message();
    }
  }
  struct Case {
    std::string space;
    std::string about;
  };
  for (const Case& c : {Case{space_, "one"}, Case{"default", space_}}) {
    const auto events =
        list(context(), api(), types::events, c.space, {.fields = "involvedObject.name=" + c.about + ",reason=Tested"});
    ASSERT_TRUE(events.ok()) << events.error().message();
    ASSERT_EQ(events->size(), 1u) << c.space;
    EXPECT_EQ(*slipway::find(events->at(0), {"count"}), Json(2));
    EXPECT_EQ(find_string(events->at(0), {"message"}), "time 1");
  }
}

TEST_F(KubeSuite, EventsOfWhatIsWellAreCountedByTheirMessage) {
  const Json map = make(config_map("one"));
  for (const char* message : {"ready on a", "ready on b", "ready on a"}) {
    const Result<> emitted = emit_event(context(), api(), map, "suite", "Normal", "Tested", message);
    ASSERT_TRUE(emitted.ok()) << emitted.error().message();
  }
  const auto events = list(context(), api(), types::events, space_, {.fields = "involvedObject.name=one,reason=Tested"});
  ASSERT_TRUE(events.ok()) << events.error().message();
  std::map<std::string_view, Json> counts;
  for (const Json& event : events.value()) counts[*find_string(event, {"message"})] = *slipway::find(event, {"count"});
  EXPECT_EQ(counts, (std::map<std::string_view, Json>{{"ready on a", 2}, {"ready on b", 1}}));
}

}  // namespace

}  // namespace slipway::testing_support
