// The Kubernetes API: one interface for requests and watches, and the verbs over it as free functions.
//
//   kube::Client api(http, access);
//   Json node = TRY(kube::get(context, api, kube::types::nodes, "", "master-0"));
#pragma once

#include "base/json.h"
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
  std::string path;  // with its query
  std::optional<Json> body{};
  std::string content_type = "application/json";
  Milliseconds limit{30'000};  // for the whole answer
};

// One event of a watch.
struct WatchEvent {
  enum class Kind { added, modified, deleted, bookmark };
  Kind kind;
  Json object;
};

// Errors of both: not_found (404), conflict (409, 410), denied (401, 403), invalid (other 4xx), unavailable (no connection, the
// limit is over, 429, 5xx), cancelled; the message has the method, the path without its query and the server's own message. An
// answer of the server carries its HTTP status in the code only. Threads: any.
class Api {
 public:
  virtual ~Api() = default;

  // The answer of a 2xx status; null when it has no body, a string when it is no JSON (/readyz).
  virtual Result<Json> send(const sys::Context& context, const ApiRequest& request) = 0;

  // Streams a watch (`path` has watch=true and a resourceVersion) until the server ends it, which is success, `on_event` returns
  // an error, which is returned, or a stop. An ERROR event is an error: 410 Gone is conflict. A watch on which nothing came for
  // 150 s is given up as unavailable, so ask for bookmarks.
  virtual Result<> stream(const sys::Context& context, const std::string& path,
                          const std::function<Result<>(WatchEvent)>& on_event) = 0;
};

class Client final : public Api {
 public:
  // `http` outlives the client.
  Client(net::Http& http, Access access);
  Result<Json> send(const sys::Context& context, const ApiRequest& request) override;
  Result<> stream(const sys::Context& context, const std::string& path,
                  const std::function<Result<>(WatchEvent)>& on_event) override;

 private:
  Result<net::Request> request_for(const std::string& method, const std::string& path) const;

  net::Http& http_;
  Access access_;
};

// Of get, update, merge_patch, apply, create and remove: an object of a namespaced type without a namespace is in "default".
Result<Json> get(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                 std::string_view name);
Result<std::optional<Json>> find(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                                 std::string_view name);

struct Selection {
  std::string labels{};  // "app=etcd,revision=3"
  std::string fields{};  // "metadata.name=version"
};

// All objects, page by page, each with its apiVersion and kind (servers leave them out of lists). The answer's resourceVersion is
// put into `version` when that is given, for a watch. Pages get smaller while an answer is too large, so the size of objects is
// no reason to fail.
Result<std::vector<Json>> list(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                               const Selection& selection = {}, std::string* version = nullptr);

// errors: also conflict: it is there
Result<Json> create(const sys::Context& context, Api& api, const ResourceType& type, const Json& object);
// errors: also conflict: it changed since it was read
Result<Json> update(const sys::Context& context, Api& api, const ResourceType& type, const Json& object,
                    std::string_view subresource = {});
Result<Json> merge_patch(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                         std::string_view name, const Json& patch, std::string_view subresource = {});
// Server-side apply by a field manager, which takes fields that others own.
Result<Json> apply(const sys::Context& context, Api& api, const ResourceType& type, const Json& object, std::string_view manager,
                   std::string_view subresource = {});
// Fine when it is not there.
Result<> remove(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                std::string_view name);

// Keeps telling what is there: `changed` is called with everything once, and again with everything after each change. It lists,
// watches, and lists again when the watch breaks or the version is gone, with a pause that grows while the server cannot be
// reached or does not serve the type yet. Objects are sorted by namespace and name; `changed` is called by this thread.
//
//   errors  cancelled: a stop; those of `changed`; denied; invalid: a selection that the server does not take
using Objects = std::vector<Json>;
Result<> follow(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                const Selection& selection, const std::function<Result<>(const Objects&)>& changed);

// Waits until nothing is missing: a watch, no polling.
//
//   what     completes "waiting for ..."
//   missing  says what is not there yet, or nothing; errors of unavailable, timeout, conflict mean "not yet, for this reason"
//   errors   timeout: "waiting for three masters: timed out after 1 min 0 s: master-2 is not Ready"; cancelled; denied; invalid;
//            those of `missing`. A server that cannot be reached and a type that is not served are "not yet".
Result<> wait_until(const sys::Context& context, Api& api, std::string_view what, Milliseconds limit, const ResourceType& type,
                    std::string_view namespace_name, const Selection& selection,
                    const std::function<Result<std::optional<std::string>>(const Objects&)>& missing);

// Fields that every object has.
std::string_view name_of(const Json& object);
std::string_view namespace_of(const Json& object);  // empty for objects of the cluster
std::string describe(const Json& object);           // "ConfigMap kube-system/root-ca"

// Emits an Event object about an object, for people who look with kubectl: one a reason and object (and message, when it is
// "Normal"), counted up. It is in the object's namespace, "default" for objects of the cluster. type: "Normal" or "Warning"
Result<> emit_event(const sys::Context& context, Api& api, const Json& about, std::string_view component, std::string_view type,
                    std::string_view reason, std::string_view message);

}  // namespace slipway::kube
