// The Kubernetes API: an interface for requests and watches, and the verbs as free functions.
//
//   kube::Client api(http, access);
//   Json node = TRY(kube::get(context, api, kube::types::nodes, "", "master-0"));
#pragma once

#include "base/json.h"
#include "base/metrics.h"
#include "base/result.h"
#include "kube/kubeconfig.h"
#include "kube/types.h"
#include "net/http.h"
#include "sys/context.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::kube {

struct ApiRequest {
  std::string method = "GET";
  std::string path;  // including the query
  std::optional<Json> body{};
  std::string content_type = "application/json";
  Milliseconds limit{30'000};  // time limit for the whole answer
};

// One event of a watch.
struct WatchEvent {
  enum class Kind { added, modified, deleted, bookmark };
  Kind kind;
  Json object;
};

// Errors of both functions: not_found (404), conflict (409, 410), denied (401, 403), invalid (other 4xx), unavailable (no
// connection, time limit, 429, 5xx), cancelled. The message has the method, the path without its query and the server's message,
// or the HTTP status if the server sent no message. Threads: any.
class Api {
 public:
  virtual ~Api() = default;

  // The body of a 2xx answer; null if it is empty, a string if it is text (/readyz).
  virtual Result<Json> send(const sys::Context& context, const ApiRequest& request) = 0;

  // Streams a watch (`path` has watch=true and a resourceVersion) until the server ends it (success), `on_event` returns an error
  // (which is returned), or a stop is requested. An ERROR event is returned as an error: 410 Gone is conflict. A watch without
  // data for 150 s is unavailable, so request bookmarks.
  virtual Result<> stream(const sys::Context& context, const std::string& path,
                          const std::function<Result<>(WatchEvent)>& on_event) = 0;

  // Where the program that uses this interface counts; null: it does not count.
  virtual Metrics* metrics() { return nullptr; }
};

class Client final : public Api {
 public:
  // `http` and `metrics` must outlive the client. metrics: counts requests and watches; null: they are not counted
  Client(net::Http& http, Access access, Metrics* metrics = nullptr);
  Result<Json> send(const sys::Context& context, const ApiRequest& request) override;
  Result<> stream(const sys::Context& context, const std::string& path,
                  const std::function<Result<>(WatchEvent)>& on_event) override;
  Metrics* metrics() override { return metrics_; }

 private:
  Result<net::Request> request_for(const std::string& method, const std::string& path) const;
  void count(std::string_view verb, const Result<net::Answer>& answer);

  net::Http& http_;
  Access access_;
  Metrics* metrics_;
};

// get, update, merge_patch, apply, create and remove use namespace "default" for namespaced types without a namespace.
Result<Json> get(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                 std::string_view name);
Result<std::optional<Json>> find(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                                 std::string_view name);

struct Selection {
  std::string labels{};  // "app=etcd,revision=3"
  std::string fields{};  // "metadata.name=version"
};

// All objects, read page by page, with apiVersion and kind, which servers omit in lists. Stores the resourceVersion of the list
// in `version` if given, for a watch. If an answer is too large, the page is requested again with fewer objects.
Result<std::vector<Json>> list(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                               const Selection& selection = {}, std::string* version = nullptr);

// errors: also conflict: the object exists
Result<Json> create(const sys::Context& context, Api& api, const ResourceType& type, const Json& object);
// errors: also conflict: the object changed since it was read
Result<Json> update(const sys::Context& context, Api& api, const ResourceType& type, const Json& object,
                    std::string_view subresource = {});
Result<Json> merge_patch(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                         std::string_view name, const Json& patch, std::string_view subresource = {});
// Server-side apply by a field manager. Takes over fields of other managers.
Result<Json> apply(const sys::Context& context, Api& api, const ResourceType& type, const Json& object, std::string_view manager,
                   std::string_view subresource = {});
// Succeeds if the object does not exist.
Result<> remove(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                std::string_view name);

// Reports the current objects: calls `changed` with all objects once, and with all objects again after each change. Lists,
// watches, and lists again when the watch breaks or its version expires. The pause between attempts grows while the server is
// unreachable or does not serve the type; after 30 s it logs a warning. Objects are sorted by namespace and name. `changed` is
// called on this thread.
//
//   errors   cancelled; those of `changed`; denied; invalid: the server rejects the selection
//   reduce   what to keep of an object, with its apiVersion, kind, name and namespace; null: nothing. For types with many objects
//            of which the caller needs a small part. `changed` is not called after a change of other parts
using Objects = std::vector<Json>;
using Reduce = std::function<Json(const Json& object)>;
Result<> follow(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                const Selection& selection, const std::function<Result<>(const Objects&)>& changed, const Reduce& reduce = {});

// One step of follow_changes. `listing` begins a list of all objects; `listed` ends it: all objects that were not `present` since
// `listing` do not exist.
struct Change {
  enum class Kind { listing, present, removed, listed };
  Kind kind;
  Json object{};  // of present and removed
};

// Like follow, but keeps no objects and sorts nothing: for thousands of objects of which the caller needs a small part. A list is
// read page by page.
Result<> follow_changes(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                        const Selection& selection, const std::function<Result<>(Change)>& changed);

// Waits with a watch until `missing` returns nullopt.
//
//   what     completes "waiting for ..."
//   missing  returns what is still missing, or nullopt; errors of unavailable, timeout, conflict mean "not yet, for this reason"
//   errors   timeout: "waiting for three masters: timed out after 1 min 0 s: master-2 is not Ready"; cancelled; denied; invalid;
//            those of `missing`. An unreachable server or a type that is not served yet does not end the wait
Result<> wait_until(const sys::Context& context, Api& api, std::string_view what, Milliseconds limit, const ResourceType& type,
                    std::string_view namespace_name, const Selection& selection,
                    const std::function<Result<std::optional<std::string>>(const Objects&)>& missing);

// Fields that every object has.
std::string_view name_of(const Json& object);
std::string_view namespace_of(const Json& object);  // empty for cluster-scoped objects
std::string describe(const Json& object);           // "ConfigMap kube-system/root-ca"

// Emits an Event about an object, for users of kubectl. Repeated events with the same reason and object are counted in one Event;
// those of type "Normal" also need the same message. The Event is in the object's namespace, or in "default" for cluster-scoped
// objects. type: "Normal" or "Warning"
Result<> emit_event(const sys::Context& context, Api& api, const Json& about, std::string_view component, std::string_view type,
                    std::string_view reason, std::string_view message);

}  // namespace slipway::kube
