// View: the objects that a controller reads, kept up to date by watches. Snapshot: the state of a view at one moment; never
// changes.
//
//   View view;                                            // in tests: view.put(node); plan(view.snapshot(), now)
//   const Json* node = snapshot.find(kube::types::nodes, "", "master-0");
#pragma once

#include "base/guarded.h"
#include "base/json.h"
#include "kube/client.h"
#include "sys/clock.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

// What to watch: a type in one namespace, or in all if `space` is empty.
struct Watched {
  kube::ResourceType type;
  std::string space{};
  kube::Selection selection{};
  // What the view keeps of an object; null: nothing. Empty: everything. It has to keep each object that the plan may write.
  kube::Reduce reduce{};
};

// The state of a view at one moment. Cheap to copy; objects live as long as any copy of the snapshot. Threads: any.
class Snapshot {
 public:
  // Null if there is no such object. space: empty for cluster-scoped objects
  const Json* find(const kube::ResourceType& type, std::string_view space, std::string_view name) const;
  // Ordered by namespace and name. All namespaces if `space` is empty.
  std::vector<const Json*> list(const kube::ResourceType& type, std::string_view space = {}) const;

 private:
  friend class View;
  struct Key {
    std::string kind;  // "Node"; with its group "Etcd.operator.openshift.io"
    std::string space;
    std::string name;
    auto operator<=>(const Key&) const = default;
  };
  using Objects = std::map<Key, std::shared_ptr<const Json>>;
  static Key key_of(const kube::ResourceType& type, std::string_view space, std::string_view name);
  explicit Snapshot(std::shared_ptr<const Objects> objects) : objects_(std::move(objects)) {}
  std::shared_ptr<const Objects> objects_;
};

// The object `cluster` of a type with a single object `cluster`, which the installer creates. errors: not_found: it does not exist
Result<const Json*> of_installer(const kube::ResourceType& type, const Snapshot& seen);

// Threads: any.
class View {
 public:
  View();

  // Follows all watches until a stop; returns the error that ended them. Call it once per view. Blocks; uses one thread per
  // watch.
  Result<> follow(const sys::Context& context, kube::Api& api, const std::vector<Watched>& watched);

  // Whether each watch has delivered its first list. Before that, a missing object may exist.
  bool is_complete() const;

  Snapshot snapshot() const;

  // Adds an object that this program has just written or found out, so that the next plan sees it before the watch delivers it.
  // An object with an older resourceVersion than the known one is ignored. Also accepts facts of this program: objects of a type
  // that is neither watched nor on a server.
  void put(Json object);
  // Removes an object that this program has just removed. A watch that is behind does not restore it; a new object of the same
  // name is accepted.
  void remove(const kube::ResourceType& type, std::string_view space, std::string_view name);

  // Notified after each change.
  sys::Wakeup& changed() { return changed_; }

 private:
  using Key = Snapshot::Key;
  struct RemovedObject {
    std::string uid;
    std::uint64_t version = 0;
  };
  struct State {
    std::shared_ptr<const Snapshot::Objects> objects;
    std::map<Key, RemovedObject> removed;  // removed by this program, but not yet by the watch that delivered them
    std::optional<std::size_t> expected{};
    std::size_t complete = 0;
  };
  // What one watch has delivered: UIDs by key.
  struct WatchState {
    std::map<Key, std::string> uids;
    bool is_first = true;
  };

  static bool is_newer(const State& state, const Key& key, const Json& object);
  void merge(const Watched& watched, WatchState& state_of_watch, const kube::Objects& objects);

  Guarded<State> state_;
  sys::Wakeup changed_;
};

}  // namespace slipway::components
