// View: the objects that a controller looks at, as watches keep them; and one moment of it, which never changes.
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

// What is watched: a type in one namespace, or in all when `space` is empty.
struct Watched {
  kube::ResourceType type;
  std::string space{};
  kube::Selection selection{};
};

// One moment. Cheap to copy; objects stay as long as a copy of the snapshot does. Threads: any.
class Snapshot {
 public:
  // Null when there is none. space: empty for objects of the cluster
  const Json* find(const kube::ResourceType& type, std::string_view space, std::string_view name) const;
  // By namespace and name; all namespaces when `space` is empty.
  std::vector<const Json*> list(const kube::ResourceType& type, std::string_view space = {}) const;

 private:
  friend class View;
  struct Key {
    std::string kind;  // "Node", with its group: "Etcd.operator.openshift.io"
    std::string space;
    std::string name;
    auto operator<=>(const Key&) const = default;
  };
  using Objects = std::map<Key, std::shared_ptr<const Json>>;
  static Key key_of(const kube::ResourceType& type, std::string_view space, std::string_view name);
  explicit Snapshot(std::shared_ptr<const Objects> objects) : objects_(std::move(objects)) {}
  std::shared_ptr<const Objects> objects_;
};

// The object `cluster` of a type of which the installer creates one. errors: not_found: it does not exist
Result<const Json*> of_installer(const kube::ResourceType& type, const Snapshot& seen);

// Threads: any.
class View {
 public:
  View();

  // Follows all of them until a stop; returns what made it end. Once for a view. Blocks: it has a thread for each.
  Result<> follow(const sys::Context& context, kube::Api& api, const std::vector<Watched>& watched);

  // Whether each watch has told once what is there; before that, what is missing may only be unseen.
  bool is_complete() const;

  Snapshot snapshot() const;

  // What somebody of ours just wrote or found out, so that the next plan knows it before the watch says so. An object with an
  // older resourceVersion than the one that is known is not taken. Also takes objects that no server has (facts of one's own, of
  // a type that is not watched).
  void put(Json object);
  // What somebody of ours just removed: a watch that is behind does not bring it back, one made anew under its name is taken.
  void remove(const kube::ResourceType& type, std::string_view space, std::string_view name);

  // Is notified after each change.
  sys::Wakeup& changed() { return changed_; }

 private:
  using Key = Snapshot::Key;
  struct RemovedObject {
    std::string uid;
    std::uint64_t version = 0;
  };
  struct State {
    std::shared_ptr<const Snapshot::Objects> objects;
    std::map<Key, RemovedObject> removed;  // removed by us, and not yet by the watch that had them
    std::optional<std::size_t> expected{};
    std::size_t complete = 0;
  };
  // What one watch has told: UIDs by key.
  struct WatchState {
    std::map<Key, std::string> uids;
    bool is_first = true;
  };

  static bool is_news(const State& state, const Key& key, const Json& object);
  void take(const Watched& watched, WatchState& state_of_watch, const kube::Objects& objects);

  Guarded<State> state_;
  sys::Wakeup changed_;
};

}  // namespace slipway::components
