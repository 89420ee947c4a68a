// FakeKube: a Kubernetes API in memory. The suite in support/kube_suite.cpp compares it with a real one.
//
//   FakeKube kube;                                                     // has the four namespaces of every cluster
//   kube.put({{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "master-0"}}}});
//   kube.after_write = [&](const Json& written) { ... };               // acts as a controller, on the writer's thread
//   ASSERT_TRUE(reconcile(test.context(), kube).ok());
//   EXPECT_EQ(kube.writes(), 1);
//   EXPECT_EQ(kube.stored(types::config_maps, "kube-system", "bootstrap")->at("data"), ...);
//
// In CMakeLists.txt its source is one of the TESTS: ${CMAKE_SOURCE_DIR}/tests/support/fake_kube.cpp
//
// With a FakeClock, wait_until checks the existing objects and times out at once if something is missing. A test in which another
// thread creates the object needs a RealTimeContext. Watches block in real time with any clock.
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

// Supports discovery, get, list with pages and selectors, watch, create, update with conflicts, merge patch (also as a dry run),
// apply (as a deep merge, without field managers), delete with finalizers, the status subresource, generations, and types of
// CustomResourceDefinitions. Does not support validation by schemas, defaults, RBAC, garbage collection or controllers. Threads:
// any.
class FakeKube final : public kube::Api {
 public:
  FakeKube();

  Result<Json> send(const sys::Context& context, const kube::ApiRequest& request) override;
  Result<> stream(const sys::Context& context, const std::string& path,
                  const std::function<Result<>(kube::WatchEvent)>& on_event) override;
  Metrics* metrics() override { return &counted; }

  // For the test itself: not counted, and without hooks. put replaces the whole object with its status, and creates the
  // namespace.
  Json put(Json object);
  std::optional<Json> stored(const kube::ResourceType& type, const std::string& namespace_name, const std::string& name) const;
  std::vector<Json> stored_all(const kube::ResourceType& type) const;
  void drop(const kube::ResourceType& type, const std::string& namespace_name, const std::string& name);

  // Serves a type without a CustomResourceDefinition. OpenShift's types in kube::types are not served by default.
  void serve(const kube::ResourceType& type, bool has_status = true);
  void serve_openshift();
  void establish(const std::string& name);  // a CRD that waits because establish_types is false

  void end_watches(std::optional<Error> failure = {});  // as servers do from time to time
  void compact();                                       // versions up to now can no longer be watched
  void bookmark();                                      // sends the current version to all watches

  int writes() const;                         // number of requests that changed an object
  std::vector<std::string> requests() const;  // "GET /api/v1/nodes?limit=500", watches with method WATCH
  void forget();                              // clears both

  // Set before the first request. If `fail_request` returns an error, it is the answer.
  std::function<std::optional<Error>(const kube::ApiRequest&)> fail_request;
  std::function<void(const Json&)> after_write;  // called without the lock, so it may use the fake; not called for its own writes
  std::function<bool(const Json&)> review;       // answers SubjectAccessReviews; without it all are allowed
  bool establish_types = true;                   // CRDs are served immediately
  Metrics counted;                               // what the users of this API count; the fake itself counts nothing

 private:
  struct Served {
    kube::ResourceType type;
    bool has_status = true;
    long since = 0;  // resourceVersion
  };
  struct Change {
    long version;
    std::string collection;
    std::optional<Json> before, after;
  };
  struct Target;  // the meaning of a path

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
