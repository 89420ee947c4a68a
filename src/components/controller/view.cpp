#include "components/controller/view.h"

#include "base/number.h"
#include "components/controller/object_parts.h"
#include "sys/task_group.h"

#include <algorithm>

namespace slipway::components {

namespace {

constexpr Milliseconds long_time = std::chrono::hours(1);

std::string kind_of(std::string_view kind, std::string_view group) {
  return group.empty() ? std::string(kind) : fmt::format("{}.{}", kind, group);
}

// 0 for objects that are not on a server.
std::uint64_t version_of(const Json& object) {
  return parse_number<std::uint64_t>(find_string(object, {"metadata", "resourceVersion"}).value_or("")).value_or(0);
}

std::string_view uid_of(const Json& object) { return find_string(object, {"metadata", "uid"}).value_or(""); }

// For messages.
std::string name_of_watch(const Watched& watched) {
  return watched.space.empty() ? fmt::format("watching {}", watched.type.plural)
                               : fmt::format("watching {} in {}", watched.type.plural, watched.space);
}

}  // namespace

Snapshot::Key Snapshot::key_of(const kube::ResourceType& type, std::string_view space, std::string_view name) {
  return {kind_of(type.kind, type.group), std::string(space), std::string(name)};
}

const Json* Snapshot::find(const kube::ResourceType& type, std::string_view space, std::string_view name) const {
  const auto found = objects_->find(key_of(type, space, name));
  return found == objects_->end() ? nullptr : found->second.get();
}

std::vector<const Json*> Snapshot::list(const kube::ResourceType& type, std::string_view space) const {
  std::vector<const Json*> found;
  const Key first = key_of(type, space, "");
  for (auto each = objects_->lower_bound(first); each != objects_->end() && each->first.kind == first.kind; ++each) {
    if (!space.empty() && each->first.space != space) break;
    found.push_back(each->second.get());
  }
  return found;
}

Result<const Json*> of_installer(const kube::ResourceType& type, const Snapshot& seen) {
  if (const Json* object = seen.find(type, "", "cluster")) return object;
  return error(Code::not_found, "{}.{} cluster, which the installer creates, does not exist", type.kind, type.group);
}

View::View() {
  state_.with_lock([](State& state) { state.objects = std::make_shared<const Snapshot::Objects>(); });
}

Result<> View::follow(const sys::Context& context, kube::Api& api, const std::vector<Watched>& watched) {
  state_.with_lock([&](State& state) { state.expected = watched.size(); });
  if (watched.empty()) {
    changed_.notify();
    while (!context.stop.stop_requested()) context.clock.wait(context.clock.steady() + long_time, context.stop, nullptr, 0);
    return error(Code::cancelled, "stopped");
  }
  sys::TaskGroup tasks(context);
  for (const Watched& each : watched) {
    tasks.run(name_of_watch(each), [this, &api, &each](const sys::Context& own) {
      WatchState state_of_watch;
      const auto merged = [&](const kube::Objects& objects) -> Result<> {
        merge(each, state_of_watch, objects);
        return Ok{};
      };
      return kube::follow(own, api, each.type, each.space, each.selection, merged, each.reduce);
    });
  }
  return tasks.wait();
}

bool View::is_complete() const {
  return state_.with_lock([](const State& state) { return state.expected && state.complete == *state.expected; });
}

Snapshot View::snapshot() const {
  return Snapshot(state_.with_lock([](const State& state) { return state.objects; }));
}

void View::put(Json object) {
  const std::string_view version = find_string(object, {"apiVersion"}).value_or("");
  const std::size_t slash = version.find('/');
  const std::string_view group = slash == std::string_view::npos ? "" : version.substr(0, slash);
  const Key key{kind_of(find_string(object, {"kind"}).value_or(""), group), std::string(kube::namespace_of(object)),
                std::string(kube::name_of(object))};
  const bool differs = state_.with_lock([&](State& state) {
    const auto known = state.objects->find(key);
    const bool is_known = known != state.objects->end();
    const bool is_equally_new = is_known && version_of(*known->second) == version_of(object);
    if (is_equally_new ? *known->second == object : !is_newer(state, key, object)) return false;
    auto next = std::make_shared<Snapshot::Objects>(*state.objects);
    (*next)[key] = std::make_shared<const Json>(std::move(object));
    state.objects = std::move(next);
    state.removed.erase(key);
    return true;
  });
  if (differs) changed_.notify();
}

void View::remove(const kube::ResourceType& type, std::string_view space, std::string_view name) {
  const Key key = Snapshot::key_of(type, space, name);
  const bool differs = state_.with_lock([&](State& state) {
    const auto known = state.objects->find(key);
    if (known == state.objects->end()) return false;
    const Json& object = *known->second;
    if (version_of(object) != 0) state.removed[key] = {std::string(uid_of(object)), version_of(object)};
    auto next = std::make_shared<Snapshot::Objects>(*state.objects);
    next->erase(key);
    state.objects = std::move(next);
    return true;
  });
  if (differs) changed_.notify();
}

// Whether an object is newer than the known version.
bool View::is_newer(const State& state, const Key& key, const Json& object) {
  const std::uint64_t version = version_of(object);
  if (const auto removed = state.removed.find(key); removed != state.removed.end() && version != 0) {
    // The object may have changed once more before its removal. An object with finalizers stays for a while and has a
    // deletionTimestamp.
    const bool is_the_same = !removed->second.uid.empty() && removed->second.uid == uid_of(object) && !is_terminating(object);
    if (is_the_same || version <= removed->second.version) return false;
  }
  const auto known = state.objects->find(key);
  if (known == state.objects->end()) return true;
  const std::uint64_t before = version_of(*known->second);
  return version != 0 && before != 0 ? version > before : *known->second != object;
}

// Merges a list of one watch. Removes only objects that this watch delivered before: another watch or a write of this program may
// be ahead of it.
void View::merge(const Watched& watched, WatchState& state_of_watch, const kube::Objects& objects) {
  const bool differs = state_.with_lock([&](State& state) {
    std::optional<Snapshot::Objects> next;
    const auto edited = [&]() -> Snapshot::Objects& { return next ? *next : next.emplace(*state.objects); };
    std::map<Key, std::string> uids;
    std::uint64_t newest = 0;
    for (const Json& object : objects) {
      Key key = Snapshot::key_of(watched.type, kube::namespace_of(object), kube::name_of(object));
      newest = std::max(newest, version_of(object));
      if (is_newer(state, key, object)) {
        edited()[key] = std::make_shared<const Json>(object);
        state.removed.erase(key);
      }
      uids.emplace(std::move(key), uid_of(object));
    }
    for (const auto& [key, uid] : state_of_watch.uids) {
      if (uids.contains(key)) continue;
      if (const auto removed = state.removed.find(key); removed != state.removed.end() && removed->second.uid == uid)
        state.removed.erase(removed);
      const auto known = state.objects->find(key);
      // Another UID: this program created the object again, and this watch will deliver it later.
      if (known != state.objects->end() && uid_of(*known->second) == uid) edited().erase(key);
    }
    if (watched.selection.labels.empty() && watched.selection.fields.empty()) {
      // The object was created and removed before this watch could deliver it, for example while it lists again.
      const Key first = Snapshot::key_of(watched.type, watched.space, "");
      for (auto each = state.objects->lower_bound(first); each != state.objects->end(); ++each) {
        const auto& [key, object] = *each;
        if (key.kind != first.kind || (!watched.space.empty() && key.space != watched.space)) break;
        if (!uids.contains(key) && version_of(*object) != 0 && version_of(*object) < newest) edited().erase(key);
      }
    }
    state_of_watch.uids = std::move(uids);
    const bool is_first = std::exchange(state_of_watch.is_first, false);
    if (is_first) ++state.complete;
    if (next) state.objects = std::make_shared<const Snapshot::Objects>(*std::move(next));
    return is_first || next.has_value();
  });
  if (differs) changed_.notify();
}

}  // namespace slipway::components
