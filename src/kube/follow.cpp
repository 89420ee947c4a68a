#include "kube/client.h"
#include "kube/verbs.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <thread>

namespace slipway::kube {

namespace {

constexpr sys::Pace pace{Milliseconds(50), Milliseconds(1000)};
// How long errors last before they are a warning: an API server that restarts is none.
constexpr Milliseconds silent_limit{30'000};

// Errors that can pass: an unreachable server, an expired version, a type that is not served yet.
bool is_transient(Code code) {
  return code == Code::unavailable || code == Code::timeout || code == Code::conflict || code == Code::not_found;
}

bool is_before(const Json& a, const Json& b) {
  const std::string_view space_a = namespace_of(a), space_b = namespace_of(b);
  return space_a != space_b ? space_a < space_b : name_of(a) < name_of(b);
}

struct Subject {
  const ResourceType& type;
  std::string_view namespace_name;
  const Selection& selection;
};

using OnChange = std::function<Result<>(Change)>;

// Lists the objects on the server, then watches.
class Follower {
 public:
  Follower(Api& api, Subject subject, const OnChange& changed) : api_(api), subject_(subject), changed_(changed) {}

  // Lists and watches until an error; never succeeds.
  Result<> run(const sys::Context& context, Milliseconds limit) {
    has_listed_ = false;
    TRY(report({Change::Kind::listing}));
    TRY(list_each(context, api_, limit, subject_.type, subject_.namespace_name, subject_.selection, version_,
                  [this](Json object) {
                    return report({Change::Kind::present, std::move(object)});
                  }));
    has_listed_ = true;
    TRY(report({Change::Kind::listed}));
    for (;;) {
      is_silent_ = true;
      TRY(api_.stream(context, watch_path(), [this](WatchEvent event) { return take(std::move(event)); }));
      if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
      // A server ends each watch after some minutes, and sends at least a bookmark before. A watch without an event is a failure.
      if (is_silent_) return error(Code::unavailable, "{}: the server ended the watch without an event", watch_path());
    }
  }

  bool has_listed() const { return has_listed_; }
  const std::optional<Error>& callers_failure() const { return callers_failure_; }

 private:
  std::string watch_path() const {
    return fmt::format("{}?watch=true&allowWatchBookmarks=true&resourceVersion={}{}",
                       path_of(subject_.type, subject_.namespace_name), version_, query_of(subject_.selection));
  }

  Result<> report(Change change) {
    Result<> reported = changed_(std::move(change));
    if (!reported.ok()) callers_failure_ = reported.error();
    return reported;
  }

  Result<> take(WatchEvent event) {
    is_silent_ = false;
    if (const auto version = find_string(event.object, {"metadata", "resourceVersion"})) version_ = *version;
    if (event.kind == WatchEvent::Kind::bookmark) return Ok{};
    const bool is_gone = event.kind == WatchEvent::Kind::deleted;
    return report({is_gone ? Change::Kind::removed : Change::Kind::present, std::move(event.object)});
  }

  Api& api_;
  Subject subject_;
  const OnChange& changed_;
  std::string version_;
  bool has_listed_ = false;
  bool is_silent_ = true;
  std::optional<Error> callers_failure_;
};

// Keeps the objects, sorted, and passes all of them on after each change.
class Collection {
 public:
  explicit Collection(const std::function<Result<>(const Objects&)>& changed, Reduce reduce = {})
      : changed_(changed), reduce_(std::move(reduce)) {}

  Result<> take(Change change) {
    switch (change.kind) {
      case Change::Kind::listing:
        is_listing_ = true;
        listed_.clear();
        return Ok{};
      case Change::Kind::listed:
        is_listing_ = false;
        std::sort(listed_.begin(), listed_.end(), is_before);
        objects_ = std::move(listed_);
        listed_.clear();
        return changed_(objects_);
      case Change::Kind::present:
        if (!reduce_) break;
        if (Json kept = reduce_(change.object); !kept.is_null()) {
          change.object = std::move(kept);
        } else if (is_listing_) {
          return Ok{};
        } else {
          change.kind = Change::Kind::removed;
        }
        break;
      case Change::Kind::removed: break;
    }
    if (is_listing_) {
      listed_.push_back(std::move(change.object));
      return Ok{};
    }
    const auto place = std::lower_bound(objects_.begin(), objects_.end(), change.object, is_before);
    const bool is_known = place != objects_.end() && !is_before(change.object, *place);
    if (change.kind == Change::Kind::removed) {
      if (!is_known) return Ok{};
      objects_.erase(place);
    } else if (is_known) {
      if (reduce_ && *place == change.object) return Ok{};
      *place = std::move(change.object);
    } else {
      objects_.insert(place, std::move(change.object));
    }
    return changed_(objects_);
  }

 private:
  const std::function<Result<>(const Objects&)>& changed_;
  const Reduce reduce_;
  Objects objects_, listed_;
  bool is_listing_ = false;
};

// follow_changes() with a deadline. not_yet: called for every error that can pass; an error that it returns ends the call
Result<> follow_until(const sys::Context& context, SteadyTime deadline, Api& api, Subject subject, const OnChange& changed,
                      const std::function<Result<>(const Error&)>& not_yet) {
  Follower follower(api, subject, changed);
  Milliseconds between = pace.first;
  for (;;) {
    const Milliseconds remaining = std::max(deadline - context.clock.steady(), Milliseconds(1));
    const Result<> ended = follower.run(context, std::min(remaining, ApiRequest().limit));
    if (follower.callers_failure()) return *follower.callers_failure();
    if (context.stop.stop_requested()) return error(Code::cancelled, "watching {}: stopped", subject.type.plural);
    if (!is_transient(ended.error().code())) return ended.error();
    TRY(not_yet(ended.error()));
    if (follower.has_listed()) between = pace.first;
    sys::pause(context, std::min(between, std::max(deadline - context.clock.steady(), Milliseconds(1))));
    between = std::min(between * 2, pace.longest);
  }
}

}  // namespace

Result<> follow(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                const Selection& selection, const std::function<Result<>(const Objects&)>& changed, const Reduce& reduce) {
  Collection collection(changed, reduce);
  return follow_changes(context, api, type, namespace_name, selection,
                        [&](Change change) { return collection.take(std::move(change)); });
}

Result<> follow_changes(const sys::Context& context, Api& api, const ResourceType& type, std::string_view namespace_name,
                        const Selection& selection, const std::function<Result<>(Change)>& changed) {
  std::optional<SteadyTime> failing_since;
  bool is_told = false;
  const auto on_change = [&](Change change) {
    if (change.kind == Change::Kind::listed) {
      if (is_told) context.log.info("watching {}: the API server answers again", type.plural);
      failing_since.reset();
      is_told = false;
    }
    return changed(std::move(change));
  };
  return follow_until(context, SteadyTime::max(), api, {type, namespace_name, selection}, on_change,
                      [&](const Error& failure) -> Result<> {
                        const SteadyTime now = context.clock.steady();
                        if (!failing_since) failing_since = now;
                        if (is_told || now < *failing_since + silent_limit) {
                          context.log.debug("watching {}: {}; retrying", type.plural, failure.message());
                        } else {
                          context.log.warn("watching {}: {}; retrying", type.plural, failure.message());
                          is_told = true;
                        }
                        return Ok{};
                      });
}

Result<> wait_until(const sys::Context& context, Api& api, std::string_view what, Milliseconds limit, const ResourceType& type,
                    std::string_view namespace_name, const Selection& selection,
                    const std::function<Result<std::optional<std::string>>(const Objects&)>& missing) {
  const SteadyTime deadline = context.clock.steady() + limit;
  std::stop_source stop;
  const std::stop_callback forward(context.stop, [&] { stop.request_stop(); });
  std::string reason;
  bool is_done = false;
  // Ends the watch at the deadline. Started with the first list: before that, the limits of requests and pauses are sufficient.
  std::jthread timer;
  const std::function<Result<>(const Objects&)> observe = [&](const Objects& objects) -> Result<> {
    Result<std::optional<std::string>> seen = missing(objects);
    if (seen.ok() && !seen.value()) {
      is_done = true;
      return error(Code::cancelled, "nothing is missing");
    }
    if (seen.ok()) {
      reason = *seen.value();
    } else {
      const Code code = seen.error().code();
      if (code != Code::unavailable && code != Code::timeout && code != Code::conflict) return std::move(seen).error();
      reason = seen.error().message();
    }
    if (timer.joinable()) return Ok{};
    timer = std::jthread([&context, &stop, deadline](const std::stop_token& own) {
      context.clock.wait(deadline, own, nullptr, 0);
      stop.request_stop();
    });
    return Ok{};
  };
  const Error late = error(Code::timeout, "timed out");
  Collection collection(observe);
  const Result<> ended = follow_until(
      context.with_stop(stop.get_token()), deadline, api, {type, namespace_name, selection},
      [&](Change change) { return collection.take(std::move(change)); },
      [&](const Error& failure) -> Result<> {
        reason = failure.message();
        if (context.clock.steady() >= deadline) return late;
        return Ok{};
      });
  if (is_done) return Ok{};
  if (context.stop.stop_requested()) return error(Code::cancelled, "waiting for {}: stopped: {}", what, reason);
  const Code code = ended.error().code();
  if (code == Code::timeout || code == Code::cancelled) {
    return error(Code::timeout, "waiting for {}: timed out after {}: {}", what, human_duration(limit), reason);
  }
  return Error(ended.error()).context(fmt::format("waiting for {}", what));
}

}  // namespace slipway::kube
