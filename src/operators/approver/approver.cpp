#include "operators/approver/approver.h"

#include "base/queue.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

namespace slipway::operators {

namespace {

constexpr std::string_view component = "slipway-approver";
constexpr sys::Pace retry_pace{Milliseconds(100), Milliseconds(1000)};
constexpr int tries = 6;

// What the other threads tell the deciding one.
struct Change {
  enum class Kind { requests, nodes, table, end };
  Kind kind = Kind::end;
  kube::Objects objects{};  // all that there are
};

// Threads: one.
class Approver {
 public:
  Approver(const sys::Context& context, kube::Api& api, const ApproverInput& input)
      : context_(context), api_(api), has_table_(!input.follows_table), machines_(input.machines) {}

  // One after another, and acts once: by an older list of nodes it would write what it has written.
  Result<> take(std::deque<Change> changes) {
    bool only_requests = true;
    for (Change& change : changes) {
      only_requests = only_requests && change.kind == Change::Kind::requests;
      switch (change.kind) {
        case Change::Kind::requests: requests_ = std::move(change.objects); break;
        case Change::Kind::nodes: take_nodes(std::move(change.objects)); break;
        case Change::Kind::table: take_table(change.objects); break;
        case Change::Kind::end: break;
      }
    }
    if (!has_nodes_ || !has_table_) return Ok{};
    if (!only_requests) TRY(label_nodes());
    TRY(remember_keys());
    for (const Json& request : requests_) {
      const auto verdict = judge_request(request, machines_ ? &*machines_ : nullptr, names_, keys_);
      if (!verdict || approved_.contains(uid_of(request))) continue;
      if (!verdict->approve) {
        leave(request, *verdict);
        continue;
      }
      TRY(approve(request, *verdict));
    }
    return Ok{};
  }

 private:
  void take_nodes(kube::Objects nodes) {
    nodes_ = std::move(nodes);
    has_nodes_ = true;
    names_.clear();
    keys_.clear();
    for (const Json& node : nodes_) {
      names_.emplace(kube::name_of(node));
      keys_.emplace(kube::name_of(node), known_keys(node));
    }
  }

  void take_table(const kube::Objects& found) {
    has_table_ = true;
    machines_ = MachineTable{};
    if (found.empty()) return context_.log.warn("there is no table of machines: nobody may join");
    auto table = machine_table(found.front(), kube::describe(found.front()));
    if (!table.ok()) return context_.log.warn("{}: nobody may join", table.error().message());
    machines_ = std::move(table).value();
  }

  static std::string uid_of(const Json& request) {
    return std::string(find_string(request, {"metadata", "uid"}).value_or(kube::name_of(request)));
  }

  // What changed or went in the meantime comes again with its next event.
  template <class T>
  Result<bool> done(Result<T> result) {
    if (result.ok()) return true;
    if (result.error().code() == Code::conflict || result.error().code() == Code::not_found) return false;
    return std::move(result).error();
  }

  Result<> approve(const Json& request, const Verdict& verdict) {
    // The followed list may be some milliseconds old: this one answer must not be.
    const bool is_client = !names_.contains(verdict.node);
    const auto write = [&]() -> Result<bool> {
      if (is_client && TRY(kube::find(context_, api_, kube::types::nodes, "", verdict.node))) return false;
      Json approved = request;
      JsonObject& status = approved.as_object()["status"].is_object() ? approved.as_object()["status"].get_object()
                                                                      : approved.as_object()["status"].emplace_object();
      Json& conditions = status["conditions"];
      if (!conditions.is_array()) conditions.emplace_array();
      conditions.get_array().push_back(
          JsonObject{{"type", "Approved"}, {"status", "True"}, {"reason", verdict.reason}, {"message", verdict.message}});
      return done(kube::update(context_, api_, kube::types::certificate_requests, approved, "approval"));
    };
    if (!TRY(sys::retry<bool>(context_, tries, retry_pace, write))) return Ok{};
    approved_.insert(uid_of(request));
    context_.log.info("approved {} of node {}: {}", kube::describe(request), verdict.node, verdict.message);
    tell(request, verdict, sys::Phase::finished);
    return Ok{};
  }

  void leave(const Json& request, const Verdict& verdict) {
    if (!left_.emplace(uid_of(request), verdict.reason).second) return;
    context_.log.warn("{} stays pending: {}: {}", kube::describe(request), verdict.reason, verdict.message);
    tell(request, verdict, sys::Phase::skipped);
    const Result<> told = kube::emit_event(context_, api_, request, component, "Warning", verdict.reason, verdict.message);
    if (!told.ok()) context_.log.warn("cannot put an Event on it: {}; continuing without", told.error().message());
  }

  void tell(const Json& request, const Verdict& verdict, sys::Phase phase) {
    context_.events.emit({.kind = "certificate-request",
                          .name = std::string(kube::name_of(request)),
                          .phase = phase,
                          .fields = {{"node", verdict.node}, {"reason", verdict.reason}}});
  }

  Result<> label_nodes() {
    if (!machines_) return Ok{};
    for (const Json& node : nodes_) {
      const auto patch = role_patch(node, *machines_);
      if (!patch) continue;
      const std::string name(kube::name_of(node));
      const auto write = [&] { return done(kube::merge_patch(context_, api_, kube::types::nodes, "", name, *patch)); };
      if (TRY(sys::retry<bool>(context_, tries, retry_pace, write))) context_.log.info("gave node {} its role", name);
    }
    return Ok{};
  }

  // As long as there are certificate requests to learn them from.
  Result<> remember_keys() {
    for (const auto& each : key_patches(nodes_, requests_)) {
      const auto write = [&] { return done(kube::merge_patch(context_, api_, kube::types::nodes, "", each.first, each.second)); };
      TRY(sys::retry<bool>(context_, tries, retry_pace, write));
    }
    return Ok{};
  }

  const sys::Context& context_;
  kube::Api& api_;
  bool has_table_;
  std::optional<MachineTable> machines_;
  kube::Objects requests_;
  kube::Objects nodes_;
  bool has_nodes_ = false;                              // before that nothing is known about who has registered
  std::set<std::string, std::less<>> names_;            // of the nodes
  NodeKeys keys_;                                       // of the nodes
  std::set<std::string> approved_;                      // of requests, by uid: their event may still be under way
  std::set<std::pair<std::string, std::string>> left_;  // uid and reason: one Event each
};

}  // namespace

Result<> approve_requests(const sys::Context& context, kube::Api& api, const ApproverInput& input) {
  Queue<Change> changes;
  sys::TaskGroup tasks(context);
  // However a task ends, the loop below has to learn of it.
  const auto run = [&](const std::string& name, std::function<Result<>(const sys::Context&)> work) {
    tasks.run(name, [&changes, work = std::move(work)](const sys::Context& task) {
      Result<> result = work(task);
      changes.push({});
      return result;
    });
  };
  const auto follow = [&](const std::string& what, Change::Kind kind, const kube::ResourceType& type, std::string_view space,
                          const kube::Selection& selection) {
    run("following " + what, [&changes, &api, kind, type, space, selection](const sys::Context& task) {
      return kube::follow(task, api, type, space, selection, [&](const kube::Objects& found) -> Result<> {
        changes.push({kind, found});
        return Ok{};
      });
    });
  };
  follow("certificate requests", Change::Kind::requests, kube::types::certificate_requests, "", {});
  follow("nodes", Change::Kind::nodes, kube::types::nodes, "", {});
  if (input.follows_table) {
    follow("the table of machines", Change::Kind::table, kube::types::config_maps, machine_table_space,
           {.fields = fmt::format("metadata.name={}", machine_table_name)});
  }
  if (input.end) run("waiting for the end", input.end);

  Approver approver(context, api, input);
  for (bool is_over = false; !is_over;) {
    std::deque<Change> waiting = changes.pop_all(context.stop);
    if (waiting.empty()) break;
    is_over = std::ranges::find(waiting, Change::Kind::end, &Change::kind) != waiting.end();
    const Result<> taken = approver.take(std::move(waiting));
    if (!taken.ok()) return taken;
  }
  tasks.request_stop();
  return tasks.wait();
}

}  // namespace slipway::operators
