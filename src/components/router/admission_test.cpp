#include "components/router/admission.h"

#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::components::router {
namespace {

const Options options{
    .name = "default", .domain = "apps.demo.example.com", .canonical_hostname = "router-default.apps.demo.example.com"};
const WallTime now = parse_rfc3339("2026-11-22T02:00:00Z").value();

// day: day of the creation time
Json route(const std::string& space, const std::string& name, int day, const std::string& spec) {
  return parse_yaml(fmt::format("{{apiVersion: route.openshift.io/v1, kind: Route, metadata: {{namespace: {}, name: {}, "
                                "resourceVersion: '7', creationTimestamp: '2026-01-{:02}T00:00:00Z'}}, spec: {}}}",
                                space, name, day, spec),
                    "route")
      .value()
      .value;
}

// "shop/web" for an admitted route, "shop/web REASON" for others; sorted by name.
std::vector<std::string> outcome(const View& view, const Options& with = options,
                                 const AdmissionContext& admission_context = {}) {
  std::vector<std::string> lines;
  for (const Verdict& verdict : admit(view.snapshot(), with, admission_context).verdicts) {
    lines.push_back(fmt::format("{}/{}{}{}", kube::namespace_of(*verdict.object), kube::name_of(*verdict.object),
                                verdict.reason.empty() ? "" : " ", verdict.reason));
  }
  std::ranges::sort(lines);
  return lines;
}

TEST(Admit, TheOldestRouteOfAHostAndPathIsAdmitted) {
  View view;
  view.put(route("shop", "new", 3, "{host: a.example.com, to: {name: x}}"));
  view.put(route("shop", "old", 1, "{host: A.example.com, path: /, to: {name: x}}"));
  view.put(route("shop", "part", 4, "{host: a.example.com, path: /part, to: {name: x}}"));
  EXPECT_EQ(outcome(view), (std::vector<std::string>{"shop/new HostAlreadyClaimed", "shop/old", "shop/part"}));
  const Admission admission = admit(view.snapshot(), options, {});
  EXPECT_EQ(admission.verdicts[1].message, "the older route old has a.example.com");
}

TEST(Admit, APathAndAllBelowItAreDifferent) {
  View view;
  Json exact = route("shop", "exact", 2, "{host: a.example.com, path: /x, to: {name: x}}");
  exact.as_object()["metadata"].as_object()["annotations"] = JsonObject{{"router.slipway.internal/path-type", "Exact"}};
  view.put(exact);
  view.put(route("shop", "prefix", 1, "{host: a.example.com, path: /x, to: {name: x}}"));
  EXPECT_EQ(outcome(view), (std::vector<std::string>{"shop/exact", "shop/prefix"}));
}

TEST(Admit, AHostBelongsToTheNamespaceThatHadItFirst) {
  View view;
  view.put(route("shop", "web", 2, "{host: a.example.com, to: {name: x}}"));
  view.put(route("thief", "web", 3, "{host: a.example.com, path: /login, to: {name: x}}"));
  EXPECT_EQ(outcome(view), (std::vector<std::string>{"shop/web", "thief/web HostAlreadyClaimed"}));
  Options shared = options;
  shared.shares_hosts = true;
  EXPECT_EQ(outcome(view, shared), (std::vector<std::string>{"shop/web", "thief/web"}));
  view.put(route("thief", "same", 4, "{host: a.example.com, to: {name: x}}"));
  EXPECT_EQ(outcome(view, shared), (std::vector<std::string>{"shop/web", "thief/same HostAlreadyClaimed", "thief/web"}));
}

TEST(Admit, OnlyChosenNamespaces) {
  View view;
  view.put(route("shop", "web", 2, "{to: {name: x}}"));
  view.put(route("other", "web", 2, "{to: {name: x}}"));
  view.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "shop"}}}});
  Options some = options;
  some.namespace_labels = "router=default";
  EXPECT_EQ(outcome(view, some), std::vector<std::string>{"shop/web"});
  EXPECT_EQ(outcome(view).size(), 2u);
}

TEST(Admit, ARouteThatHaproxyRejectedIsLeftOutUntilItChanges) {
  View view;
  view.put(route("shop", "web", 2, "{to: {name: x}}"));
  const Route before = admit(view.snapshot(), options, {}).routes.at(0);
  const AdmissionContext admission_context{.left_out = {{before, "unknown keyword"}}};
  EXPECT_EQ(outcome(view, options, admission_context), std::vector<std::string>{"shop/web ExtendedValidationFailed"});
  Json changed = route("shop", "web", 2, "{to: {name: y}}");
  changed.as_object()["metadata"].as_object()["resourceVersion"] = "8";
  view.put(changed);
  EXPECT_EQ(outcome(view, options, admission_context), std::vector<std::string>{"shop/web"});
}

TEST(PlanStatuses, WritesOnceAndKeepsEntriesOfOtherRouters) {
  View view;
  Json object = route("shop", "web", 2, "{to: {name: x}}");
  object.as_object()["status"] = {{"ingress", JsonArray{{{"routerName", "other"}, {"host", "h"}}}}};
  view.put(object);
  const Snapshot seen = view.snapshot();
  const Plan plan = plan_statuses(admit(seen, options, {}), options, now);
  ASSERT_EQ(plan.desired_objects.size(), 1u);
  EXPECT_EQ(plan.desired_objects[0].how, DesiredObject::How::status);
  EXPECT_EQ(
      emit_json(plan.desired_objects[0].object.at("status"), JsonStyle::compact),
      R"({"ingress":[{"routerName":"other","host":"h"},{"host":"web-shop.apps.demo.example.com","routerName":"default",)"
      R"("wildcardPolicy":"None","conditions":[{"type":"Admitted","status":"True",)"
      R"("lastTransitionTime":"2026-11-22T02:00:00Z"}],"routerCanonicalHostname":"router-default.apps.demo.example.com"}]})");
  // Another router of the same name, later.
  View later;
  later.put(plan.desired_objects[0].object);
  EXPECT_TRUE(plan_statuses(admit(later.snapshot(), options, {}), options, now + std::chrono::hours(1)).desired_objects.empty());
}

TEST(PlanStatuses, ATimeChangesWithTheStatusOnly) {
  View view;
  view.put(route("shop", "web", 2, "{to: {name: x}, wildcardPolicy: Subdomain}"));
  Json object = plan_statuses(admit(view.snapshot(), options, {}), options, now).desired_objects.at(0).object;
  EXPECT_EQ(find_string(find_array(object, {"status", "ingress"})[0].at("conditions").at(0), {"reason"}), "RouteNotAdmitted");
  object.as_object()["spec"].as_object()["host"] = "bad_host.example.com";
  View worse;
  worse.put(object);
  const Plan plan = plan_statuses(admit(worse.snapshot(), options, {}), options, now + std::chrono::hours(1));
  ASSERT_EQ(plan.desired_objects.size(), 1u);  // the host
  EXPECT_EQ(find_string(find_array(plan.desired_objects[0].object, {"status", "ingress"})[0].at("conditions").at(0),
                        {"lastTransitionTime"}),
            "2026-11-22T02:00:00Z");
}

}  // namespace
}  // namespace slipway::components::router
