// FakeKube: a Kubernetes API in memory, held to the real one by the suite in support/kube_suite.cpp.
//
//   FakeKube kube;                                                     // has the four namespaces of every cluster
//   kube.put({{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "master-0"}}}});
//   kube.after_write = [&](const Json& written) { ... };               // play a controller, on the writer's thread
//   ASSERT_TRUE(reconcile(test.context(), kube).ok());
//   EXPECT_EQ(kube.writes(), 1);
//   EXPECT_EQ(kube.look(types::config_maps, "kube-system", "bootstrap")->at("data"), ...);
//
// In CMakeLists.txt its source stands among the TESTS: ${CMAKE_SOURCE_DIR}/tests/support/fake_kube.cpp
//
// With a FakeClock, wait_until looks at what is there and gives up at once when something is missing; a test in which another
// thread makes it appear takes a RealTimeContext. Watches block for real, whatever the clock.
#pragma once

#include "base/json.h"
#include "kube/client.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace slipway::testing_support {

// Does: discovery, get, list by pages with selectors, watch, create, update with conflicts, merge patch (also as a dry run),
// apply (as a deep merge: managers of fields are not kept), delete with finalizers, status as a subresource, generations, types
// by CustomResourceDefinitions. Does not: validation by schemas, defaults, RBAC, garbage collection, controllers. Threads: any.
class FakeKube final : public kube::Api {
 public:
  FakeKube();

  Result<Json> send(const sys::Context& context, const kube::ApiRequest& request) override;
  Result<> stream(const sys::Context& context, const std::string& path,
                  const std::function<Result<>(kube::WatchEvent)>& on_event) override;

  // The test's own hands: nothing is counted, no hook is called. put replaces everything, status too, and makes the namespace.
  Json put(Json object);
  std::optional<Json> look(const kube::ResourceType& type, const std::string& namespace_name, const std::string& name) const;
  std::vector<Json> look_all(const kube::ResourceType& type) const;
  void drop(const kube::ResourceType& type, const std::string& namespace_name, const std::string& name);

  // Serves a type without a CustomResourceDefinition. OpenShift's of kube::types are not served from the start.
  void serve(const kube::ResourceType& type, bool has_status = true);
  void serve_openshift();
  void establish(const std::string& name);  // a CRD that waits because of establish_types

  void end_watches(std::optional<Error> failure = {});  // as servers do now and then
  void compact();                                       // versions up to now are gone for watches
  void bookmark();                                      // tells all watches the current version

  int writes() const;                         // requests that changed something
  std::vector<std::string> requests() const;  // "GET /api/v1/nodes?limit=500", watches with method WATCH
  void forget();                              // both

  // Set before the first request. An error of `spoil` is the answer.
  std::function<std::optional<Error>(const kube::ApiRequest&)> spoil;
  std::function<void(const Json&)> after_write;  // without locks: may use the fake; not called for its own writes
  std::function<bool(const Json&)> review;       // answers SubjectAccessReviews; all are allowed without
  bool establish_types = true;                   // CRDs are served at once

 private:
  struct Served {
    kube::ResourceType type;
    bool has_status = true;
    long since = 0;  // version
  };
  struct Change {
    long version;
    std::string collection;
    std::optional<Json> before, after;
  };
  struct Target;  // what a path means

  Result<Target> target_of(const kube::ApiRequest& request) const;
  Result<Json> answer(const kube::ApiRequest& request, std::optional<Json>& written);
  Result<Json> discover(const std::string& path) const;
  Result<Json> list(const kube::ApiRequest& request, const Target& target) const;
  Result<Json> create(const kube::ApiRequest& request, const Target& target);
  Result<Json> update(const kube::ApiRequest& request, const Target& target, Json wanted);
  Result<Json> patch(const kube::ApiRequest& request, const Target& target);
  Result<Json> remove(const kube::ApiRequest& request, const Target& target);
  Json store(const Served& served, Json object);
  void erase(const std::string& collection, const std::string& key);
  void define(const Json& definition);
  void serve_locked(const kube::ResourceType& type, bool has_status);
  const Served* served_as(std::string_view api_version, std::string_view kind) const;
  bool has_namespace(const std::string& name) const;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Served> served_;                        // by collection, "apps/v1/deployments"
  std::map<std::string, std::map<std::string, Json>> objects_;  // by collection and "namespace/name"
  std::vector<Change> changes_;
  long version_ = 100;
  long compacted_ = 0;
  int next_uid_ = 1;
  int watch_generation_ = 0;
  int bookmarks_ = 0;
  std::optional<Error> watch_failure_;
  int writes_ = 0;
  std::vector<std::string> requests_;
};

}  // namespace slipway::testing_support
