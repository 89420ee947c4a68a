#include "kube/ensure.h"

#include "base/check.h"
#include "base/queue.h"
#include "base/text.h"
#include "kube/contains.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace slipway::kube {

namespace {

// The pause between rounds of retries. A watch on all CRDs would be faster, but costs megabytes of schemas; a round sends one
// request for each missing group and namespace.
constexpr sys::Pace pace{Milliseconds(25), Milliseconds(500)};
// Waits longer than this are reported: in a healthy cluster, types and namespaces are created by then.
constexpr Milliseconds long_wait = Seconds(40);

bool is_type(const Json& object) { return find_string(object, {"kind"}) == "CustomResourceDefinition"; }
bool is_namespace(const Json& object) {
  return find_string(object, {"kind"}) == "Namespace" && find_string(object, {"apiVersion"}) == "v1";
}

// Whether a CRD defines the type, as opposed to Kubernetes itself.
bool is_custom(const ResourceType& type) { return type.group.find('.') != std::string::npos && !type.group.ends_with(".k8s.io"); }

bool is_refusal(Code code) { return code == Code::invalid || code == Code::denied; }

// Remembers which namespaces are missing, so that a hundred manifests of a missing namespace cost one request a round.
class Namespaces {
 public:
  // False if the namespace is known to be missing. Sends a request only after an object failed because of its namespace. Blocks
  // while another thread sends the request.
  Result<bool> may_exist(const sys::Context& context, Api& api, const std::string& name) {
    if (const State state = state_of(name); state != State::to_check) return state != State::missing;
    const std::lock_guard lock(request_mutex_);
    if (const State state = state_of(name); state != State::to_check) return state != State::missing;
    const bool is_there = TRY(find(context, api, types::namespaces, "", name)).has_value();
    set(name, is_there ? State::unknown : State::missing);
    return is_there;
  }
  void mark_to_check(const std::string& name) { set(name, State::to_check); }
  void refresh() {
    states_.with_lock([](auto& states) {
      for (auto& [name, state] : states) {
        if (state == State::missing) state = State::to_check;
      }
    });
  }

 private:
  enum class State { unknown, to_check, missing };
  State state_of(const std::string& name) {
    return states_.with_lock([&](auto& states) { return states.try_emplace(name, State::unknown).first->second; });
  }
  void set(const std::string& name, State state) {
    states_.with_lock([&](auto& states) { states[name] = state; });
  }
  Guarded<std::map<std::string, State>> states_;
  std::mutex request_mutex_;
};

// Creates or updates one manifest. Threads: any.
class Maker {
 public:
  Maker(Api& api, Mapper& mapper, const EnsureOptions& options) : api_(api), mapper_(mapper), options_(options) {}

  // errors: invalid and denied are final, others can be retried
  Result<Outcome> make(const sys::Context& context, const Json& object) {
    const std::optional<ResourceType> type = TRY(mapper_.type_of(context, object));
    if (!type) {
      return error(Code::not_found, "the server does not know {} of {}", find_string(object, {"kind"}).value_or(""),
                   find_string(object, {"apiVersion"}).value_or(""));
    }
    const std::string space =
        type->namespaced ? std::string(namespace_of(object).empty() ? "default" : namespace_of(object)) : "";
    if (!space.empty() && !TRY(namespaces_.may_exist(context, api_, space))) {
      return error(Code::not_found, "namespace {} does not exist", space);
    }
    Result<Outcome> made = options_.update ? apply_one(context, *type, object) : create_one(context, *type, object);
    if (!made.ok() && made.error().code() == Code::not_found && !space.empty()) namespaces_.mark_to_check(space);
    return made;
  }

  // Forgets missing types and namespaces, so that they are looked up again.
  void refresh() {
    mapper_.refresh();
    namespaces_.refresh();
  }

 private:
  // Reads an object of a built-in type only if it exists: the first run, for which users wait, then needs one request less.
  Result<Outcome> create_one(const sys::Context& context, const ResourceType& type, const Json& object) {
    std::optional<Json> live;
    if (is_custom(type)) live = TRY(find(context, api_, type, namespace_of(object), name_of(object)));
    if (!live) {
      const Result<Json> created = make_new(context, type, object);
      if (created.ok()) {
        TRY(set_status(context, type, object, created.value()));
        return Outcome{Outcome::Kind::created};
      }
      if (created.error().code() != Code::conflict) return created.error();
      live = TRY(get(context, api_, type, namespace_of(object), name_of(object)));
    }
    const bool has_set_status = TRY(set_status(context, type, object, *live));
    if (const auto field = first_difference(object, *live)) return Outcome{Outcome::Kind::differs, *field};
    return Outcome{has_set_status ? Outcome::Kind::updated : Outcome::Kind::unchanged};
  }

  // An API server delays a POST of a custom type that it has served for less than two seconds by two seconds
  // (apiextensions-apiserver, customresource_handler.go), but not an apply. An apply rejects fields that the type does not have;
  // a POST drops them.
  Result<Json> make_new(const sys::Context& context, const ResourceType& type, const Json& object) {
    if (is_custom(type)) {
      Result<Json> applied = apply_without_status(context, type, object);
      if (applied.ok()) return applied;
    }
    return create(context, api_, type, object);
  }

  Result<Json> apply_without_status(const sys::Context& context, const ResourceType& type, const Json& object) {
    Json wanted = object;
    wanted.as_object().erase("status");
    return apply(context, api_, type, wanted, options_.manager);
  }

  Result<Outcome> apply_one(const sys::Context& context, const ResourceType& type, const Json& object) {
    const std::optional<Json> before = TRY(find(context, api_, type, namespace_of(object), name_of(object)));
    const bool is_same = before && !first_difference(object, *before);
    Json live = is_same ? *before : Json();
    if (!is_same) live = TRY(apply_without_status(context, type, object));
    const bool has_set_status = TRY(set_status(context, type, object, live));
    if (!before) return Outcome{Outcome::Kind::created};
    return Outcome{is_same && !has_set_status ? Outcome::Kind::unchanged : Outcome::Kind::updated};
  }

  // returns: whether the status was set. If a controller is faster, the update is a conflict and the retry sees its status.
  Result<bool> set_status(const sys::Context& context, const ResourceType& type, const Json& object, const Json& live) {
    const Json* status = slipway::find(object, {"status"});
    if (is_empty(status) || !is_empty(slipway::find(live, {"status"})) || !live.is_object()) return false;
    Json wanted = live;
    wanted.as_object()["status"] = *status;
    const Result<Json> set = update(context, api_, type, wanted, "status");
    if (set.ok()) return true;
    if (set.error().code() == Code::not_found) return false;  // the type has no status subresource
    return set.error();
  }

  Api& api_;
  Mapper& mapper_;
  const EnsureOptions& options_;
  Namespaces namespaces_;
};

// Distributes manifests to workers and records the results. Everything except the workers runs on the caller's thread.
class Run {
 public:
  Run(const sys::Context& context, Maker& maker, const std::vector<Manifest>& manifests,
      const std::function<void(const Manifest&, const Outcome&)>& on_outcome)
      : context_(context),
        maker_(maker),
        manifests_(manifests),
        on_outcome_(on_outcome),
        last_error_(manifests.size(), error(Code::timeout, "not attempted")) {}

  Result<> execute(int at_once, SteadyTime deadline) {
    sys::TaskGroup workers(context_);
    const std::size_t threads = std::min(manifests_.size(), static_cast<std::size_t>(at_once));
    for (std::size_t i = 0; i < threads; ++i) {
      workers.run("", [this](const sys::Context& own) -> Result<> {
        for (auto index = ready_.pop(own.stop); index && !own.stop.stop_requested(); index = ready_.pop(own.stop)) {
          done_.push({*index, maker_.make(own, manifests_[*index].object)});
        }
        return Ok{};
      });
    }
    for (std::size_t i = 0; i < manifests_.size(); ++i) start(i);
    while ((in_progress_ > 0 || !waiting_.empty()) && context_.clock.steady() <= deadline) {
      if (in_progress_ == 0 && !begin_round(deadline)) break;
      const std::optional<Done> done = done_.pop(context_.stop);
      if (!done) break;
      --in_progress_;
      settle(done->index, done->result);
    }
    workers.request_stop();
    TRY(workers.wait());
    settle_last_ones();
    return summary();
  }

 private:
  struct Done {
    std::size_t index;
    Result<Outcome> result;
  };

  void start(std::size_t index) {
    ++in_progress_;
    ready_.push(index);
  }

  void start_waiting(const std::function<bool(const Json&)>& is_meant) {
    std::vector<std::size_t> rest;
    for (const std::size_t index : waiting_) {
      if (is_meant(manifests_[index].object)) {
        start(index);
      } else {
        rest.push_back(index);
      }
    }
    waiting_ = std::move(rest);
  }

  // Retries the waiting manifests after a pause. returns: false if the time is over or a stop was requested
  bool begin_round(SteadyTime deadline) {
    const SteadyTime now = context_.clock.steady();
    if (now >= deadline) return false;
    if (!sys::pause(context_, std::min(between_, deadline - now))) return false;
    between_ = std::min(between_ * 2, pace.longest);
    if (now - begin_ >= long_wait) report_waiting();
    maker_.refresh();
    start_waiting([](const Json&) { return true; });
    return true;
  }

  // Reports once, and only waits for a missing type or namespace, not for an unavailable server.
  void report_waiting() {
    if (!on_outcome_ || std::exchange(has_reported_waiting_, true)) return;
    for (const std::size_t index : waiting_) {
      if (last_error_[index] && last_error_[index]->code() == Code::not_found)
        on_outcome_(manifests_[index], {Outcome::Kind::waits, last_error_[index]->message()});
    }
  }

  void settle(std::size_t index, const Result<Outcome>& result) {
    const Manifest& manifest = manifests_[index];
    if (!result.ok()) {
      last_error_[index] = result.error();
      if (!is_refusal(result.error().code())) {
        waiting_.push_back(index);
      } else if (on_outcome_) {
        on_outcome_(manifest, {Outcome::Kind::failed, result.error().message()});
      }
      return;
    }
    last_error_[index].reset();
    const bool is_new = result->kind == Outcome::Kind::created;
    if (is_new && (is_type(manifest.object) || is_namespace(manifest.object))) {
      between_ = pace.first;
      maker_.refresh();
      // A type is served a moment after its definition exists, so the next round handles it. A namespace is usable at once.
      const std::string name(name_of(manifest.object));
      if (is_namespace(manifest.object)) start_waiting([&](const Json& object) { return namespace_of(object) == name; });
    }
    if (on_outcome_) on_outcome_(manifest, result.value());
  }

  // Results that arrived while the workers stopped count. Cancelled requests keep their previous error.
  void settle_last_ones() {
    std::stop_source nothing_more;
    nothing_more.request_stop();
    while (const std::optional<Done> done = done_.pop(nothing_more.get_token())) {
      if (done->result.ok() || done->result.error().code() != Code::cancelled) settle(done->index, done->result);
    }
  }

  Result<> summary() const {
    std::vector<std::string> lines;
    std::optional<Code> refusal;
    for (std::size_t i = 0; i < manifests_.size(); ++i) {
      if (!last_error_[i]) continue;
      if (!refusal && is_refusal(last_error_[i]->code())) refusal = last_error_[i]->code();
      lines.push_back(fmt::format("{} ({}): {}", manifests_[i].name, describe(manifests_[i].object), last_error_[i]->message()));
    }
    if (context_.stop.stop_requested()) return error(Code::cancelled, "stopped; still missing:\n{}", join(lines, "\n"));
    if (lines.empty()) return Ok{};
    return error(refusal.value_or(Code::timeout), "{} of {} manifests are not created:\n{}", lines.size(), manifests_.size(),
                 join(lines, "\n"));
  }

  const sys::Context& context_;
  Maker& maker_;
  const std::vector<Manifest>& manifests_;
  const std::function<void(const Manifest&, const Outcome&)>& on_outcome_;
  Queue<std::size_t> ready_;
  Queue<Done> done_;
  std::size_t in_progress_ = 0;                   // in ready_, with a worker or in done_
  std::vector<std::size_t> waiting_;              // to be retried
  std::vector<std::optional<Error>> last_error_;  // nullopt if the object exists
  Milliseconds between_ = pace.first;
  SteadyTime begin_ = context_.clock.steady();
  bool has_reported_waiting_ = false;
};

}  // namespace

Result<> ensure_all(const sys::Context& context, Api& api, Mapper& mapper, std::vector<Manifest> manifests,
                    const EnsureOptions& options, const std::function<void(const Manifest&, const Outcome&)>& on_outcome) {
  CHECK(options.at_once > 0);
  CHECK(!options.manager.empty());
  const auto first =
      std::stable_partition(manifests.begin(), manifests.end(), [](const Manifest& m) { return is_type(m.object); });
  std::stable_partition(first, manifests.end(), [](const Manifest& m) { return is_namespace(m.object); });
  Maker maker(api, mapper, options);
  Run run(context, maker, manifests, on_outcome);
  return run.execute(options.at_once, context.clock.steady() + options.limit);
}

}  // namespace slipway::kube
