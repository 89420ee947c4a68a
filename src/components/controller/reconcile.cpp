#include "components/controller/reconcile.h"

#include "base/digest.h"
#include "base/guarded.h"
#include "kube/contains.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace slipway::components {

namespace {

using namespace std::chrono_literals;

constexpr int at_once = 8;
constexpr Milliseconds shortest_pause = 100ms;
constexpr Milliseconds longest_pause = 15s;
constexpr Milliseconds long_time = 1h;
// Of objects that no watch covers.
constexpr Milliseconds look_again = 5min;
// In a row; more of them are somebody else's fight for the same object, which is not to be heated up.
constexpr int quick_conflicts = 3;

bool holds_data(const kube::ResourceType& type) { return type == kube::types::config_maps || type == kube::types::secrets; }

// Where the server looks for it.
std::string space_of(const DesiredObject& desired) {
  if (!desired.type.namespaced) return "";
  const std::string_view space = kube::namespace_of(desired.object);
  return space.empty() ? "default" : std::string(space);
}

std::string key_of(const DesiredObject& desired) {
  return fmt::format("{}.{} {}/{}", desired.type.plural, desired.type.group, space_of(desired), kube::name_of(desired.object));
}

// What `data` shall be, as the server writes it.
JsonObject data_of(const Json& object) {
  JsonObject data = find_object(object, {"data"});
  for (const auto& [key, text] : find_object(object, {"stringData"})) {
    data[key] = base64_encode(find_string(object, {"stringData", key}).value_or(""));
  }
  return data;
}

// Members that are null are wished to be absent.
bool has_members(const JsonObject& wanted, const JsonObject& live) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& member) {
    const Json* value = live.if_contains(member.key());
    return member.value().is_null() ? value == nullptr : value != nullptr && *value == member.value();
  });
}

void merge_members(const JsonObject& wanted, JsonObject& metadata, std::string_view key) {
  if (wanted.empty()) return;
  JsonObject members;
  if (const Json* known = metadata.if_contains(key); known && known->is_object()) members = known->get_object();
  for (const auto& [name, value] : wanted) {
    if (value.is_null()) {
      members.erase(name);
    } else {
      members[name] = value;
    }
  }
  metadata[key] = std::move(members);
}

// The object as it is put in the place of what is there.
Json live_with(Json live, const Json& wanted) {
  JsonObject& object = live.as_object();
  object["data"] = data_of(wanted);
  object.erase("binaryData");
  if (const Json* binary = find(wanted, {"binaryData"})) object["binaryData"] = *binary;
  for (const char* key : {"labels", "annotations"}) {
    merge_members(find_object(wanted, {"metadata", key}), object["metadata"].as_object(), key);
  }
  return live;
}

// Without what a server gives to objects: a plan may have begun with a copy of another one.
Json new_object(Json object) {
  if (!object.is_object()) return object;
  Json* metadata = object.get_object().if_contains("metadata");
  if (!metadata || !metadata->is_object()) return object;
  for (const char* key : {"resourceVersion", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
                          "generation", "managedFields", "selfLink"}) {
    metadata->get_object().erase(key);
  }
  for (const char* key : {"labels", "annotations"}) {
    const JsonObject wanted = find_object(*metadata, {key});
    metadata->get_object().erase(key);
    merge_members(wanted, metadata->get_object(), key);
  }
  return object;
}

bool is_so(const DesiredObject& desired, const Json* live) {
  switch (desired.how) {
    case DesiredObject::How::remove: return !live || find(*live, {"metadata", "deletionTimestamp"});
    case DesiredObject::How::create: return live;
    case DesiredObject::How::status: return live && find_object(*live, {"status"}) == find_object(desired.object, {"status"});
    case DesiredObject::How::apply: break;
  }
  if (!live) return false;
  if (!holds_data(desired.type)) return !kube::first_difference(desired.object, *live);
  const auto has = [&](std::string_view key) {
    return has_members(find_object(desired.object, {"metadata", key}), find_object(*live, {"metadata", key}));
  };
  return data_of(desired.object) == find_object(*live, {"data"}) &&
         find_object(desired.object, {"binaryData"}) == find_object(*live, {"binaryData"}) && has("labels") && has("annotations");
}

// Whether a watch tells of every change of an object, and of its absence.
bool covers(const Watched& watched, const DesiredObject& desired) {
  if (watched.type != desired.type || (!watched.space.empty() && watched.space != space_of(desired))) return false;
  const std::string& fields = watched.selection.fields;
  return watched.selection.labels.empty() &&
         (fields.empty() || fields == fmt::format("metadata.name={}", kube::name_of(desired.object)));
}

// Threads: run() has two of its own, and some for the wishes of a plan.
class Reconciler {
 public:
  Reconciler(kube::Api& api, const Reconciliation& work) : api_(api), work_(work) {}

  Result<> run(const sys::Context& context) {
    sys::TaskGroup tasks(context);
    tasks.run("", [this](const sys::Context& own) { return work_.view.follow(own, api_, work_.watched); });
    tasks.run("", [this](const sys::Context& own) { return keep(own); });
    return tasks.wait();
  }

 private:
  // How a plan went.
  struct Round {
    std::optional<std::string> conflict{};  // what was
    std::set<std::string> contested{};      // objects that were not written for it
    bool has_failed = false;
  };

  Result<> keep(const sys::Context& context) {
    Milliseconds after_failure = shortest_pause;
    int conflicts = 0;
    while (!context.stop.stop_requested()) {
      const std::uint64_t seen = work_.view.changed().count();
      if (!work_.view.is_complete()) {
        context.clock.wait(context.clock.steady() + long_time, context.stop, &work_.view.changed(), seen);
        continue;
      }
      forget_old_looks(context.clock.steady());
      const Snapshot snapshot = work_.view.snapshot();
      const Plan plan = TRY(work_.plan(snapshot, context.clock.now()));
      Round round = act(context, plan, snapshot);
      if (context.stop.stop_requested()) break;
      conflicts = round.conflict ? conflicts + 1 : 0;
      if (conflicts > quick_conflicts) {
        round.has_failed = true;
        warn_once(context, *round.conflict + "; retrying");
      }
      const SteadyTime now = context.clock.steady();
      Milliseconds until_next = until_look(now);
      if (plan.again) until_next = std::min(until_next, std::max(*plan.again - context.clock.now(), shortest_pause));
      if (round.conflict) until_next = std::min(until_next, shortest_pause);
      if (round.has_failed) {
        until_next = std::min(until_next, after_failure);
        after_failure = std::min(after_failure * 2, longest_pause);
        sys::pause(context, shortest_pause);
      } else if (after_failure != shortest_pause) {
        after_failure = shortest_pause;
        warned_.with_lock([](auto& warned) { warned.clear(); });
      }
      context.clock.wait(now + until_next, context.stop, &work_.view.changed(), seen);
    }
    return error(Code::cancelled, "stopped");
  }

  Round act(const sys::Context& context, const Plan& plan, const Snapshot& snapshot) {
    Round round = fulfil_all(context, plan.desired_objects, snapshot);
    if (context.stop.stop_requested()) return round;
    // What is said of an object whose status was written is not planned again.
    log_all(context, plan.notices, round.contested);
    if (round.conflict) return round;
    if (!round.has_failed) run_all(context, plan.tasks, round);
    // Last, so that nothing has to wait for words.
    if (!context.stop.stop_requested() && !send_events(context)) round.has_failed = true;
    return round;
  }

  void run_all(const sys::Context& context, const std::vector<Task>& tasks, Round& round) {
    for (const Task& task : tasks) {
      const Result<> done = task.run(context);
      if (context.stop.stop_requested()) return;
      if (done.ok()) continue;
      const std::string text = fmt::format("{} failed: {}", task.name, done.error().message());
      if (done.error().code() == Code::conflict) {
        note_conflict(context, text, round);
      } else {
        round.has_failed = true;
        warn_once(context, text + "; retrying");
      }
      return;
    }
  }

  // ---- wishes

  Round fulfil_all(const sys::Context& context, const std::vector<DesiredObject>& desired_objects, const Snapshot& snapshot) {
    std::vector<std::pair<const DesiredObject*, const Json*>> open;
    for (const DesiredObject& desired : desired_objects) {
      const Json* known = snapshot.find(desired.type, space_of(desired), kube::name_of(desired.object));
      if (needs_look(desired) || !is_so(desired, known)) open.emplace_back(&desired, known);
    }
    Guarded<std::vector<std::pair<std::string, Error>>> failures;  // with the objects
    const Result<> done =
        sys::for_each_at_once(context, open.size(), at_once, [&](const sys::Context& own, std::size_t i) -> Result<> {
          Result<> fulfilled = fulfil(own, *open[i].first, open[i].second);
          // One that fails does not keep the others from being tried.
          if (!fulfilled.ok()) {
            failures.with_lock(
                [&](auto& all) { all.emplace_back(kube::describe(open[i].first->object), std::move(fulfilled).error()); });
          }
          return Ok{};
        });
    Round round;
    if (!done.ok() || context.stop.stop_requested()) return round;
    for (const auto& [object, failure] : failures.with_lock([](const auto& all) { return all; })) {
      if (failure.code() == Code::conflict) {
        round.contested.insert(object);
        note_conflict(context, failure.message(), round);
      } else {
        round.has_failed = true;
        warn_once(context, fmt::format("{}; retrying", failure.message()));
      }
    }
    return round;
  }

  Result<> fulfil(const sys::Context& context, const DesiredObject& desired, const Json* known) {
    std::optional<Json> found;
    if (needs_look(desired)) {
      found = TRY(look(context, desired));
      known = found ? &*found : nullptr;
      if (is_so(desired, known)) return Ok{};
    }
    Result<Json> written = write(context, desired, known);
    if (!written.ok() && written.error().code() == Code::conflict) TRY(look(context, desired));
    if (!written.ok()) return std::move(written).error();
    context.log.debug("{} is {}", kube::describe(desired.object),
                      desired.how == DesiredObject::How::remove ? "removed" : "written");
    remember(context, desired, written.value());
    if (desired.how != DesiredObject::How::remove && !is_so(desired, &written.value())) {
      const std::string field = kube::first_difference(desired.object, written.value())
                                    .value_or(desired.how == DesiredObject::How::status ? "status" : "data");
      warn_once(context, fmt::format("{}: written, but the server stores a different {}", kube::describe(desired.object), field));
    }
    return Ok{};
  }

  // Asks what is there, for what no watch tells or has not told yet.
  Result<std::optional<Json>> look(const sys::Context& context, const DesiredObject& desired) {
    std::optional<Json> found = TRY(kube::find(context, api_, desired.type, space_of(desired), kube::name_of(desired.object)));
    if (found) {
      work_.view.put(*found);
    } else {
      work_.view.remove(desired.type, space_of(desired), kube::name_of(desired.object));
    }
    note_look(context, desired);
    return found;
  }

  // returns: the object as it is now; of what was removed, what the server says of it
  Result<Json> write(const sys::Context& context, const DesiredObject& desired, const Json* known) {
    switch (desired.how) {
      case DesiredObject::How::create: return kube::create(context, api_, desired.type, new_object(desired.object));
      case DesiredObject::How::status: {
        Result<Json> updated = kube::update(context, api_, desired.type, desired.object, "status");
        if (updated.ok() || updated.error().code() != Code::not_found) return updated;
        // Of a few types the status is a member like others: Network.config.openshift.io.
        return kube::update(context, api_, desired.type, desired.object);
      }
      case DesiredObject::How::remove: {
        const std::string path = kube::path_of(desired.type, space_of(desired), kube::name_of(desired.object));
        Result<Json> removed = api_.send(context, {.method = "DELETE", .path = path});
        if (!removed.ok() && removed.error().code() == Code::not_found) return Json(nullptr);
        return removed;
      }
      case DesiredObject::How::apply: break;
    }
    if (!holds_data(desired.type)) {
      Json wanted = new_object(desired.object);
      wanted.as_object().erase("status");
      return kube::apply(context, api_, desired.type, wanted, work_.manager);
    }
    if (known) return kube::update(context, api_, desired.type, live_with(*known, desired.object));
    return kube::create(context, api_, desired.type, new_object(desired.object));
  }

  // What was written is known before the watch tells it. Removed objects may stay for a while, to be finished by others.
  void remember(const sys::Context& context, const DesiredObject& desired, const Json& written) {
    if (desired.how != DesiredObject::How::remove || find(written, {"metadata", "deletionTimestamp"})) {
      work_.view.put(written);
    } else {
      work_.view.remove(desired.type, space_of(desired), kube::name_of(desired.object));
    }
    note_look(context, desired);
  }

  // ---- objects that no watch covers

  bool is_covered(const DesiredObject& desired) const {
    return std::ranges::any_of(work_.watched, [&](const Watched& watched) { return covers(watched, desired); });
  }

  bool needs_look(const DesiredObject& desired) const {
    return !is_covered(desired) && !looks_.with_lock([&](const auto& looks) { return looks.contains(key_of(desired)); });
  }

  void note_look(const sys::Context& context, const DesiredObject& desired) {
    if (is_covered(desired)) return;
    const SteadyTime now = context.clock.steady();
    looks_.with_lock([&](auto& looks) { looks[key_of(desired)] = now; });
  }

  void forget_old_looks(SteadyTime now) {
    looks_.with_lock(
        [&](auto& looks) { std::erase_if(looks, [&](const auto& each) { return each.second + look_again <= now; }); });
  }

  Milliseconds until_look(SteadyTime now) const {
    return looks_.with_lock([&](const auto& looks) {
      Milliseconds until = long_time;
      for (const auto& [key, time] : looks) until = std::min(until, time + look_again - now);
      return std::max(until, shortest_pause);
    });
  }

  // ---- words for people

  void log_all(const sys::Context& context, const std::vector<Notice>& notices, const std::set<std::string>& contested) {
    for (const Notice& notice : notices) {
      const std::string about = kube::describe(notice.about);
      if (contested.contains(about)) continue;
      if (!told_.insert(fmt::format("{}\n{}\n{}", about, notice.reason, notice.message)).second) continue;
      if (notice.is_warning) {
        context.log.warn("{}: {}", notice.reason, notice.message);
      } else {
        context.log.info("{}: {}", notice.reason, notice.message);
      }
      unsent_.push_back(notice);
    }
  }

  // In their order, which people read. returns: false when some could not be sent and are kept for the next time
  bool send_events(const sys::Context& context) {
    while (!unsent_.empty()) {
      const Notice& notice = unsent_.front();
      const Result<> sent = kube::emit_event(context, api_, notice.about, work_.manager, notice.is_warning ? "Warning" : "Normal",
                                             notice.reason, notice.message);
      if (!sent.ok()) {
        const Code code = sent.error().code();
        const bool is_lost = code == Code::invalid || code == Code::denied;
        warn_once(context, fmt::format("cannot create Event {}: {}; {}", notice.reason, sent.error().message(),
                                       is_lost ? "it is only in this log" : "retrying"));
        if (!is_lost) return false;
      }
      unsent_.erase(unsent_.begin());
    }
    return true;
  }

  // Usual when several write to an object, so people hear of it only when it does not end.
  void note_conflict(const sys::Context& context, const std::string& text, Round& round) {
    context.log.debug("{}; planning again", text);
    round.conflict = text;
  }

  // Each text once until a plan went well after one that did not.
  void warn_once(const sys::Context& context, const std::string& text) {
    if (warned_.with_lock([&](auto& warned) { return warned.insert(text).second; })) context.log.warn("{}", text);
  }

  kube::Api& api_;
  const Reconciliation& work_;
  Guarded<std::map<std::string, SteadyTime>> looks_;  // when objects that no watch covers were seen, by key_of
  Guarded<std::set<std::string>> warned_;
  std::set<std::string> told_;  // notices
  std::vector<Notice> unsent_;  // of them
};

}  // namespace

void Plan::add(Plan other) {
  std::ranges::move(other.desired_objects, std::back_inserter(desired_objects));
  std::ranges::move(other.tasks, std::back_inserter(tasks));
  std::ranges::move(other.notices, std::back_inserter(notices));
  if (other.again) again = again ? std::min(*again, *other.again) : other.again;
}

bool is_fulfilled(const DesiredObject& desired, const Snapshot& seen) {
  return is_so(desired, seen.find(desired.type, space_of(desired), kube::name_of(desired.object)));
}

Result<> reconcile(const sys::Context& context, kube::Api& api, const Reconciliation& work) {
  return Reconciler(api, work).run(context);
}

}  // namespace slipway::components
