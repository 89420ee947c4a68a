#include "components/machine_approver/approver.h"

#include "base/guarded.h"
#include "base/queue.h"
#include "components/machine_approver/machine_table_store.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace slipway::components::machine_approver {

namespace {

constexpr std::string_view component = "slipway-approver";
constexpr sys::Pace retry_pace{Milliseconds(100), Milliseconds(1000)};

// What other threads report to the deciding thread.
struct Change {
  enum class Kind { requests, nodes, table, time, end };
  Kind kind = Kind::end;
  kube::Objects objects{};  // the whole list
};

// Wakes the deciding thread at a time, although nothing changed.
class Alarm {
 public:
  void set(SteadyTime due) {
    if (due_.with_lock([&](SteadyTime& before) { return std::exchange(before, due) != due; })) changed_.notify();
  }

  Result<> run(const sys::Context& context, const std::function<void()>& ring) {
    while (!context.stop.stop_requested()) {
      const std::uint64_t seen = changed_.count();
      const SteadyTime due = due_.with_lock([](SteadyTime& time) { return time; });
      context.clock.wait(due, context.stop, &changed_, seen);
      if (context.clock.steady() < due) continue;
      due_.with_lock([&](SteadyTime& time) {
        if (time == due) time = SteadyTime::max();
      });
      ring();
    }
    return Ok{};
  }

 private:
  Guarded<SteadyTime> due_{SteadyTime::max()};
  sys::Wakeup changed_;
};

// Threads: one.
class Approver {
 public:
  Approver(const sys::Context& context, kube::Api& api, const ApproverInput& input)
      : context_(context),
        api_(api),
        input_(input),
        store_(context, api),
        table_(context, store_, input.follows_table, input.machines.value_or(kube::MachineTable{})) {
    facts_.machines = table_.rows();
    facts_.admits_by_credential = !input.machines && !input.follows_table;
    facts_.certificates_have_ids = input.certificates_have_ids;
  }

  // Applies all changes before it acts once: with an older list of nodes it would repeat writes.
  Result<> apply(std::deque<Change> changes) {
    for (Change& change : changes) {
      switch (change.kind) {
        case Change::Kind::requests: set_requests(std::move(change.objects)); break;
        case Change::Kind::nodes: set_nodes(std::move(change.objects)); break;
        case Change::Kind::table:
          table_.update(std::move(change.objects));
          facts_.machines = table_.rows();
          break;
        case Change::Kind::time:
        case Change::Kind::end: break;
      }
      must_label_nodes_ |= change.kind == Change::Kind::nodes || change.kind == Change::Kind::table;
    }
    if (!is_following()) return Ok{};
    next_grace_ = SteadyTime::max();
    if (!has_records_) TRY(load_records());
    must_label_nodes_ |= update_facts();
    if (std::exchange(must_label_nodes_, false)) TRY(label_nodes());
    for (std::size_t i = 0; i < requests_.size(); ++i) TRY(decide(requests_[i]));
    if (update_facts()) TRY(label_nodes());
    if (context_.clock.steady() < store_.next_write()) return Ok{};
    TRY(table_.save(nodes_));
    facts_.machines = table_.rows();
    return save_records();
  }

  // Whether everything that decisions need has been listed.
  bool is_following() const { return has_requests_ && has_nodes_ && table_.is_listed(); }

  // When to run again if nothing changes: for a postponed write, a request that stays pending, and a missing table.
  SteadyTime next_wakeup() const {
    SteadyTime next_write = table_.next_save();
    if (store_.next_write() > context_.clock.steady()) next_write = std::min(next_write, store_.next_write());
    return std::min(next_grace_, next_write);
  }

 private:
  void set_requests(kube::Objects requests) {
    requests_ = std::move(requests);
    has_requests_ = true;
    std::set<std::string> uids;
    for (Json& request : requests_) {
      const std::string uid = uid_of(request);
      uids.insert(uid);
      // The watch may not have delivered the approval yet.
      const auto approved = approved_.find(uid);
      if (approved != approved_.end() && !has_conditions(request)) request = approved->second;
    }
    std::erase_if(approved_, [&](const auto& each) { return !uids.contains(each.first); });
    std::erase_if(reported_, [&](const auto& each) { return !uids.contains(each.first); });
  }

  void set_nodes(kube::Objects nodes) {
    nodes_ = std::move(nodes);
    has_nodes_ = true;
    facts_.nodes.clear();
    for (const Json& node : nodes_) facts_.nodes.emplace(kube::name_of(node));
  }

  static std::string uid_of(const Json& request) {
    return std::string(find_string(request, {"metadata", "uid"}).value_or(kube::name_of(request)));
  }
  static bool has_conditions(const Json& request) { return !find_array(request, {"status", "conditions"}).empty(); }

  // returns: false if the object changed or was deleted; its next event triggers another attempt
  template <class T>
  Result<bool> done(Result<T> result) {
    if (result.ok()) return true;
    if (result.error().code() == Code::conflict || result.error().code() == Code::not_found) return false;
    return std::move(result).error();
  }

  // returns: whether the table got rows
  bool update_facts() {
    const std::vector<RequestFacts> facts = read_requests(requests_, facts_.certificates_have_ids);
    const bool knows_rows = table_.is_readable() || facts_.admits_by_credential;
    const bool may_add = knows_rows || table_.is_missing();
    const kube::MachineTable added = may_add ? rows_to_add(facts, facts_.records, facts_.machines) : kube::MachineTable{};
    table_.add(added);
    facts_.machines = table_.rows();
    facts_.records = learn(std::move(facts_.records), facts, nodes_, knows_rows ? &facts_.machines : nullptr);
    facts_.approvals = approvals_of(facts, facts_.records);
    return !added.empty();
  }

  Result<> decide(Json& request) {
    const auto verdict = judge_request(request, facts_);
    if (!verdict) return Ok{};
    if (verdict->approve) return approve(request, *verdict);
    leave_pending(request, *verdict);
    return Ok{};
  }

  Result<> approve(Json& request, const Verdict& verdict) {
    // The list of the watch may be some milliseconds old, so a first approval reads the node again.
    const bool is_first = !facts_.nodes.contains(verdict.node);
    std::optional<Json> written;
    const auto write = [&]() -> Result<bool> {
      if (is_first && TRY(kube::find(context_, api_, kube::types::nodes, "", verdict.node))) return false;
      Json approved = request;
      JsonObject& status = approved.as_object()["status"].is_object() ? approved.as_object()["status"].get_object()
                                                                      : approved.as_object()["status"].emplace_object();
      Json& conditions = status["conditions"];
      if (!conditions.is_array()) conditions.emplace_array();
      conditions.get_array().push_back(
          JsonObject{{"type", "Approved"}, {"status", "True"}, {"reason", verdict.reason}, {"message", verdict.message}});
      auto result = kube::update(context_, api_, kube::types::certificate_requests, approved, "approval");
      if (result.ok()) written = std::move(approved);
      return done(std::move(result));
    };
    if (!TRY(sys::retry<bool>(context_, write_attempts, retry_pace, write))) return Ok{};
    request = *std::move(written);
    approved_[uid_of(request)] = request;
    // This approval counts for the next request for this name.
    for (const auto& [name, keys] : approvals_of(read_requests({request}, facts_.certificates_have_ids), facts_.records)) {
      std::vector<std::string>& all = facts_.approvals[name];
      all.insert(all.end(), keys.begin(), keys.end());
    }
    context_.log.info("approved {} of node {}: {}", kube::describe(request), verdict.node, verdict.message);
    emit_event(request, verdict, sys::Phase::finished);
    return Ok{};
  }

  void leave_pending(const Json& request, const Verdict& verdict) {
    if (verdict.grace.count() > 0) {
      const auto since = parse_rfc3339(find_string(request, {"metadata", "creationTimestamp"}).value_or(""));
      const WallTime now = context_.clock.now();
      if (since.ok() && now < since.value() + verdict.grace) {
        next_grace_ = std::min(next_grace_, context_.clock.steady() + (since.value() + verdict.grace - now));
        return;
      }
    }
    if (!reported_.emplace(uid_of(request), verdict.reason).second) return;
    context_.log.warn("{} is left pending: {}: {}", kube::describe(request), verdict.reason, verdict.message);
    emit_event(request, verdict, sys::Phase::skipped);
    const Result<> sent = kube::emit_event(context_, api_, request, component, "Warning", verdict.reason, verdict.message);
    if (!sent.ok()) context_.log.warn("cannot create an Event for it: {}; continuing without", sent.error().message());
  }

  void emit_event(const Json& request, const Verdict& verdict, sys::Phase phase) {
    context_.events.emit({.kind = "certificate-request",
                          .name = std::string(kube::name_of(request)),
                          .phase = phase,
                          .fields = {{"node", verdict.node}, {"reason", verdict.reason}}});
  }

  Result<> label_nodes() {
    for (const Json& node : nodes_) {
      const auto patch = role_patch(node, facts_.machines);
      if (!patch) continue;
      const std::string name(kube::name_of(node));
      const auto write = [&] { return done(kube::merge_patch(context_, api_, kube::types::nodes, "", name, *patch)); };
      if (TRY(sys::retry<bool>(context_, write_attempts, retry_pace, write)))
        context_.log.info("set the role label of node {}", name);
    }
    return Ok{};
  }

  Result<> load_records() {
    stored_ = TRY(store_.find(records_space, records_name));
    has_records_ = true;
    if (!stored_) {
      if (input_.follows_table) facts_.records = records_of_annotations(nodes_);
      return Ok{};
    }
    facts_.records = read_stored();
    return Ok{};
  }

  NodeRecords read_stored() {
    std::vector<std::string> unreadable;
    NodeRecords records = parse_records(*stored_, unreadable);
    for (const std::string& problem : unreadable) {
      context_.log.warn("{}: the node cannot be recognized by its key; continuing without", problem);
    }
    return records;
  }

  Result<> save_records() {
    for (int attempt = 1;; ++attempt) {
      const bool exists = stored_.has_value();
      NodeRecords records = facts_.records;
      // If this program ends before a row is written, the next one must add the row.
      for (const kube::MachineRow& row : table_.unsaved_rows()) {
        if (const auto record = records.find(row.name); record != records.end()) record->second.had_row = false;
      }
      if (exists ? with_records(*stored_, records) == *stored_ : records.empty()) return Ok{};
      auto written = store_.write(with_records(stored_.value_or(new_records_map()), records), exists);
      if (written.ok()) {
        stored_ = std::move(written).value();
        return Ok{};
      }
      const bool was_changed = written.error().code() == Code::conflict || (exists && written.error().code() == Code::not_found);
      if (!was_changed || attempt == write_attempts) return store_.postpone("the records of nodes", written.error());
      // Another approver wrote the records: take them over, then add what the current objects show.
      stored_ = TRY(store_.find(records_space, records_name));
      if (stored_) facts_.records = read_stored();
      (void)update_facts();
    }
  }

  const sys::Context& context_;
  kube::Api& api_;
  const ApproverInput& input_;
  ApprovalFacts facts_;
  ConfigMapStore store_;
  MachineTableStore table_;
  kube::Objects requests_;
  bool has_requests_ = false;
  kube::Objects nodes_;
  bool must_label_nodes_ = false;  // roles may need a label
  bool has_nodes_ = false;         // before that it is unknown which nodes exist
  bool has_records_ = false;
  std::optional<Json> stored_;                              // the ConfigMap with the records as it was read or written last
  std::map<std::string, Json> approved_;                    // requests by uid
  std::set<std::pair<std::string, std::string>> reported_;  // uid and reason: one Event each
  SteadyTime next_grace_ = SteadyTime::max();               // when a pending request must be reported
};

}  // namespace

Result<> approve_requests(const sys::Context& context, kube::Api& api, const ApproverInput& input) {
  Queue<Change> changes;
  Alarm alarm;
  sys::TaskGroup tasks(context);
  // The end of any task wakes the loop below.
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
    follow("the machine table", Change::Kind::table, kube::types::config_maps, kube::machine_table_space,
           {.fields = fmt::format("metadata.name={}", kube::machine_table_name)});
  }
  run("waking up in time",
      [&](const sys::Context& task) { return alarm.run(task, [&changes] { changes.push({.kind = Change::Kind::time}); }); });
  if (input.end) run("waiting for the end", input.end);

  Approver approver(context, api, input);
  bool is_reported = false;
  for (bool is_over = false; !is_over;) {
    std::deque<Change> waiting = changes.pop_all(context.stop);
    if (waiting.empty()) break;
    is_over = std::ranges::find(waiting, Change::Kind::end, &Change::kind) != waiting.end();
    const Result<> applied = approver.apply(std::move(waiting));
    if (!applied.ok()) return applied;
    alarm.set(approver.next_wakeup());
    if (!is_reported && approver.is_following() && input.on_following) {
      input.on_following();
      is_reported = true;
    }
  }
  tasks.request_stop();
  return tasks.wait();
}

}  // namespace slipway::components::machine_approver
