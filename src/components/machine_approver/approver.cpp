#include "components/machine_approver/approver.h"

#include "base/guarded.h"
#include "base/queue.h"
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
constexpr int tries = 6;
constexpr Milliseconds between_saves{2'000};  // after one that failed: namespaces come late in an installation
// So long a cluster has no table before its masters get rows: the installer's may still be on its way.
constexpr Milliseconds longest_without_table = std::chrono::minutes(2);
const kube::ResourceType& config_maps = kube::types::config_maps;

// What the other threads tell the deciding one.
struct Change {
  enum class Kind { requests, nodes, table, time, end };
  Kind kind = Kind::end;
  kube::Objects objects{};  // all that there are
};

// Wakes the deciding thread when something is due though nothing changed.
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
      : context_(context), api_(api), input_(input), has_table_(!input.follows_table), can_read_table_(!input.follows_table) {
    known_.machines = input.machines.value_or(kube::MachineTable{});
    known_.admits_by_credential = !input.machines && !input.follows_table;
    known_.certificates_have_ids = input.certificates_have_ids;
  }

  // One after another, and acts once: by an older list of nodes it would write what it has written.
  Result<> take(std::deque<Change> changes) {
    for (Change& change : changes) {
      switch (change.kind) {
        case Change::Kind::requests: take_requests(std::move(change.objects)); break;
        case Change::Kind::nodes: take_nodes(std::move(change.objects)); break;
        case Change::Kind::table: take_table(std::move(change.objects)); break;
        case Change::Kind::time:
        case Change::Kind::end: break;
      }
      has_news_of_nodes_ |= change.kind == Change::Kind::nodes || change.kind == Change::Kind::table;
    }
    if (!is_following()) return Ok{};
    next_grace_ = SteadyTime::max();
    if (!has_records_) TRY(load_records());
    has_news_of_nodes_ |= learn_now();
    if (std::exchange(has_news_of_nodes_, false)) TRY(label_nodes());
    for (std::size_t i = 0; i < requests_.size(); ++i) TRY(answer(requests_[i]));
    if (learn_now()) TRY(label_nodes());
    if (context_.clock.steady() < next_save_) return Ok{};
    TRY(save_table());
    return save_records();
  }

  // Whether all is listed that decisions need.
  bool is_following() const { return has_requests_ && has_nodes_ && has_table_; }

  // When to look again though nothing changed: for what could not be written, what has been pending for too long, and a table
  // that does not come.
  SteadyTime next_look() const {
    SteadyTime next_write = SteadyTime::max();
    if (without_table_since_ != SteadyTime{}) next_write = std::max(without_table_since_ + longest_without_table, next_save_);
    if (next_save_ > context_.clock.steady()) next_write = std::min(next_write, next_save_);
    return std::min(next_grace_, next_write);
  }

 private:
  void take_requests(kube::Objects requests) {
    requests_ = std::move(requests);
    has_requests_ = true;
    std::set<std::string> uids;
    for (Json& request : requests_) {
      const std::string uid = uid_of(request);
      uids.insert(uid);
      // The event of its approval may still be under way.
      const auto approved = approved_.find(uid);
      if (approved != approved_.end() && !has_conditions(request)) request = approved->second;
    }
    std::erase_if(approved_, [&](const auto& each) { return !uids.contains(each.first); });
    std::erase_if(left_, [&](const auto& each) { return !uids.contains(each.first); });
  }

  void take_nodes(kube::Objects nodes) {
    nodes_ = std::move(nodes);
    has_nodes_ = true;
    known_.nodes.clear();
    for (const Json& node : nodes_) known_.nodes.emplace(kube::name_of(node));
  }

  void take_table(kube::Objects found) {
    has_table_ = true;
    can_read_table_ = false;
    known_.machines = new_rows_;
    table_.reset();
    if (found.empty()) {
      if (without_table_since_ == SteadyTime{}) without_table_since_ = context_.clock.steady();
      return context_.log.warn("no machine table exists: requests for new names need manual approval");
    }
    without_table_since_ = {};
    table_ = std::move(found.front());
    auto rows = kube::parse_machine_table(*table_);
    if (!rows.ok()) return context_.log.warn("{}: no machine can join", rows.error().message());
    known_.machines = std::move(rows).value();
    add_missing(known_.machines, new_rows_);
    can_read_table_ = true;
  }

  static void add_missing(kube::MachineTable& rows, const kube::MachineTable& others) {
    for (const kube::MachineRow& row : others) {
      if (!kube::find_machine(rows, row.name)) rows.push_back(row);
    }
  }

  static std::string uid_of(const Json& request) {
    return std::string(find_string(request, {"metadata", "uid"}).value_or(kube::name_of(request)));
  }
  static bool has_conditions(const Json& request) { return !find_array(request, {"status", "conditions"}).empty(); }

  // What changed or went in the meantime comes again with its next event.
  template <class T>
  Result<bool> done(Result<T> result) {
    if (result.ok()) return true;
    if (result.error().code() == Code::conflict || result.error().code() == Code::not_found) return false;
    return std::move(result).error();
  }

  // Returns whether the table got rows.
  bool learn_now() {
    const std::vector<RequestFacts> facts = read_requests(requests_, known_.certificates_have_ids);
    const bool may_grow = known_.admits_by_credential || can_read_table_ || (input_.follows_table && !table_);
    const kube::MachineTable added = may_grow ? rows_to_add(facts, known_.records, known_.machines) : kube::MachineTable{};
    add_missing(known_.machines, added);
    add_missing(new_rows_, added);
    const bool knows_rows = can_read_table_ || known_.admits_by_credential;
    known_.records = learn(std::move(known_.records), facts, nodes_, knows_rows ? &known_.machines : nullptr);
    known_.approvals = approvals_of(facts, known_.records);
    return !added.empty();
  }

  Result<> answer(Json& request) {
    const auto verdict = judge_request(request, known_);
    if (!verdict) return Ok{};
    if (verdict->approve) return approve(request, *verdict);
    leave(request, *verdict);
    return Ok{};
  }

  Result<> approve(Json& request, const Verdict& verdict) {
    // The followed list may be some milliseconds old: this one answer must not be.
    const bool is_first = !known_.nodes.contains(verdict.node);
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
    if (!TRY(sys::retry<bool>(context_, tries, retry_pace, write))) return Ok{};
    request = *std::move(written);
    approved_[uid_of(request)] = request;
    // The next request for this name is judged by this approval.
    for (const auto& [name, keys] : approvals_of(read_requests({request}, known_.certificates_have_ids), known_.records)) {
      std::vector<std::string>& all = known_.approvals[name];
      all.insert(all.end(), keys.begin(), keys.end());
    }
    context_.log.info("approved {} of node {}: {}", kube::describe(request), verdict.node, verdict.message);
    tell(request, verdict, sys::Phase::finished);
    return Ok{};
  }

  void leave(const Json& request, const Verdict& verdict) {
    if (verdict.grace.count() > 0) {
      const auto since = parse_rfc3339(find_string(request, {"metadata", "creationTimestamp"}).value_or(""));
      const WallTime now = context_.clock.now();
      if (since.ok() && now < since.value() + verdict.grace) {
        next_grace_ = std::min(next_grace_, context_.clock.steady() + (since.value() + verdict.grace - now));
        return;
      }
    }
    if (!left_.emplace(uid_of(request), verdict.reason).second) return;
    context_.log.warn("{} is left pending: {}: {}", kube::describe(request), verdict.reason, verdict.message);
    tell(request, verdict, sys::Phase::skipped);
    const Result<> told = kube::emit_event(context_, api_, request, component, "Warning", verdict.reason, verdict.message);
    if (!told.ok()) context_.log.warn("cannot create an Event for it: {}; continuing without", told.error().message());
  }

  void tell(const Json& request, const Verdict& verdict, sys::Phase phase) {
    context_.events.emit({.kind = "certificate-request",
                          .name = std::string(kube::name_of(request)),
                          .phase = phase,
                          .fields = {{"node", verdict.node}, {"reason", verdict.reason}}});
  }

  Result<> label_nodes() {
    for (const Json& node : nodes_) {
      const auto patch = role_patch(node, known_.machines);
      if (!patch) continue;
      const std::string name(kube::name_of(node));
      const auto write = [&] { return done(kube::merge_patch(context_, api_, kube::types::nodes, "", name, *patch)); };
      if (TRY(sys::retry<bool>(context_, tries, retry_pace, write))) context_.log.info("set the role label of node {}", name);
    }
    return Ok{};
  }

  Result<std::optional<Json>> find_map(std::string_view space, std::string_view name) {
    return sys::retry<std::optional<Json>>(context_, tries, retry_pace,
                                           [&] { return kube::find(context_, api_, config_maps, space, name); });
  }

  Result<Json> write_map(const Json& object, bool exists) {
    return exists ? kube::update(context_, api_, config_maps, object) : kube::create(context_, api_, config_maps, object);
  }

  // What cannot be written now is written a little later; an error is told once.
  Result<> postpone(std::string_view what, const Error& reason) {
    if (reason.code() == Code::cancelled) return reason;
    next_save_ = context_.clock.steady() + between_saves;
    if (postponed_.insert(reason.message()).second) {
      context_.log.info("{}: cannot be written yet: {}; retrying", what, reason.message());
    }
    return Ok{};
  }

  Result<> load_records() {
    stored_ = TRY(find_map(records_space, records_name));
    has_records_ = true;
    if (!stored_) {
      if (input_.follows_table) known_.records = records_of_annotations(nodes_);
      return Ok{};
    }
    known_.records = read_stored();
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
    for (int tried = 1;; ++tried) {
      const bool exists = stored_.has_value();
      NodeRecords records = known_.records;
      // A row that was not written before this program ended has to be added by the next one.
      for (const kube::MachineRow& row : new_rows_) {
        if (const auto record = records.find(row.name); record != records.end()) record->second.had_row = false;
      }
      if (exists ? with_records(*stored_, records) == *stored_ : records.empty()) return Ok{};
      auto written = write_map(with_records(stored_.value_or(new_records_map()), records), exists);
      if (written.ok()) {
        stored_ = std::move(written).value();
        return Ok{};
      }
      const bool is_of_others = written.error().code() == Code::conflict || (exists && written.error().code() == Code::not_found);
      if (!is_of_others || tried == tries) return postpone("the records of nodes", written.error());
      // Another approver wrote: what it knew, and then what is to be learnt from what is there now.
      stored_ = TRY(find_map(records_space, records_name));
      if (stored_) known_.records = read_stored();
      (void)learn_now();
    }
  }

  // The rows that were added here; in a cluster without a table also those of its masters.
  Result<> save_table() {
    const bool is_missing = input_.follows_table && !table_;
    if (is_missing && context_.clock.steady() < without_table_since_ + longest_without_table) return Ok{};
    if (is_missing) {
      without_table_since_ = context_.clock.steady();
      TRY(add_masters());
    }
    if (new_rows_.empty()) return Ok{};
    for (int tried = 1;; ++tried) {
      if (!input_.follows_table || tried > 1) table_ = TRY(find_map(kube::machine_table_space, kube::machine_table_name));
      kube::MachineTable rows;
      if (table_) {
        auto parsed = kube::parse_machine_table(*table_);
        if (!parsed.ok()) return postpone("the machine table", parsed.error());
        rows = std::move(parsed).value();
      }
      const std::size_t before = rows.size();
      add_missing(rows, new_rows_);
      if (table_ && rows.size() == before) break;
      const Json fresh = {{"apiVersion", "v1"},
                          {"kind", "ConfigMap"},
                          {"metadata", {{"namespace", kube::machine_table_space}, {"name", kube::machine_table_name}}}};
      auto written = write_map(kube::with_machine_table(table_.value_or(fresh), rows), table_.has_value());
      if (written.ok()) {
        table_ = std::move(written).value();
        for (std::size_t i = before; i < rows.size(); ++i) {
          context_.log.info("added machine {} to the machine table with role {}", rows[i].name, rows[i].role);
        }
        break;
      }
      if (written.error().code() != Code::conflict || tried == tries) {
        return postpone("the machine table", written.error());
      }
    }
    new_rows_.clear();
    return Ok{};
  }

  Result<> add_masters() {
    const auto endpoints = find_map("openshift-etcd", "etcd-endpoints");
    if (!endpoints.ok()) return postpone("the rows of masters", endpoints.error());
    if (!endpoints.value()) return Ok{};
    kube::MachineTable masters = kube::first_machine_rows(*endpoints.value(), nodes_).rows;
    std::erase_if(masters, [](const kube::MachineRow& row) { return row.role != "master"; });
    add_missing(known_.machines, masters);
    add_missing(new_rows_, masters);
    return Ok{};
  }

  const sys::Context& context_;
  kube::Api& api_;
  const ApproverInput& input_;
  ApprovalFacts known_;
  bool has_table_;
  bool can_read_table_;
  std::optional<Json> table_;  // the ConfigMap, as it was seen or written last
  SteadyTime without_table_since_{};
  kube::MachineTable new_rows_;  // that are not in the cluster's table yet
  kube::Objects requests_;
  bool has_requests_ = false;
  kube::Objects nodes_;
  bool has_news_of_nodes_ = false;  // their roles have to be looked at
  bool has_nodes_ = false;          // before that nothing is known about who has registered
  bool has_records_ = false;
  std::optional<Json> stored_;                          // the ConfigMap with the records, as it was read or written last
  std::map<std::string, Json> approved_;                // requests by uid
  std::set<std::pair<std::string, std::string>> left_;  // uid and reason: one Event each
  SteadyTime next_save_{};
  SteadyTime next_grace_ = SteadyTime::max();  // when a request will have been pending for too long
  std::set<std::string> postponed_;            // reasons that were told
};

}  // namespace

Result<> approve_requests(const sys::Context& context, kube::Api& api, const ApproverInput& input) {
  Queue<Change> changes;
  Alarm alarm;
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
    follow("the machine table", Change::Kind::table, kube::types::config_maps, kube::machine_table_space,
           {.fields = fmt::format("metadata.name={}", kube::machine_table_name)});
  }
  run("waking up in time",
      [&](const sys::Context& task) { return alarm.run(task, [&changes] { changes.push({.kind = Change::Kind::time}); }); });
  if (input.end) run("waiting for the end", input.end);

  Approver approver(context, api, input);
  bool is_told = false;
  for (bool is_over = false; !is_over;) {
    std::deque<Change> waiting = changes.pop_all(context.stop);
    if (waiting.empty()) break;
    is_over = std::ranges::find(waiting, Change::Kind::end, &Change::kind) != waiting.end();
    const Result<> taken = approver.take(std::move(waiting));
    if (!taken.ok()) return taken;
    alarm.set(approver.next_look());
    if (!is_told && approver.is_following() && input.on_following) {
      input.on_following();
      is_told = true;
    }
  }
  tasks.request_stop();
  return tasks.wait();
}

}  // namespace slipway::components::machine_approver
